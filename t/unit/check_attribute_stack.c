/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chains of addresses, and what becomes of each frame. */
#include "config.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>

#include "daemon/stacks/stacksampler.h"
#include "t/bench/crowd.h"
#include "t/unit/unit.h"

#define K      ((uint64_t)PERF_CONTEXT_KERNEL)
#define U      ((uint64_t)PERF_CONTEXT_USER)
#define PROG   0x1000 /* a page of the program, at offset 0x100000 of its file */
#define LIBC   0x5000
#define MOVED  0x7000 /* the C library until moment 200, then the program */
#define LINKER 0xb000
#define NOBODY 60 /* a process that is not known */

enum { DYNAMIC = 50, STATIC = 51 };

static void map(struct crowd *c, uint32_t tgid, uint64_t start, uint64_t since,
		const char *name, uint64_t bias)
{
	const struct image_source source = { .device = 1,
					     .inode = 1000 + strlen(name) };
	const struct range r = { .start = start,
				 .end = start + 0x1000,
				 .since = since,
				 .bias = bias - start,
				 .value = images_get(c->a.images, name, &source) };

	procmap_map(c->a.procmap, tgid, &r);
}

static void open_processes(struct crowd *c)
{
	crowd_open(c, 1, 3, 1);
	c->a.stacks = stacktally_new();
	procmap_exec(c->a.procmap, DYNAMIC, "shell",
		     5); /* it has had another program */
	procmap_exec(c->a.procmap, DYNAMIC, "dynamic", 10);
	map(c, DYNAMIC, PROG, 11, "/no/prog", 0x100000);
	map(c, DYNAMIC, LIBC, 12, "/no/libc.so.6", 0);
	map(c, DYNAMIC, LINKER, 12, "/no/ld.so", 0);
	map(c, DYNAMIC, MOVED, 13, "/no/libc.so.6", 0x1000);
	map(c, DYNAMIC, MOVED, 200, "/no/prog", 0x200000);
	procmap_exec(c->a.procmap, STATIC, "static", 10);
	map(c, STATIC, PROG, 11, "/no/prog", 0x100000);
}

/* All of a tree, and of the images' numbers. */
struct text {
	const struct stacktally *tally;
	struct buf buf;
};

static int print_stack(void *ctx, const struct stack_frame *frames, size_t nr,
		       enum stack_mark mark, uint64_t n)
{
	struct text *t = ctx;

	buf_printf(&t->buf, "%s", stack_mark_str(mark));
	for (size_t i = 0; i < nr; i++) {
		const struct known_image *image =
			t->tally->images.image[frames[i].image];

		if (image)
			buf_printf(&t->buf, " %s+%" PRIx64, image->desc.name,
				   frames[i].offset);
		else
			buf_printf(&t->buf, " [%s]",
				   stack_unknown_str(frames[i].offset));
	}
	return t->buf.err;
}

static void check_stack(const struct chain_sample *s, const char *context,
			const char *want)
{
	const struct stacktally_tree *tree;
	struct text text = { 0 };
	struct crowd c;

	open_processes(&c);
	attribute_chain(&c.a, s);
	ck_assert_uint_eq(c.a.stacks->kept, 1);
	ck_assert_uint_eq(c.a.stacks->trees.nr, 1);
	tree = container_of(hmap_each(&c.a.stacks->trees, NULL), struct stacktally_tree,
			    node);
	if (context)
		ck_assert_str_eq(tree->context, context);
	text.tally = c.a.stacks;
	ck_assert_int_eq(stack_tree_each(tree->tree, print_stack, &text), 0);
	ck_assert_str_eq(buf_str(&text.buf), want);
	buf_fini(&text.buf);
	stacktally_free(c.a.stacks);
	crowd_close(&c);
}

