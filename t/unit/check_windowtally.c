/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows between two flushes; whom they leave alone; classes of times. */
#include "config.h"

#include "daemon/windows/windowtally.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/window_bpf.h"
#include "daemon/mappings/procscan.h"
#include "daemon/windows/windowexclude.h"
#include "daemon/windows/windowpairs.h"
#include "t/unit/unit.h"
#include "t/unit/unit_images.h"

static struct known_image one, two;

static const struct tally_edges *find_edges(const struct windowtally *t,
					    enum edges_kind kind,
					    const struct known_image *target)
{
	struct hnode *n, *next;

	hmap_for_each (&t->tally->edges, n, next) {
		const struct tally_edges *e = container_of(n, struct tally_edges, node);

		if (e->kind == kind && e->target == target)
			return e;
	}
	return NULL;
}

/* From one to two and on there: what is straight is a run, inclusive at both ends. */
static struct tally_window make_window(struct tally_jump *jump)
{
	*jump = (struct tally_jump){ { &one, 0x10 }, { &two, 0x100 } };
	return (struct tally_window){ .start = { &one, 8 },
				      .last = { &two, 0x108 },
				      .end = 0x10c,
				      .jump = jump,
				      .nr_jumps = 1,
				      .nr_insns = 6 };
}

START_TEST(a_window_is_edges_too)
{
	struct windowtally *t = windowtally_new();
	const struct edge *e;
	struct tally_jump jump;
	struct tally_window w = make_window(&jump);
	size_t nr;

	windowtally_add(t, &w);
	windowtally_add(t, &w);
	ck_assert_uint_eq(t->kept, 2);
	ck_assert_uint_eq(windowtally_nr_lost(t), 0);
	e = edges_sorted(find_edges(t, EDGES_BRANCH, &two)->edges, &nr);
	ck_assert_uint_eq(nr, 1);
	ck_assert(e->from == 0x10 && e->to == 0x100 && e->n == 2);
	e = edges_sorted(find_edges(t, EDGES_RUN, &one)->edges, &nr);
	ck_assert(nr == 1 && e->from == 8 && e->to == 0x10 && e->n == 2);
	e = edges_sorted(find_edges(t, EDGES_RUN, &two)->edges, &nr);
	ck_assert(nr == 1 && e->from == 0x100 && e->to == 0x108 && e->n == 2);
	windowtally_free(t);
}
END_TEST

/* In the window's own image and another one; of everybody's, and of a context. */
START_TEST(a_set_has_its_windows_accesses)
{
	static const char *const contexts[NR_CONTEXT_KINDS] = { [CONTEXT_COMM] =
									"cc1" };
	const struct tally_access access[] = {
		{ { &one, 8 }, 0x40, 3, 0, false, false, true },
		{ { &two, 0x104 }, 0x80, 2, 1, true, true, true },
		{ { &two, 0x108 }, 0, 2, 2, false, false, false },
	};
	struct windowtally *t = windowtally_new();
	struct tally_jump jump;
	struct tally_window w = make_window(&jump);
	struct hnode *n, *next;
	size_t before, nr;

	windowtally_add(t, &w);
	before = windowtally_memory(t);
	w.access = access;
	w.nr_accesses = 3;
	w.contexts = contexts;
	windowtally_add(t, &w);
	windowtally_add(t, &w);
	ck_assert_uint_eq(t->kept, 3);
	ck_assert_uint_eq(t->tally->cut_stacks, 0);
	ck_assert_uint_gt(windowtally_memory(t), before);
	ck_assert_uint_eq(t->sets.nr, 2);
	hmap_for_each (&t->sets, n, next) {
		const struct accesses *a =
			container_of(n, struct windowtally_set, node)->accesses;
		const struct accesses_insn *const *insn = accesses_insns(a, &nr);

		ck_assert_uint_eq(accesses_seen(a), 6);
		ck_assert_uint_eq(accesses_windows(a), 2);
		ck_assert_uint_eq(nr, 3);
		ck_assert_uint_ne(insn[0]->image, insn[2]->image);
	}
	windowtally_free(t);
}
END_TEST

