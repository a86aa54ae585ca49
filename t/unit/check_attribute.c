/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Batches, run by run: the same counts as entry by entry, and nothing is allocated or
 * asked for.
 */
#include "config.h"

#include "daemon/attribute/attribute_private.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/times.h"
#include "daemon/stacks/stacksampler.h"
#include "db/profile/records.h"
#include "t/bench/crowd.h"
#include "t/unit/unit.h"
#include "t/unit/unit_images.h"

#define NR_ENTRIES   2000
#define NR_PROCESSES 6
#define PAGE         0x1000ULL
#define ALL_KINDS    ((1u << NR_CONTEXT_KINDS) - 1)

/* ---- counting allocations ---- */

static size_t nr_allocations;
static size_t nr_until_failure; /* allocations: the last one fails; 0: none does */

static bool allocation_fails(void)
{
	nr_allocations++;
	return nr_until_failure && !--nr_until_failure;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
	return allocation_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return allocation_fails() ? NULL : __real_calloc(nr, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return allocation_fails() ? NULL : __real_realloc(old, size);
}

START_TEST(what_was_seen_before_is_counted_without_an_allocation)
{
	struct cpi_entry entries[NR_ENTRIES], spare[NR_ENTRIES];
	struct batch batch;
	struct crowd c;
	size_t nr, before;

	crowd_open(&c, 40, 30, unit_seed());
	c.a.by = _i ? ALL_KINDS : 0;
	nr = crowd_sample(&c, entries, spare, NR_ENTRIES);
	batch = crowd_batch(entries, nr);
	before = nr_allocations;
	attribute_batch(&c.a, &batch);
	ck_assert_uint_gt(nr_allocations, before);
	before = nr_allocations;
	attribute_batch(&c.a, &batch);
	ck_assert_uint_eq(nr_allocations, before);
	ck_assert_uint_eq(tally_total(c.a.tally), 2 * NR_ENTRIES);
	crowd_close(&c);
}
END_TEST

/* ---- counting questions ---- */

static int nr_questions;

int __real_timed_child_ask(struct timed_child *a, const struct timed_child_question *q,
			   struct buf *out);
int __real_timed_child_ask_for(struct timed_child *a,
			       const struct timed_child_question *q, void *out,
			       size_t size);
int __real_procroot_peek(pid_t tgid, const char *path, struct stat *st);
int __wrap_timed_child_ask(struct timed_child *a, const struct timed_child_question *q,
			   struct buf *out);
int __wrap_timed_child_ask_for(struct timed_child *a,
			       const struct timed_child_question *q, void *out,
			       size_t size);
int __wrap_procroot_peek(pid_t tgid, const char *path, struct stat *st);

int __wrap_timed_child_ask(struct timed_child *a, const struct timed_child_question *q,
			   struct buf *out)
{
	nr_questions++;
	return __real_timed_child_ask(a, q, out);
}

int __wrap_timed_child_ask_for(struct timed_child *a,
			       const struct timed_child_question *q, void *out,
			       size_t size)
{
	nr_questions++;
	return __real_timed_child_ask_for(a, q, out, size);
}

int __wrap_procroot_peek(pid_t tgid, const char *path, struct stat *st)
{
	nr_questions++;
	return __real_procroot_peek(tgid, path, st);
}

/* Kallsyms as it is after a module was loaded, and where its text is. */
static const char kallsyms[] = "ffffffff81000000 T _text\n"
			       "ffffffff81001000 T _etext\n"
			       "ffffffffc0000000 t module_fn\t[mod]\n";

int __real_file_read_all(int dir, const char *path, size_t max, struct buf *out);
int __wrap_file_read_all(int dir, const char *path, size_t max, struct buf *out);

int __wrap_file_read_all(int dir, const char *path, size_t max, struct buf *out)
{
	nr_questions++;
	if (!strcmp(path, "/proc/kallsyms"))
		buf_puts(out, kallsyms);
	else if (!strcmp(path, "/sys/module/mod/sections/.text"))
		buf_puts(out, "0xffffffffc0000000");
	else
		return __real_file_read_all(dir, path, max, out);
	return out->err;
}

static struct profile *find_profile(const struct tally *t,
				    const struct tally_profile *like)
{
	struct hnode *n, *next;

	hmap_for_each (&t->profiles, n, next) {
		struct tally_profile *p = container_of(n, struct tally_profile, node);

		if (p->image == like->image && p->event == like->event &&
		    !strcmp(p->context, like->context))
			return p->profile;
	}
	return NULL;
}

/* This program, mapped at PAGE by the process that runs the test. */
static struct known_image *map_program(struct attribution *a, uint64_t bias)
{
	struct range r = { PAGE, 2 * PAGE, .since = 1, .bias = bias };
	struct image_source source = { 0 };
	char exe[512] = "";
	struct stat st;

	ck_assert_int_gt(readlink("/proc/self/exe", exe, sizeof(exe) - 1), 0);
	ck_assert_int_eq(stat(exe, &st), 0);
	source.device = st.st_dev;
	source.inode = st.st_ino;
	r.value = images_get(a->images, exe, &source);
	procmap_exec(a->procmap, getpid(), "a", 1);
	procmap_map(a->procmap, getpid(), &r);
	return r.value;
}

/* A sample at pc, with a record, a branch there, and a chain that begins there. */
static void add_all_kinds(struct attribution *a, uint64_t pc)
{
	const bool in_kernel = kernel_address(pc);
	const uint64_t now = time_mono_ns(),
		       chain[] = { in_kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER,
				   pc };
	const struct cpi_entry e = {
		cpi_entry_word0(pc, 0, CPI_OUTCOME_NONE),
		cpi_entry_who(getpid(), 0) | 1ULL << CPI_COUNT_SHIFT,
	};
	struct batch_record record = {
		.entry = { e.word0, cpi_entry_who(getpid(), 0) },
	};
	const struct branch branch = { .from = pc, .to = pc + 4 };
	const struct branch_stack branches = {
		.time_ns = now, .tgid = getpid(), .branch = &branch, .nr = 1
	};
	const struct batch batch = { .from_ns = now,
				     .to_ns = now,
				     .entries = &e,
				     .nr = 1,
				     .records = &record,
				     .nr_records = 1,
				     .stacks = &branches,
				     .nr_stacks = 1 };
	const struct chain_sample stack = {
		.time_ns = now, .tgid = getpid(), .chain = chain, .nr = 2, .limit = 9
	};

	hw_tell(&record.hw, HW_RETIRED, true);
	attribute_batch(a, &batch);
	attribute_chain(a, &stack);
}

START_TEST(a_look_up_asks_nobody_and_its_image_is_known_before_the_flush)
{
	struct attribution a = { .images = unit_images(),
				 .procmap = procmap_new(),
				 .tally = tally_new(),
				 .stacks = stacktally_new() };
	struct known_image *image = map_program(&a, 0);
	const struct tally_profile like = { .image = image, .context = "" };

	for (int round = 1; round < 4; round++) {
		nr_questions = 0;
		add_all_kinds(&a, PAGE);
		ck_assert_int_eq(nr_questions, 0);
		ck_assert(image_is_resolved(image) == (round > 1));
		attribute_resolve(&a); /* there is nothing but images to read */
		ck_assert_int_eq(nr_questions, 1); /* to look again, in later rounds */
		ck_assert(image->desc.has_content);
		images_resolve_noted(a.images);
		add_all_kinds(&a, PAGE);
		images_resolve_noted(a.images);
		ck_assert_int_eq(nr_questions, 1);
		ck_assert_uint_eq(profile_at(find_profile(a.tally, &like), PAGE).n,
				  2 * round);
		images_next_round(a.images);
	}
	tally_free(a.tally);
	stacktally_free(a.stacks);
	procmap_free(a.procmap);
	unit_images_free(a.images);
}
END_TEST

/* What add_all_kinds() added nr times is there, all of it at one offset of an image. */
static void check_all_kinds(const struct attribution *a, const char *name, uint64_t nr)
{
	struct tally_profile *p = NULL;
	struct tally_edges *e = NULL;
	struct hnode *n, *next;

	ck_assert_uint_eq(tally_kept(a->tally), nr);
	ck_assert_uint_eq(tally_total(a->tally), nr);
	hmap_for_each (&a->tally->profiles, n, next)
		p = container_of(n, struct tally_profile, node);
	hmap_for_each (&a->tally->edges, n, next)
		e = container_of(n, struct tally_edges, node);
	ck_assert_str_eq(p->image->desc.name, name);
	ck_assert_uint_eq(records_nr(profile_records(p->profile)), 1);
	ck_assert_ptr_eq(e->image, p->image);
	ck_assert_ptr_eq(e->target, p->image);
	ck_assert_uint_eq(a->stacks->kept, nr);
	ck_assert_uint_eq(a->stacks->images.nr, 1);
	ck_assert_ptr_eq(a->stacks->images.image[0], p->image);
}

static struct attribution make_attribution(void)
{
	struct attribution a = { .images = unit_images(),
				 .procmap = procmap_new(),
				 .tally = tally_new(),
				 .stacks = stacktally_new(),
				 .later = later_new() };

	a.codecache = codecache_new(a.images);
	a.jit = jit_new(a.images);
	ck_assert_ptr_nonnull(a.codecache);
	ck_assert_ptr_nonnull(a.jit);
	return a;
}

static void free_attribution(struct attribution *a)
{
	later_free(a->later);
	kernel_close(a->kernel);
	jit_free(a->jit);
	codecache_free(a->codecache);
	tally_free(a->tally);
	stacktally_free(a->stacks);
	procmap_free(a->procmap);
	unit_images_free(a->images);
}

/* The test's process tells of one function, in memory without a file. */
static void map_made_code(struct attribution *a)
{
	static const struct image_source none;
	struct range r = { PAGE, 2 * PAGE, .since = 1 };
	char path[64], line[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	snprintf(line, sizeof(line), "%llx 100 made\n", PAGE);
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(line, f), 0);
	fclose(f);
	r.value = images_get(a->images, "//anon", &none);
	procmap_exec(a->procmap, getpid(), "a", 1);
	procmap_map(a->procmap, getpid(), &r);
}

static void load_module(struct attribution *a)
{
	static const struct image_source none;
	char text[] = "ffffffff81000000 T _text\nffffffff81001000 T _etext\n";

	a->kernel = kernel_new(a->images, &none);
	ck_assert_int_eq(kernel_parse(a->kernel, text), 0);
}

static const struct {
	void (*prepare)(struct attribution *a);
	uint64_t pc;
	const char *image;
} lacking[] = {
	{ map_made_code, PAGE, "[jit:a]" },
	{ load_module, 0xffffffffc0000000, "[mod]" },
};

static void remove_map(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	unlink(path);
}

START_TEST(what_is_not_read_yet_is_read_between_two_look_ups)
{
	struct attribution a = make_attribution();

	lacking[_i].prepare(&a);
	nr_questions = 0;
	add_all_kinds(&a, lacking[_i].pc);
	add_all_kinds(&a, lacking[_i].pc);
	ck_assert_int_eq(nr_questions, 0);
	ck_assert_uint_eq(tally_total(a.tally) + a.stacks->kept, 0);
	attribute_resolve(&a);
	ck_assert_int_gt(nr_questions, 0);
	check_all_kinds(&a, lacking[_i].image, 2);
	nr_questions = 0;
	attribute_resolve(&a);
	ck_assert_int_eq(nr_questions, 0);
	check_all_kinds(&a, lacking[_i].image, 2);
	remove_map();
	free_attribution(&a);
}
END_TEST

/* Code that nobody names waits for the flush, and is lost by name, in its context. */
START_TEST(a_sample_that_is_put_off_is_counted_once)
{
	const struct tally_profile like = { .context = _i ? "comm=a\n" : "" };
	struct attribution a = make_attribution();
	const uint64_t pc = PAGE + 0x800; /* behind the function */

	a.by = _i ? 1u << CONTEXT_COMM : 0;
	map_made_code(&a);
	add_all_kinds(&a, pc);
	attribute_resolve(&a);
	ck_assert_uint_eq(tally_total(a.tally) + jit_nr_waiting(a.jit), 1);
	attribute_finish_waiting(&a);
	ck_assert_uint_eq(a.tally->loss[0][SAMPLE_ANONYMOUS], 1);
	ck_assert_uint_eq(tally_total(a.tally), 1);
	ck_assert_uint_eq(a.stacks->kept, 1);
	ck_assert_int_eq(find_profile(a.tally, &like) != NULL, _i);
	remove_map();
	free_attribution(&a);
}
END_TEST

/* More than there is room for is attributed at once: it waits for the flush. */
START_TEST(there_is_a_bound_to_what_is_put_off)
{
	struct attribution a = make_attribution();
	const uint64_t nr = 200000;

	map_made_code(&a);
	for (uint64_t i = 0; i < nr; i++)
		add_all_kinds(&a, PAGE);
	attribute_resolve(&a);
	ck_assert_uint_gt(tally_kept(a.tally), 0);
	ck_assert_uint_lt(tally_kept(a.tally), nr);
	attribute_finish_waiting(&a);
	ck_assert_uint_eq(tally_total(a.tally), nr);
	ck_assert_uint_eq(a.stacks->kept, nr);
	remove_map();
	free_attribution(&a);
}
END_TEST

/* Their interval is kept once, so that there is room for as many as possible. */
START_TEST(samples_of_one_batch_are_put_off_together)
{
	const struct cpi_entry e = {
		cpi_entry_word0(PAGE, 0, CPI_OUTCOME_NONE),
		cpi_entry_who(getpid(), 0) | 1ULL << CPI_COUNT_SHIFT,
	};
	const struct batch batch = { .from_ns = 5, .to_ns = 6 };
	struct attribution a = make_attribution();
	uint64_t nr = 0;

	a.lacking = true;
	while (later_add_entry(&a, &batch, &e))
		nr++;
	ck_assert_uint_ge(nr, (4 << 20) / sizeof(e) - 10);
	ck_assert_uint_lt(nr, (4 << 20) / sizeof(e));
	ck_assert_uint_eq(tally_total(a.tally), 0);
	attribute_resolve(&a);
	ck_assert_uint_eq(tally_total(a.tally), nr);
	free_attribution(&a);
}
END_TEST

/* Nothing is put off without a reason, and without memory not by half. */
START_TEST(without_memory_nothing_is_put_off)
{
	static const uint64_t chain[] = { PERF_CONTEXT_USER, PAGE };
	static const struct branch branch = { .from = PAGE };
	const struct batch batch = { .from_ns = 5, .to_ns = 6 };
	const struct cpi_entry e = { 0 };
	const struct batch_record record = { 0 };
	const struct branch_stack stack = { .branch = &branch, .nr = 1 };
	const struct chain_sample sample = { .chain = chain, .nr = 2 };
	struct attribution a = make_attribution();

	map_made_code(&a);
	ck_assert(!later_add_entry(&a, &batch, &e)); /* nothing is lacking */
	ck_assert(!later_add_record(&a, &batch, &record));
	ck_assert(!later_add_stack(&a, &stack));
	ck_assert(!later_add_chain(&a, &sample));
	for (size_t nth = 1; nth <= 2; nth++) { /* the batch, then what is of it */
		a.lacking = true;
		nr_until_failure = nth;
		ck_assert(!later_add_entry(&a, &batch, &e));
		later_free(a.later);
		a.later = later_new();
		nr_until_failure = nth;
		ck_assert(!later_add_record(&a, &batch, &record));
	}
	nr_until_failure = 1;
	ck_assert(!later_add_stack(&a, &stack));
	nr_until_failure = 1;
	ck_assert(!later_add_chain(&a, &sample));
	ck_assert_uint_eq(nr_until_failure, 0);
	attribute_resolve(&a);
	ck_assert_uint_eq(tally_total(a.tally) + a.stacks->kept, 0);
	add_all_kinds(&a, PAGE);
	attribute_resolve(&a);
	check_all_kinds(&a, "[jit:a]", 1);
	remove_map();
	free_attribution(&a);
}
END_TEST

/* ---- outcomes ---- */

static enum cpi_outcome classify(struct attribution *a, const struct raw_sample *s)
{
	unsigned int generation;
	enum cpi_outcome outcome;

	nr_questions = 0;
	attribute_classify(a, s, &generation, &outcome);
	ck_assert_int_eq(nr_questions, 0);
	return outcome;
}

START_TEST(code_is_read_between_the_two_looks_at_a_sample)
{
	struct attribution a = make_attribution();
	const struct raw_sample s = { .time_ns = time_mono_ns(),
				      .pc = PAGE + 4, /* in e_ident: 02 01 01 00 */
				      .tgid = getpid() },
				other = { .time_ns = s.time_ns,
					  .pc = PAGE + 0x800,
					  .tgid = getpid() };

	map_program(&a, -PAGE);
	nr_questions = 0;
	attribute_prepare(&a, &s);
	ck_assert_int_eq(nr_questions, 0);
	ck_assert_int_eq(classify(&a, &s), CPI_OUTCOME_UNREADABLE);
	attribute_resolve(&a);
	ck_assert_int_gt(nr_questions, 0);
	ck_assert_int_eq(classify(&a, &s), CPI_OUTCOME_NONE); /* no branch */
	ck_assert_int_eq(classify(&a, &other), CPI_OUTCOME_UNREADABLE);
	nr_questions = 0;
	attribute_prepare(&a, &s);
	attribute_resolve(&a);
	ck_assert_int_eq(nr_questions, 0);
	free_attribution(&a);
}
END_TEST

/* ---- runs and single entries ---- */

/* Mappings that come, go and move, at few addresses, in processes that exec and fork.
 */
static void happen(struct crowd *c, uint64_t when)
{
	uint32_t tgid = 1 + crowd_random(c) % NR_PROCESSES;
	uint64_t kind = crowd_random(c) % 16;
	struct range r = { .start = (1 + crowd_random(c) % 8) * PAGE, .since = when };

	if (!kind) {
		procmap_exec(c->a.procmap, tgid, tgid & 1 ? "a" : "b", when);
	} else if (kind == 1) {
		procmap_fork(c->a.procmap, tgid, 1 + crowd_random(c) % NR_PROCESSES,
			     when);
	} else if (kind == 2) {
		procmap_add_gap(c->a.procmap, when, when);
	} else {
		r.end = r.start + (1 + crowd_random(c) % 3) * PAGE;
		r.bias = crowd_random(c) % 2 ? -r.start : 0;
		r.value = crowd_image(c, crowd_random(c) % 3);
		procmap_map(c->a.procmap, tgid, &r);
	}
}

static size_t make_entries(struct crowd *c, struct cpi_entry *e, bool sorted)
{
	struct cpi_entry spare[NR_ENTRIES];

	for (size_t i = 0; i < NR_ENTRIES; i++) {
		uint32_t tgid = crowd_random(c) % (NR_PROCESSES + 2);
		uint64_t pc = crowd_random(c) % (12 * PAGE);

		if (crowd_random(c) % 4 == 0)
			pc = CROWD_KERNEL - PAGE +
			     crowd_random(c) % (CROWD_SYMBOLS * 256 + 2 * PAGE);
		e[i].word0 =
			cpi_entry_word0(pc, crowd_random(c) % 2, crowd_random(c) % 4);
		e[i].word1 = cpi_entry_who(tgid, crowd_random(c) % 3) |
			     (1 + crowd_random(c) % 9) << CPI_COUNT_SHIFT;
	}
	return sorted ? entries_sort(e, spare, NR_ENTRIES) : NR_ENTRIES;
}

static uint64_t find_comm(const struct tally *t, const struct tally_comm *like)
{
	struct hnode *n, *next;

	hmap_for_each (&t->comms, n, next) {
		struct tally_comm *c = container_of(n, struct tally_comm, node);

		if (c->image == like->image && c->event == like->event &&
		    !strcmp(c->comm, like->comm))
			return c->n;
	}
	return 0;
}

static bool same_tallies(const struct tally *a, const struct tally *b)
{
	struct hnode *n, *next;

	if (a->profiles.nr != b->profiles.nr || a->comms.nr != b->comms.nr ||
	    a->unreadable != b->unreadable || memcmp(a->loss, b->loss, sizeof(a->loss)))
		return false;
	hmap_for_each (&a->profiles, n, next) {
		struct tally_profile *p = container_of(n, struct tally_profile, node);
		struct profile *other = find_profile(b, p);
		const struct count *x, *y;
		size_t nr, nr_other;

		if (!other)
			return false;
		x = profile_sorted(p->profile, &nr);
		y = profile_sorted(other, &nr_other);
		if (nr != nr_other || memcmp(x, y, nr * sizeof(*x)))
			return false;
	}
	hmap_for_each (&a->comms, n, next) {
		struct tally_comm *c = container_of(n, struct tally_comm, node);

		if (find_comm(b, c) != c->n)
			return false;
	}
	return true;
}

static const struct {
	bool sorted, by_exec_id, by_context;
	uint64_t from_ns, to_ns; /* 400 events, one at each nanosecond */
} batches[] = {
	{ true, false, false, 500, 600 }, { true, true, true, 500, 600 },
	{ true, false, true, 360, 400 },  { true, true, false, 0, 600 },
	{ false, false, true, 300, 400 }, { false, true, false, 390, 600 },
};

START_TEST(a_run_counts_what_its_entries_count_one_by_one)
{
	uint64_t seed = unit_seed();
	struct cpi_entry entries[NR_ENTRIES];
	struct batch all = { .from_ns = batches[_i].from_ns,
			     .to_ns = batches[_i].to_ns,
			     .entries = entries,
			     .by_exec_id = batches[_i].by_exec_id };
	struct tally *whole;
	struct crowd c;

	crowd_open(&c, 1, 3, seed);
	c.a.by = batches[_i].by_context ? ALL_KINDS : 0;
	for (uint64_t when = 0; when < 400; when++)
		happen(&c, when);
	all.nr = make_entries(&c, entries, batches[_i].sorted);
	attribute_batch(&c.a, &all);
	whole = c.a.tally;
	c.a.tally = tally_new();
	for (size_t i = 0; i < all.nr; i++) {
		struct batch one = all;

		one.entries = &entries[i];
		one.nr = 1;
		attribute_batch(&c.a, &one);
	}
	if (!same_tallies(whole, c.a.tally))
		ck_abort_msg("seed %llu: batch %d", (unsigned long long)seed, _i);
	ck_assert_uint_gt(tally_kept(whole), 0);
	tally_free(whole);
	crowd_close(&c);
}
END_TEST

/* An entry at each of three addresses, whose numbers of samples differ. */
static struct batch make_three(struct cpi_entry e[3], const uint32_t number[3])
{
	for (uint64_t i = 0; i < 3; i++) {
		e[i].word0 = cpi_entry_word0(CROWD_BASE + 4 * i, 0, 0);
		e[i].word1 = cpi_entry_who(number[i], 0) | (i + 1) << CPI_COUNT_SHIFT;
	}
	return crowd_batch(e, 3);
}

START_TEST(samples_of_threads_are_those_of_their_processes)
{
	static const uint32_t tids[] = { 1001, 1002, 3 }, tgids[] = { 1, 2, 3 };
	struct threadmap threads = { 0 };
	struct cpi_entry entries[3];
	struct tally *by_thread;
	struct batch batch;
	struct crowd c;

	crowd_open(&c, 3, 9, unit_seed()); /* no two have an image in common there */
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(threadmap_fork(&threads, tids[i], tgids[i], "worker",
						CROWD_NOW / 2),
				 0);
	batch = make_three(entries, tids);
	c.a.threads = &threads;
	attribute_batch(&c.a, &batch);
	by_thread = c.a.tally;
	c.a.tally = tally_new();
	c.a.threads = NULL;
	batch = make_three(entries, tgids);
	attribute_batch(&c.a, &batch);
	ck_assert(same_tallies(by_thread, c.a.tally));
	ck_assert_uint_eq(tally_kept(by_thread), 6);
	tally_free(by_thread);

	/* Two threads had this number meanwhile. */
	threadmap_exit(&threads, 1001, CROWD_NOW + 1);
	ck_assert_int_eq(threadmap_fork(&threads, 1001, 2, "other", CROWD_NOW + 2), 0);
	c.a.threads = &threads;
	batch = make_three(entries, tids);
	batch.nr = 1;
	attribute_batch(&c.a, &batch);
	ck_assert_uint_eq(c.a.tally->loss[0][SAMPLE_AMBIGUOUS], 1);
	threadmap_fini(&threads);
	crowd_close(&c);
}
END_TEST

/* Of whatever image; NULL: no sample is in this context. */
static struct profile *find_context(const struct tally *t, const char *context)
{
	struct hnode *n, *next;

	hmap_for_each (&t->profiles, n, next) {
		struct tally_profile *p = container_of(n, struct tally_profile, node);

		if (!strcmp(p->context, context))
			return p->profile;
	}
	return NULL;
}

/* A main thread has its process's name. An ambiguous one has no context. */
START_TEST(samples_are_in_the_context_of_their_thread)
{
	static const uint32_t tids[] = { 1001, 2, CPI_MAX_TGID };
	static const char worker[] = "thread=worker:1001\n", two[] = "thread=comm2:2\n";
	struct threadmap threads = { 0 };
	struct cpi_entry entries[3];
	struct batch batch;
	struct crowd c;

	crowd_open(&c, 3, 9, unit_seed());
	ck_assert_int_eq(threadmap_fork(&threads, 1001, 1, "worker", CROWD_NOW / 2), 0);
	c.a.by = 1u << CONTEXT_THREAD;
	batch = make_three(entries, tids);
	attribute_batch(&c.a, &batch);
	ck_assert_ptr_null(find_context(c.a.tally, worker));
	c.a.threads = &threads;
	attribute_batch(&c.a, &batch);
	ck_assert_uint_eq(profile_total(find_context(c.a.tally, worker)), 1);
	ck_assert_uint_eq(profile_total(find_context(c.a.tally, two)), 2);
	threadmap_exit(&threads, 1001, CROWD_NOW + 1);
	ck_assert_int_eq(threadmap_fork(&threads, 1001, 2, "other", CROWD_NOW + 2), 0);
	attribute_batch(&c.a, &batch);
	ck_assert_uint_eq(profile_total(find_context(c.a.tally, worker)), 1);
	ck_assert_uint_eq(profile_total(find_context(c.a.tally, two)), 4);
	threadmap_fini(&threads);
	crowd_close(&c);
}
END_TEST

/* Samples of a run that are lost for a reason, and what its context then has. */
static const struct {
	enum loss loss;
	bool in_context;
	uint64_t offset;
} untold[] = {
	{ SAMPLE_ANONYMOUS, true, STACK_UNKNOWN_ANONYMOUS },
	{ SAMPLE_AMBIGUOUS, true, STACK_UNKNOWN_AMBIGUOUS },
	{ SAMPLE_RING_LOST, false, 0 }, /* nothing is known of these */
};

START_TEST(samples_of_no_image_are_in_their_context)
{
	const char *const contexts[NR_CONTEXT_KINDS] = { [CONTEXT_COMM] = "jit" };
	const struct tally_run run = { .event = 1,
				       .comm = "jit",
				       .contexts = contexts };
	const struct tally_profile like = { .event = 1, .context = "comm=jit\n" };
	struct tally *t = tally_new();
	const struct profile *p;

	tally_lose_run(t, &run, untold[_i].loss, 7);
	tally_lose_run(t, &run, untold[_i].loss, 2);
	tally_mark_images(t);
	p = find_profile(t, &like);
	ck_assert_int_eq(p != NULL, untold[_i].in_context);
	ck_assert_uint_eq(t->loss[1][untold[_i].loss], 9);
	ck_assert_uint_eq(tally_total(t), 9);
	ck_assert_uint_eq(tally_kept(t), 0);
	if (p) {
		ck_assert_uint_eq(profile_total(p), 9);
		ck_assert_uint_eq(profile_at(p, untold[_i].offset).n, 9);
	}
	tally_drop(t, SAMPLE_NO_SPACE);
	ck_assert_uint_eq(tally_total(t), 9);
	tally_free(t);
}
END_TEST

/* ---- what hardware recorded ---- */

static void check_records(const struct tally_profile *p)
{
	const struct records *records = profile_records(p->profile);
	const struct count *count;
	size_t nr;

	ck_assert_ptr_nonnull(records);
	count = profile_sorted(p->profile, &nr);
	ck_assert_uint_eq(records_nr(records), nr);
	for (size_t i = 0; i < nr; i++) {
		struct records_row row = records_at(records, count[i].offset);

		ck_assert_uint_eq(records_cell(&row, RECORDS_KNOWN, RECORD_ANY),
				  count[i].n);
		ck_assert_uint_eq(records_cell(&row, RECORDS_SEEN, RECORD_RETIRED),
				  count[i].n);
	}
}

START_TEST(records_are_kept_where_their_samples_are_counted)
{
	static struct batch_record records[NR_ENTRIES];
	struct cpi_entry entries[NR_ENTRIES];
	struct batch batch = { .from_ns = 300,
			       .to_ns = 400,
			       .entries = entries,
			       .nr = NR_ENTRIES,
			       .records = records,
			       .nr_records = NR_ENTRIES };
	struct hnode *n, *next;
	struct crowd c;
	size_t memory;

	crowd_open(&c, 1, 3, unit_seed());
	c.a.by = _i ? ALL_KINDS : 0;
	for (uint64_t when = 0; when < 400; when++)
		happen(&c, when);
	make_entries(&c, entries, false);
	for (size_t i = 0; i < NR_ENTRIES; i++) {
		records[i].entry = entries[i];
		records[i].entry.word1 &= UINT32_MAX;
		entries[i].word1 = records[i].entry.word1 | 1ULL << CPI_COUNT_SHIFT;
		hw_tell(&records[i].hw, HW_RETIRED, true);
	}
	attribute_batch(&c.a, &batch);
	ck_assert_uint_eq(tally_total(c.a.tally), NR_ENTRIES);
	ck_assert_uint_gt(tally_kept(c.a.tally), 0);
	memory = sizeof(struct tally);
	hmap_for_each (&c.a.tally->profiles, n, next) {
		struct tally_profile *p = container_of(n, struct tally_profile, node);

		if (p->image)
			check_records(p);
		memory += profile_memory(p->profile);
	}
	ck_assert_uint_ge(tally_memory(c.a.tally), memory);
	crowd_close(&c);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("attribute");
	TCase *tc = tcase_create("runs");

	tcase_set_timeout(tc, 600); /* a busy machine */
	tcase_add_loop_test(tc, what_was_seen_before_is_counted_without_an_allocation,
			    0, 2);
	tcase_add_test(tc,
		       a_look_up_asks_nobody_and_its_image_is_known_before_the_flush);
	tcase_add_loop_test(tc, what_is_not_read_yet_is_read_between_two_look_ups, 0,
			    NR(lacking));
	tcase_add_loop_test(tc, a_sample_that_is_put_off_is_counted_once, 0, 2);
	tcase_add_test(tc, there_is_a_bound_to_what_is_put_off);
	tcase_add_test(tc, samples_of_one_batch_are_put_off_together);
	tcase_add_test(tc, without_memory_nothing_is_put_off);
	tcase_add_test(tc, code_is_read_between_the_two_looks_at_a_sample);
	tcase_add_loop_test(tc, samples_of_no_image_are_in_their_context, 0,
			    sizeof(untold) / sizeof(untold[0]));
	tcase_add_loop_test(tc, a_run_counts_what_its_entries_count_one_by_one, 0,
			    NR(batches));
	tcase_add_test(tc, samples_of_threads_are_those_of_their_processes);
	tcase_add_test(tc, samples_are_in_the_context_of_their_thread);
	tcase_add_loop_test(tc, records_are_kept_where_their_samples_are_counted, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