static const struct {
	const char *context, *want;
	uint64_t chain[8];
	size_t nr;
	uint32_t tgid;
	uint64_t time_ns;
	unsigned int limit;
	bool is_copied;
} chains[] = {
	{ "comm=dynamic\n",
	  "ended /no/prog+100010 /no/prog+1000ff /no/libc.so.6+7f",
	  { U, PROG + 0x10, PROG + 0x100, LIBC + 0x80 },
	  4,
	  DYNAMIC,
	  100,
	  127,
	  false },
	/* the call was the last instruction before another image */
	{ "comm=dynamic\n",
	  "ended /no/prog+100010 /no/libc.so.6+fff",
	  { U, PROG + 0x10, LIBC + 0x1000 },
	  3,
	  DYNAMIC,
	  100,
	  127,
	  false },
	{ "comm=dynamic\n",
	  "no_start /no/prog+100010 /no/prog+1000ff",
	  { U, PROG + 0x10, PROG + 0x100 },
	  3,
	  DYNAMIC,
	  100,
	  127,
	  false },
	{ "comm=static\n",
	  "ended /no/prog+100010 /no/prog+1000ff",
	  { U, PROG + 0x10, PROG + 0x100 },
	  3,
	  STATIC,
	  100,
	  127,
	  false },
	{ "comm=dynamic\n",
	  "unreadable /no/libc.so.6+10",
	  { U, LIBC + 0x10 },
	  2,
	  DYNAMIC,
	  100,
	  127,
	  false },
	{ "comm=dynamic\n",
	  "no_start /no/prog+100010 [no_mapping]",
	  { U, PROG + 0x10, 0x9000 },
	  3,
	  DYNAMIC,
	  100,
	  127,
	  false },
	{ "comm=dynamic\n",
	  "limit /no/prog+100010 /no/prog+1000ff",
	  { U, PROG + 0x10, PROG + 0x100 },
	  3,
	  DYNAMIC,
	  100,
	  2,
	  false },
	{ "comm=[unknown]\n",
	  "no_start [no_process] [no_process]",
	  { U, PROG + 0x10, PROG + 0x100 },
	  3,
	  NOBODY,
	  100,
	  127,
	  false },
	/* what was mapped at the sample's own moment */
	{ "comm=dynamic\n",
	  "ended /no/prog+100010 /no/libc.so.6+100f",
	  { U, PROG + 0x10, MOVED + 0x10 },
	  3,
	  DYNAMIC,
	  199,
	  127,
	  false },
	{ "comm=dynamic\n",
	  "no_start /no/prog+100010 /no/prog+20000f",
	  { U, PROG + 0x10, MOVED + 0x10 },
	  3,
	  DYNAMIC,
	  201,
	  127,
	  false },
	/* the first frame of each part was interrupted, or called the kernel */
	{ "comm=dynamic\n",
	  "ended [kernel]+5 [kernel]+11f /no/prog+100010 /no/libc.so.6+7f",
	  { K, CROWD_KERNEL + 5, CROWD_KERNEL + 0x120, U, PROG + 0x10, LIBC + 0x80 },
	  6,
	  DYNAMIC,
	  100,
	  127,
	  false },
	{ "comm=dynamic\n",
	  "ended [kernel]+5",
	  { K, CROWD_KERNEL + 5 },
	  2,
	  DYNAMIC,
	  100,
	  127,
	  false },
	/* what user mode calls a frame is never the kernel's */
	{ "comm=dynamic\n",
	  "no_start /no/prog+100010 [no_mapping]",
	  { U, PROG + 0x10, CROWD_KERNEL + 5 },
	  3,
	  DYNAMIC,
	  100,
	  127,
	  false },
	{ "comm=dynamic\n", "unreadable", { 0 }, 0, DYNAMIC, 100, 127, false },
	/* a virtual machine's frames are not looked up here */
	{ "comm=dynamic\n",
	  "ended [guest] [guest]",
	  { (uint64_t)PERF_CONTEXT_GUEST_KERNEL, CROWD_KERNEL + 5,
	    (uint64_t)PERF_CONTEXT_GUEST_USER, PROG + 0x10 },
	  4,
	  DYNAMIC,
	  100,
	  127,
	  false },
	/* the number under which the rest comes is no frame */
	{ "comm=dynamic\n",
	  "deferred [kernel]+5",
	  { K, CROWD_KERNEL + 5, (uint64_t)-640, 12345 },
	  4,
	  DYNAMIC,
	  100,
	  127,
	  false },
	{ "comm=dynamic\n",
	  "copied /no/prog+100010",
	  { U, PROG + 0x10 },
	  2,
	  DYNAMIC,
	  100,
	  127,
	  true },
};

START_TEST(each_frame_is_where_it_was_and_the_end_is_told)
{
	const struct chain_sample s = { .time_ns = chains[_i].time_ns,
					.tgid = chains[_i].tgid,
					.chain = chains[_i].chain,
					.nr = chains[_i].nr,
					.limit = chains[_i].limit,
					.is_copied = chains[_i].is_copied };

	check_stack(&s, chains[_i].context, chains[_i].want);
}
END_TEST