START_TEST(behind_a_last_jump_nothing_ran)
{
	struct windowtally *t = windowtally_new();
	struct tally_jump jump;
	struct tally_window w = make_window(&jump);

	w.last = jump.from;
	w.end = jump.to.offset;
	windowtally_add(t, &w);
	ck_assert_uint_eq(t->kept, 1);
	ck_assert_ptr_nonnull(find_edges(t, EDGES_BRANCH, &two));
	ck_assert_ptr_null(find_edges(t, EDGES_RUN, &two));
	windowtally_free(t);
}
END_TEST

START_TEST(what_is_no_window_is_lost_and_what_is_dropped_too)
{
	struct windowtally *t = windowtally_new();
	struct tally_jump jump;
	struct tally_window w = make_window(&jump);

	jump.from.offset = 4; /* before the start */
	windowtally_add(t, &w);
	ck_assert_uint_eq(t->kept, 0);
	ck_assert_uint_eq(t->tally->loss[0][SAMPLE_NO_SPACE], 1);
	w = make_window(&jump);
	windowtally_add(t, &w);
	windowtally_lose(t, SAMPLE_STALE, 3);
	windowtally_drop(t, SAMPLE_NO_SPACE);
	ck_assert_uint_eq(t->kept, 0);
	ck_assert_uint_eq(windowtally_nr_lost(t), 5);
	ck_assert_uint_eq(t->sets.nr, 0);
	windowtally_free(t);
}
END_TEST

START_TEST(a_window_whose_edge_has_no_room_is_cut)
{
	const struct edge most = { .from = 0x10, .to = 0x100, .n = INT64_MAX };
	struct windowtally *t = windowtally_new();
	struct tally_jump jump;
	struct tally_window w = make_window(&jump);

	ck_assert_int_eq(tally_add_edge(t->tally, 0, EDGES_BRANCH, &one, &two, &most),
			 0);
	windowtally_add(t, &w);
	ck_assert_uint_eq(t->kept, 1);
	ck_assert_uint_eq(t->tally->cut_stacks, 1);
	jump.to.image = &one; /* of which there are none yet */
	windowtally_add(t, &w);
	ck_assert_uint_eq(t->kept, 2);
	ck_assert_uint_eq(t->tally->cut_stacks, 1);
	windowtally_free(t);
}
END_TEST

static uint64_t seen_in(const struct windowtally *t, const char *prefix)
{
	struct hnode *n, *next;
	uint64_t seen = 0;

	hmap_for_each (&t->sets, n, next) {
		const struct windowtally_set *set =
			container_of(n, struct windowtally_set, node);

		if (!strncmp(set->context, prefix, strlen(prefix)))
			seen += windows_seen(set->windows);
	}
	return seen;
}

START_TEST(contexts_beyond_the_bound_are_others)
{
	const int nr = WINDOWTALLY_SETS + 100;
	const char *contexts[NR_CONTEXT_KINDS] = { NULL };
	struct windowtally *t = windowtally_new();
	struct tally_jump jump;
	struct tally_window w = make_window(&jump);
	char value[CONTEXT_VALUE_MAX + 2];

	w.contexts = contexts;
	contexts[CONTEXT_LABEL] = value;
	for (int i = 0; i < nr; i++) {
		snprintf(value, sizeof(value), "%d", i);
		windowtally_add(t, &w);
	}
	ck_assert_uint_le(t->sets.nr, WINDOWTALLY_SETS + 1);
	ck_assert_uint_eq(t->kept, nr);
	ck_assert_uint_eq(seen_in(t, "label="), nr);
	ck_assert_uint_eq(seen_in(t, "label=0\n"), 1);
	ck_assert_uint_eq(seen_in(t, "label=" CONTEXT_OTHER), 101);
	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	windowtally_add(t, &w);
	ck_assert_uint_eq(seen_in(t, "label=" CONTEXT_OTHER), 102);
	windowtally_free(t);
}
END_TEST

