/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/varint.h"
#include "db/profile/stacktree.h"
#include "t/unit/unit.h"

#define MAX_STACKS 512
#define MAX_DEPTH  12
#define NR_IMAGES  4

static const uint32_t same_images[NR_IMAGES] = { 0, 1, 2, 3 };

/* The oracle: a list of stacks, searched from end to end. */
struct stack {
	struct stack_frame frame[MAX_DEPTH];
	size_t nr;
	enum stack_mark mark;
	uint64_t n;
};

struct list {
	struct stack stack[MAX_STACKS];
	size_t nr;
	uint64_t total;
};

static bool same_frames(const struct stack *s, const struct stack_frame *frames,
			size_t nr, enum stack_mark mark)
{
	if (s->nr != nr || s->mark != mark)
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (s->frame[i].image != frames[i].image ||
		    s->frame[i].offset != frames[i].offset)
			return false;
	}
	return true;
}

static int list_add(void *ctx, const struct stack_frame *frames, size_t nr,
		    enum stack_mark mark, uint64_t n)
{
	struct list *l = ctx;
	size_t i = 0;

	while (i < l->nr && !same_frames(&l->stack[i], frames, nr, mark))
		i++;
	if (i == l->nr) {
		ck_assert_uint_lt(l->nr++, MAX_STACKS);
		l->stack[i] = (struct stack){ .nr = nr, .mark = mark };
		for (size_t k = 0; k < nr; k++)
			l->stack[i].frame[k] = frames[k];
	}
	l->stack[i].n += n;
	l->total += n;
	return 0;
}

static bool same_lists(const struct list *a, const struct list *b)
{
	for (size_t i = 0; i < a->nr; i++) {
		const struct stack *s = &a->stack[i];
		size_t k = 0;

		while (k < b->nr &&
		       !same_frames(&b->stack[k], s->frame, s->nr, s->mark))
			k++;
		if (k == b->nr || b->stack[k].n != s->n)
			return false;
	}
	return a->nr == b->nr && a->total == b->total;
}

static struct list *list_of(const struct stack_tree *t)
{
	struct list *l = calloc(1, sizeof(*l));

	ck_assert_ptr_nonnull(l);
	ck_assert_int_eq(stack_tree_each(t, list_add, l), 0);
	return l;
}

/* Few images and offsets, so that stacks share what they can share. */
static void random_stack(uint64_t *state, struct stack *s)
{
	const bool far = unit_random(state) % 8 == 0;

	s->nr = unit_random(state) % (MAX_DEPTH + 1);
	s->mark = unit_random(state) % STACK_NO_ROOM;
	s->n = 1 + unit_random(state) % 1000;
	for (size_t i = 0; i < s->nr; i++)
		s->frame[i] = (struct stack_frame){ unit_random(state) % NR_IMAGES,
						    far ? unit_random(state)
							: unit_random(state) % 3 };
}

static struct stack_tree *random_tree(uint64_t *state, size_t nr, struct list *l)
{
	struct stack_tree *t = stack_tree_new(STACK_MAX_NODES);
	struct stack s = { .nr = 0 };

	for (size_t i = 0; i < nr; i++) {
		random_stack(state, &s);
		list_add(l, s.frame, s.nr, s.mark, s.n);
		ck_assert_int_eq(stack_tree_add(t, s.frame, s.nr, s.mark, s.n), 0);
	}
	return t;
}

START_TEST(a_tree_has_what_was_added_and_its_blob_too)
{
	uint64_t seed = unit_seed(), state = seed | 1;

	for (int round = 0; round < 200; round++) {
		struct list *want = calloc(1, sizeof(*want)), *got, *again;
		struct stack_tree *t =
			random_tree(&state, 1 + unit_random(&state) % 200, want);
		struct stack_tree *back = stack_tree_new(STACK_MAX_NODES);
		struct buf b = { 0 };

		got = list_of(t);
		ck_assert_msg(same_lists(want, got), "seed %" PRIu64, seed);
		ck_assert_uint_eq(stack_tree_total(t), want->total);
		ck_assert_uint_eq(stack_tree_nr_stacks(t), want->nr);
		ck_assert_int_eq(stack_tree_encode(t, &b), 0);
		ck_assert_int_eq(stack_tree_decode(b.data, b.len, same_images,
						   NR_IMAGES, back),
				 0);
		again = list_of(back);
		ck_assert_msg(same_lists(want, again), "seed %" PRIu64, seed);
		ck_assert_uint_eq(stack_tree_nr_nodes(t), stack_tree_nr_nodes(back));
		free(want);
		free(got);
		free(again);
		stack_tree_free(t);
		stack_tree_free(back);
		buf_fini(&b);
	}
}
END_TEST