/* What was unwound says itself which PCs are return addresses, and why it ends. */
static const struct {
	const char *want;
	uint64_t chain[3];
	size_t nr;
	struct cpi_unwind_frame frame[3];
	size_t nr_frames;
	enum cpi_unwind_end end;
	uint32_t tgid;
} unwound[] = {
	{ "ended /no/prog+100010 /no/libc.so.6+80 /no/prog+1000ff",
	  { 0 },
	  0,
	  { { PROG + 0x10, 0 }, { LIBC + 0x80, 0 }, { PROG + 0x100, 1 } },
	  3,
	  CPI_UNWIND_ROOT,
	  DYNAMIC },
	{ "copy [kernel]+5 [kernel]+11f /no/prog+100010",
	  { K, CROWD_KERNEL + 5, CROWD_KERNEL + 0x120 },
	  3,
	  { { PROG + 0x10, 0 } },
	  1,
	  CPI_UNWIND_COPY,
	  DYNAMIC },
	/* where the dynamic linker begins there is no table */
	{ "ended /no/prog+100010 /no/ld.so+7f",
	  { 0 },
	  0,
	  { { PROG + 0x10, 0 }, { LINKER + 0x80, 1 } },
	  2,
	  CPI_UNWIND_NO_TABLE,
	  DYNAMIC },
	{ "no_table /no/libc.so.6+10 /no/prog+1000ff",
	  { 0 },
	  0,
	  { { LIBC + 0x10, 0 }, { PROG + 0x100, 1 } },
	  2,
	  CPI_UNWIND_NO_TABLE,
	  DYNAMIC },
	{ "no_table /no/ld.so+10",
	  { 0 },
	  0,
	  { { LINKER + 0x10, 0 } },
	  1,
	  CPI_UNWIND_NO_TABLE,
	  DYNAMIC },
	{ "guessed /no/prog+100010",
	  { 0 },
	  0,
	  { { PROG + 0x10, 0 } },
	  1,
	  CPI_UNWIND_GUESSED,
	  DYNAMIC },
	{ "broken /no/prog+100010",
	  { 0 },
	  0,
	  { { PROG + 0x10, 0 } },
	  1,
	  CPI_UNWIND_BROKEN,
	  STATIC },
	{ "limit /no/prog+100010",
	  { 0 },
	  0,
	  { { PROG + 0x10, 0 } },
	  1,
	  CPI_UNWIND_DEPTH,
	  STATIC },
	{ "loop /no/prog+100010",
	  { 0 },
	  0,
	  { { PROG + 0x10, 0 } },
	  1,
	  CPI_UNWIND_LOOP,
	  STATIC },
	{ "unmapped [no_process]",
	  { 0 },
	  0,
	  { { PROG + 0x10, 0 } },
	  1,
	  CPI_UNWIND_UNMAPPED,
	  NOBODY },
	{ "no_table", { 0 }, 0, { { 0 } }, 0, CPI_UNWIND_NO_TABLE, STATIC },
};

START_TEST(what_was_unwound_stays_as_it_is)
{
	const struct chain_sample s = { .time_ns = 100,
					.tgid = unwound[_i].tgid,
					.chain = unwound[_i].chain,
					.nr = unwound[_i].nr,
					.limit = 127,
					.frame = unwound[_i].frame,
					.nr_frames = unwound[_i].nr_frames,
					.end = unwound[_i].end };

	check_stack(&s, NULL, unwound[_i].want);
}
END_TEST

/* Everything that is added is kept, whatever the bounds make of it. */
START_TEST(a_tally_is_bounded_and_loses_nothing)
{
	struct stacktally *t = stacktally_new();
	uint64_t state = 1, sum = 0;
	struct hnode *n, *next;

	for (int i = 0; i < 60000; i++) {
		struct tally_frame frames[40];
		const char *contexts[NR_CONTEXT_KINDS] = { NULL };
		struct tally_stack s = { frames, NR(frames), STACK_ENDED, contexts };
		char comm[16];

		snprintf(comm, sizeof(comm), "%d", i % (2 * STACKTALLY_CONTEXTS));
		contexts[CONTEXT_COMM] = comm;
		for (size_t k = 0; k < NR(frames); k++)
			frames[k] = (struct tally_frame){ NULL, unit_random(&state) };
		stacktally_add(t, &s);
	}
	ck_assert_uint_eq(t->kept, 60000);
	ck_assert_uint_eq(t->no_space, 0);
	ck_assert_uint_eq(t->trees.nr, STACKTALLY_CONTEXTS + 1);
	/* One array may double after the last look. */
	ck_assert_uint_lt(stacktally_memory(t), 2 * STACKTALLY_MAX_BYTES);
	hmap_for_each (&t->trees, n, next)
		sum += stack_tree_total(
			container_of(n, struct stacktally_tree, node)->tree);
	ck_assert_uint_eq(sum, 60000);
	stacktally_drop(t);
	ck_assert_uint_eq(t->no_space, 60000);
	ck_assert_uint_eq(t->trees.nr, 0);
	stacktally_free(t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("attribute_stack");
	TCase *tc = tcase_create("chains");

	tcase_add_loop_test(tc, each_frame_is_where_it_was_and_the_end_is_told, 0,
			    NR(chains));
	tcase_add_loop_test(tc, what_was_unwound_stays_as_it_is, 0, NR(unwound));
	tcase_add_test(tc, a_tally_is_bounded_and_loses_nothing);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