static const struct {
	const char *text;
	int err;
	bool matches; /* a process "worker" with the label "blue" */
} exclusions[] = {
	{ "comm=worker", 0, true },  { "comm=work*", 0, true },
	{ "comm=other", 0, false },  { "label=bl?e", 0, true },
	{ "label=red", 0, false },   { "cgroup=worker", 0, false },
	{ "comm=", -EINVAL, false }, { "worker", -EINVAL, false },
	{ "pid=1", -EINVAL, false },
};

START_TEST(whom_a_text_excludes)
{
	struct name *label = malloc(sizeof(*label) + 8);
	struct process p = { .comm = "worker", .label = label };
	enum windowexclude_what what;
	const char *value;

	strcpy(label->text, "blue");
	ck_assert_int_eq(windowexclude_parse(exclusions[_i].text, &what, &value),
			 exclusions[_i].err);
	ck_assert(windowexclude_matches(&exclusions[_i].text, 1, &p) ==
		  exclusions[_i].matches);
	p.label = NULL;
	if (!strncmp(exclusions[_i].text, "label", 5))
		ck_assert(!windowexclude_matches(&exclusions[_i].text, 1, &p));
	free(label);
}
END_TEST

START_TEST(labels_are_needed_where_one_is_excluded)
{
	const char *const text[] = { "comm=label=x", "cgroup=a", "label=b" };

	ck_assert(!windowexclude_needs_labels(text, 2));
	ck_assert(windowexclude_needs_labels(text, 3));
}
END_TEST

static bool has_secret(struct timed_child *a, pid_t tgid)
{
	bool has;

	ck_assert_int_eq(procscan_secret(a, tgid, 0, &has), 0);
	return has;
}

/* A child's are not counted as locked, as its parent's are. */
START_TEST(a_child_has_its_parents_secrets)
{
	const int fd = (int)syscall(SYS_memfd_secret, 0);
	const long size = sysconf(_SC_PAGESIZE);
	struct timed_child *a = unit_timed_child();
	pid_t pid;
	void *at;

	ck_assert(!has_secret(a, getpid()));
	if (fd < 0)
		return; /* the kernel has none */
	ck_assert_int_eq(ftruncate(fd, size), 0);
	at = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(at, MAP_FAILED);
	pid = fork();
	while (!pid)
		pause();
	ck_assert(has_secret(a, pid));
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	munmap(at, (size_t)size);
	close(fd);
	ck_assert(!has_secret(a, getpid()));
	timed_child_free(a);
}
END_TEST

START_TEST(times_are_in_their_class)
{
	uint64_t seed = unit_seed();

	for (int i = 0; i < 100000; i++) {
		const uint64_t ns = unit_random(&seed) >> (40 + i % 24);
		const uint32_t class = cpi_window_time_class(ns);

		ck_assert_uint_lt(class, CPI_WINDOW_TIMES);
		ck_assert_uint_le(cpi_window_class_time(class), ns);
		if (class + 5 < CPI_WINDOW_TIMES)
			ck_assert_uint_lt(ns, cpi_window_class_time(class + 1));
	}
}
END_TEST

#define LOOP 0x10000u /* where the code of the pairs below is */

#define ADD_1(r)                                                  \
	{                                                         \
		.op = CPI_UOP_ADD, .dst = r, .left = r, .imm = 1, \
		.flags = CPI_UOP_SRC_IMM                          \
	}

/* Instructions of four bytes. */
static void make_code(struct cpi_code_page *page, const struct cpi_uop *code,
		      uint32_t nr)
{
	memset(page, 0, sizeof(*page));
	for (uint32_t i = 0; i < nr; i++) {
		page->uop[i] = code[i];
		page->uop[i].address = 3 << 14 | CPI_REG_ZERO << 6;
		page->uop[i].flags |=
			3 << CPI_UOP_SOURCE_SHIFT | 3 << CPI_UOP_LENGTH_SHIFT;
		page->index[4 * i] = (uint16_t)(i + 1);
	}
}