START_TEST(a_merge_is_as_if_all_had_been_added_to_one)
{
	static const uint32_t map[NR_IMAGES] = { 2, 0, 3, 1 };
	uint64_t seed = unit_seed(), state = seed | 1;

	for (int round = 0; round < 100; round++) {
		struct list *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b)),
			    *got;
		struct stack_tree *t = random_tree(&state, 100, a);
		struct stack_tree *from = random_tree(&state, 100, b);

		ck_assert_int_eq(stack_tree_merge(t, from, map, NR_IMAGES), 0);
		for (size_t i = 0; i < b->nr; i++) {
			struct stack *s = &b->stack[i];

			for (size_t k = 0; k < s->nr; k++)
				s->frame[k].image = map[s->frame[k].image];
			list_add(a, s->frame, s->nr, s->mark, s->n);
		}
		got = list_of(t);
		ck_assert_msg(same_lists(a, got), "seed %" PRIu64, seed);
		free(a);
		free(b);
		free(got);
		stack_tree_free(t);
		stack_tree_free(from);
	}
}
END_TEST

START_TEST(a_full_tree_counts_what_it_cannot_tell_apart)
{
	const struct stack_frame frames[] = { { 0, 1 }, { 0, 2 }, { 0, 3 } };
	struct stack_tree *t = stack_tree_new(STACK_NR_MARKS + 3);
	struct stack_tree *more = stack_tree_new(STACK_MAX_NODES);
	struct list *l;
	struct buf b = { 0 };

	ck_assert_int_eq(stack_tree_add(t, &frames[1], 2, STACK_ENDED, 5), 0);
	/* One frame fits, two do not: then none is taken. */
	ck_assert_int_eq(stack_tree_add(t, frames, 3, STACK_LIMIT, 7), 0);
	ck_assert_int_eq(stack_tree_add(t, frames, 3, STACK_ENDED, 11), 0);
	ck_assert_int_eq(stack_tree_add(t, &frames[2], 1, STACK_ENDED, 2), 0);
	ck_assert_uint_eq(stack_tree_nr_nodes(t), STACK_NR_MARKS + 3);
	l = list_of(t);
	ck_assert_uint_eq(l->nr, 4);
	ck_assert_uint_eq(l->total, 25);
	ck_assert_int_eq(l->stack[3].mark, STACK_NO_ROOM);
	ck_assert_uint_eq(l->stack[3].nr, 0);
	ck_assert_uint_eq(l->stack[3].n, 7);
	free(l);

	/* Neither a merge nor a blob brings more in than there is room for. */
	ck_assert_int_eq(stack_tree_add(more, &frames[1], 1, STACK_UNREADABLE, 3), 0);
	ck_assert_int_eq(stack_tree_merge(t, more, same_images, NR_IMAGES), 0);
	ck_assert_int_eq(stack_tree_encode(more, &b), 0);
	ck_assert_int_eq(stack_tree_decode(b.data, b.len, same_images, NR_IMAGES, t),
			 0);
	l = list_of(t);
	ck_assert_uint_eq(l->nr, 4);
	ck_assert_uint_eq(l->stack[3].n, 13);
	ck_assert_uint_eq(l->total, 31);
	free(l);
	buf_fini(&b);
	stack_tree_free(t);
	stack_tree_free(more);
}
END_TEST