/* call 0x10010; add $1, %rbx; jne 0x10000; ret; 0x10010: ret */
static void make_loop(struct cpi_code_page *page)
{
	static const struct cpi_uop code[] = {
		{ .op = CPI_UOP_CALL, .disp = 16 },
		ADD_1(3),
		{ .op = CPI_UOP_JNZ, .left = 3, .disp = -8 },
		{ .op = CPI_UOP_RET },
		{ .op = CPI_UOP_RET },
	};

	make_code(page, code, NR(code));
}

static int find_code(void *ctx, uint64_t address, struct walk_code *out)
{
	return walk_find_in_page(address / CPI_CODE_PAGE == LOOP / CPI_CODE_PAGE ? ctx
										 : NULL,
				 (uint32_t)(address % CPI_CODE_PAGE), out);
}

static bool find_site(void *ctx, uint64_t pc, struct tally_site *out)
{
	(void)ctx;
	*out = (struct tally_site){ &one, pc };
	return true;
}

/* How many pairs are said to have begun anywhere. */
static uint64_t starts_of_pair(uint64_t from, const uint64_t back[CPI_PAIR_BACK])
{
	struct cpi_pair_record r = { .from = from, .to = from, .ns = 1000000 };
	struct windowtally *t = windowtally_new();
	struct windowpairs *p = windowpairs_new();
	struct cpi_code_page page;
	const struct windowpairs_code code = { find_code, find_site, &page };
	const struct tally_edges *found;
	uint64_t sum = 0;
	size_t nr = 0;

	make_loop(&page);
	memcpy(r.back, back, sizeof(r.back));
	r.change[3] = 250000;
	windowpairs_add(p, &r, &code, t);
	found = find_edges(t, EDGES_PACE_START, &one);
	for (const struct edge *e = found ? edges_sorted(found->edges, &nr) : NULL; nr;
	     nr--, e++)
		sum += e->nr_timed;
	windowpairs_free(p);
	windowtally_free(t);
	return sum;
}

/* Its callee returns to the loop again and again: that is no second pair. */
START_TEST(a_pair_in_a_loop_that_calls_counts_once)
{
	static const uint64_t none[CPI_PAIR_BACK] = { 0 };
	static const uint64_t back[CPI_PAIR_BACK] = { LOOP + 4, LOOP + 4 };

	ck_assert_uint_eq(starts_of_pair(LOOP, none), 1);
	ck_assert_uint_eq(starts_of_pair(LOOP, back), 1);
	ck_assert_uint_eq(starts_of_pair(LOOP + 16, back), 1); /* in the callee */
	ck_assert_uint_eq(starts_of_pair(LOOP + 16, none), 0);
}
END_TEST

/*
 * for (;;) for (i = 0; …; i++) p++: i was set anew between the two samples, p was not.
 */
START_TEST(the_register_that_goes_on_in_the_outer_loop_counts)
{
	static const struct cpi_uop code[] = {
		{ .op = CPI_UOP_CONST, .dst = 1 },
		ADD_1(1),
		ADD_1(2),
		{ .op = CPI_UOP_JNZ, .disp = -8 },
		{ .op = CPI_UOP_JMP, .disp = -16 },
	};
	struct cpi_pair_record r = { .from = LOOP + 4, .to = LOOP + 4, .ns = 1000000 };
	struct windowtally *t = windowtally_new();
	struct windowpairs *p = windowpairs_new();
	struct cpi_code_page page;
	const struct windowpairs_code with = { find_code, find_site, &page };
	struct buf status = { 0 };

	make_code(&page, code, NR(code));
	r.change[1] = (uint64_t)-5;
	r.change[2] = 250000;
	windowpairs_add(p, &r, &with, t);
	windowpairs_status(p, &status);
	ck_assert_msg(strstr(status.data, "pairs_stored 1\n"), "%s", status.data);
	buf_fini(&status);
	windowpairs_free(p);
	windowtally_free(t);
}
END_TEST

static uint64_t status_of(const struct windowpairs *p, const char *name)
{
	struct buf text = { 0 };
	const char *at;
	uint64_t n = 0;

	windowpairs_status(p, &text);
	at = strstr(text.data, name);
	if (at)
		n = strtoull(at + strlen(name), NULL, 10);
	buf_fini(&text);
	return n;
}

/* Short pairs fit into its runs, longer ones are left out after a few. */
START_TEST(pairs_are_as_short_as_their_loop)
{
	struct cpi_pair_record r = { .from = LOOP + 4, .to = LOOP + 4 };
	struct windowtally *t = windowtally_new();
	struct windowpairs *p = windowpairs_new();
	struct cpi_code_page page;
	const struct windowpairs_code code = { find_code, find_site, &page };

	make_loop(&page);
	for (int i = 0; i < 8; i++) {
		r.ns = 4000000;
		r.change[3] = i % 2 ? 1000000 : (uint64_t)-1000000;
		windowpairs_add(p, &r, &code, t);
	}
	r.change[3] = 1000000;
	windowpairs_add(p, &r, &code, t);
	r.ns = 2000000;
	windowpairs_add(p, &r, &code, t);
	ck_assert_uint_eq(status_of(p, "pairs_lost.disagrees "), 4);
	ck_assert_uint_eq(status_of(p, "pairs_lost.long "), 1);
	ck_assert_uint_eq(status_of(p, "pairs_stored "), 5);
	for (int i = 0; i < 7; i++) /* with the last one, eight that are good */
		windowpairs_add(p, &r, &code, t);
	r.ns = 4000000;
	windowpairs_add(p, &r, &code, t);
	ck_assert_uint_eq(status_of(p, "pairs_lost.long "), 1);
	ck_assert_uint_eq(status_of(p, "pairs_stored "), 13);
	windowpairs_free(p);
	windowtally_free(t);
}
END_TEST

/* Two of eight may disagree. */
START_TEST(pairs_of_a_long_loop_stay_long)
{
	struct cpi_pair_record r = { .from = LOOP + 4, .to = LOOP + 4, .ns = 4000000 };
	struct windowtally *t = windowtally_new();
	struct windowpairs *p = windowpairs_new();
	struct cpi_code_page page;
	const struct windowpairs_code code = { find_code, find_site, &page };

	make_loop(&page);
	for (int i = 0; i < 80; i++) {
		r.change[3] = i % 4 ? 1000000 : (uint64_t)-1000000;
		windowpairs_add(p, &r, &code, t);
	}
	ck_assert_uint_eq(status_of(p, "pairs_lost.disagrees "), 20);
	ck_assert_uint_eq(status_of(p, "pairs_lost.long "), 0);
	ck_assert_uint_eq(status_of(p, "pairs_stored "), 60);
	windowpairs_free(p);
	windowtally_free(t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("windowtally");
	TCase *tc = tcase_create("windowtally");

	tcase_add_test(tc, a_window_is_edges_too);
	tcase_add_test(tc, a_set_has_its_windows_accesses);
	tcase_add_test(tc, behind_a_last_jump_nothing_ran);
	tcase_add_test(tc, what_is_no_window_is_lost_and_what_is_dropped_too);
	tcase_add_test(tc, a_window_whose_edge_has_no_room_is_cut);
	tcase_add_test(tc, contexts_beyond_the_bound_are_others);
	tcase_add_loop_test(tc, whom_a_text_excludes, 0, NR(exclusions));
	tcase_add_test(tc, labels_are_needed_where_one_is_excluded);
	tcase_add_test(tc, a_child_has_its_parents_secrets);
	tcase_add_test(tc, times_are_in_their_class);
	tcase_add_test(tc, a_pair_in_a_loop_that_calls_counts_once);
	tcase_add_test(tc, the_register_that_goes_on_in_the_outer_loop_counts);
	tcase_add_test(tc, pairs_are_as_short_as_their_loop);
	tcase_add_test(tc, pairs_of_a_long_loop_stay_long);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