START_TEST(counts_and_lengths_have_limits)
{
	static struct stack_frame frames[STACK_MAX_FRAMES + 1];
	struct stack_tree *t = stack_tree_new(STACK_MAX_NODES);
	struct stack_tree *back = stack_tree_new(STACK_MAX_NODES);
	struct buf b = { 0 };

	ck_assert_int_eq(stack_tree_add(t, frames, STACK_MAX_FRAMES + 1, STACK_ENDED,
					1),
			 -EINVAL);
	ck_assert_int_eq(stack_tree_add(t, frames, 1, STACK_NR_MARKS, 1), -EINVAL);
	ck_assert_int_eq(stack_tree_encode(t, &b), 0);
	ck_assert_uint_eq(b.len, 0);
	ck_assert_int_eq(stack_tree_add(t, frames, STACK_MAX_FRAMES, STACK_LIMIT, 1),
			 0);
	ck_assert_int_eq(
		stack_tree_add(t, frames, 1, STACK_ENDED, (uint64_t)INT64_MAX - 1), 0);
	ck_assert_int_eq(stack_tree_add(t, frames, 1, STACK_ENDED, 1), -EOVERFLOW);
	ck_assert_uint_eq(stack_tree_total(t), INT64_MAX);
	ck_assert_int_eq(stack_tree_encode(t, &b), 0);
	ck_assert_int_eq(stack_tree_decode(b.data, b.len, same_images, NR_IMAGES, back),
			 0);
	ck_assert_uint_eq(stack_tree_total(back), INT64_MAX);
	ck_assert_int_eq(stack_tree_merge(back, t, same_images, NR_IMAGES), -EOVERFLOW);
	buf_fini(&b);
	stack_tree_free(t);
	stack_tree_free(back);
}
END_TEST

/* Bodies as numbers; a blob's first byte says that they are plain. */
static const struct {
	const char *what;
	uint64_t number[16];
	size_t nr;
	int err;
} blobs[] = {
	{ "a frame, a root, its child", { 1, 2, 7, 2, 0, 0, 0, 0, 0, 4 }, 10, 0 },
	{ "no frames", { 0, 1, 0, 2, 9 }, 5, 0 },
	{ "nothing", { 0 }, 0, -CPI_ETRUNCATED },
	{ "an image that there is not", { 1, 4, 7, 1, 0, 0, 1 }, 7, -CPI_ECORRUPT },
	{ "a distance that wraps",
	  { 2, 1, 1, UINT64_MAX, 0, 1, 0, 0, 1 },
	  9,
	  -CPI_ECORRUPT },
	{ "a frame twice", { 2, 1, 7, 0, 0, 1, 0, 0, 1 }, 9, -CPI_ECORRUPT },
	{ "an offset that wraps",
	  { 2, 1, UINT64_MAX, 0, 1, 1, 0, 0, 1 },
	  9,
	  -CPI_ECORRUPT },
	{ "a mark that there is not",
	  { 0, 1, 0, STACK_NR_MARKS, 1 },
	  5,
	  -CPI_ECORRUPT },
	{ "a frame that is not listed",
	  { 1, 0, 7, 2, 0, 0, 0, 1, 0, 4 },
	  10,
	  -CPI_ECORRUPT },
	{ "above the root", { 0, 2, 0, 2, 0, 0, 1, 1 }, 8, -CPI_ECORRUPT },
	{ "more behind the end", { 0, 1, 0, 2, 9, 9 }, 6, -CPI_ECORRUPT },
	{ "a count that is missing", { 0, 2, 0, 1, 0, 1, 9 }, 7, -CPI_ETRUNCATED },
	{ "more frames than bytes", { 99, 1, 1 }, 3, -CPI_ETRUNCATED },
	{ "more nodes than any", { 0, STACK_MAX_NODES + 1 }, 2, -CPI_ELIMIT },
	{ "more samples than any", { 0, 1, 0, 0, UINT64_MAX }, 5, -EOVERFLOW },
};

START_TEST(what_is_no_tree_is_refused)
{
	struct stack_tree *t = stack_tree_new(STACK_MAX_NODES);
	struct buf b = { 0 };

	buf_putc(&b, 0);
	for (size_t i = 0; i < blobs[_i].nr; i++)
		varint_put(&b, blobs[_i].number[i]);
	ck_assert_msg(stack_tree_decode(b.data, b.len, same_images, NR_IMAGES, t) ==
			      blobs[_i].err,
		      "%s", blobs[_i].what);
	buf_fini(&b);
	stack_tree_free(t);
}
END_TEST

START_TEST(a_damaged_blob_does_no_harm)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	struct list *l = calloc(1, sizeof(*l));
	struct stack_tree *t = random_tree(&state, 3, l);
	struct buf b = { 0 };

	ck_assert_int_eq(stack_tree_encode(t, &b), 0);
	for (int round = 0; round < 20000; round++) {
		struct stack_tree *back = stack_tree_new(64);
		const size_t at = unit_random(&state) % b.len;
		const char was = b.data[at];

		b.data[at] = (char)unit_random(&state);
		if (!stack_tree_decode(b.data, b.len - unit_random(&state) % 2,
				       same_images, NR_IMAGES, back))
			ck_assert_uint_le(stack_tree_nr_nodes(back), 64);
		b.data[at] = was;
		stack_tree_free(back);
	}
	buf_fini(&b);
	stack_tree_free(t);
	free(l);
}
END_TEST

/* The text of a golden file: mark, n, and frames leaf first as image:offset. */
static int print_stack(void *ctx, const struct stack_frame *frames, size_t nr,
		       enum stack_mark mark, uint64_t n)
{
	struct buf *out = ctx;

	buf_printf(out, "%s %" PRIu64, stack_mark_str(mark), n);
	for (size_t i = 0; i < nr; i++)
		buf_printf(out, " %" PRIu32 ":%#" PRIx64, frames[i].image,
			   frames[i].offset);
	buf_putc(out, '\n');
	return out->err;
}

static void read_fixture(const char *name, struct buf *out)
{
	const char *srcdir = getenv("srcdir");
	char path[512];

	snprintf(path, sizeof(path), "%s/t/fixtures/stacks/%s", srcdir ? srcdir : ".",
		 name);
	ck_assert_int_eq(file_read_all(AT_FDCWD, path, 1 << 20, out), 0);
}

START_TEST(golden_blobs_read_as_they_did)
{
	static const char *const names[] = { "plain", "zstd" };
	struct stack_tree *t = stack_tree_new(STACK_MAX_NODES);
	struct buf blob = { 0 }, text = { 0 }, got = { 0 }, again = { 0 };
	char name[64];

	snprintf(name, sizeof(name), "%s.blob", names[_i]);
	read_fixture(name, &blob);
	snprintf(name, sizeof(name), "%s.txt", names[_i]);
	read_fixture(name, &text);
	ck_assert_int_eq(
		stack_tree_decode(blob.data, blob.len, same_images, NR_IMAGES, t), 0);
	ck_assert_int_eq(stack_tree_each(t, print_stack, &got), 0);
	ck_assert_str_eq(buf_str(&got), buf_str(&text));
	ck_assert_int_eq(stack_tree_encode(t, &again), 0);
	ck_assert_int_eq(again.data[0], blob.data[0]);
	if (!blob.data[0]) /* what zstd writes differs by version */
		ck_assert_mem_eq(again.data, blob.data, blob.len);
	buf_fini(&blob);
	buf_fini(&text);
	buf_fini(&got);
	buf_fini(&again);
	stack_tree_free(t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("stacktree");
	TCase *tc = tcase_create("stacktree");

	tcase_add_test(tc, a_tree_has_what_was_added_and_its_blob_too);
	tcase_add_test(tc, a_merge_is_as_if_all_had_been_added_to_one);
	tcase_add_test(tc, a_full_tree_counts_what_it_cannot_tell_apart);
	tcase_add_test(tc, counts_and_lengths_have_limits);
	tcase_add_loop_test(tc, what_is_no_tree_is_refused, 0, NR(blobs));
	tcase_add_test(tc, a_damaged_blob_does_no_harm);
	tcase_add_loop_test(tc, golden_blobs_read_as_they_did, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
