/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "db/core/sql.h"
#include "db/move/copy.h"
#include "db/move/export.h"
#include "db/move/join.h"
#include "db/query/stacks.h"
#include "db/retain/retain.h"
#include "t/unit/dbtest.h"

#define DAY (86400 * SEC)

static const struct image_desc other_image = { .kind = IMAGE_FILE,
					       .name = "/usr/lib/other.so",
					       .build_id = { 9 },
					       .build_id_size = 20 };

/* Images in the order in which a flush numbers them: not always the same. */
static const struct image_desc *const orders[2][3] = {
	{ &test_image, &other_image, NULL },
	{ NULL, &test_image, &other_image },
};

static const char *name_of(const struct image_desc *image)
{
	return image ? image->name : "[unknown]";
}

/*
 * The oracle: samples by what a stack is in words, in the order of their first coming.
 */
struct words {
	struct {
		char text[256];
		uint64_t n;
	} row[256];
	size_t nr;
	uint64_t total;
};

static void words_add(struct words *w, const char *text, uint64_t n)
{
	size_t i = 0;

	while (i < w->nr && strcmp(w->row[i].text, text) != 0)
		i++;
	if (i == w->nr) {
		ck_assert_uint_lt(w->nr++, NR(w->row));
		snprintf(w->row[i].text, sizeof(w->row[i].text), "%s", text);
	}
	w->row[i].n += n;
	w->total += n;
}

static bool same_words(const struct words *a, const struct words *b)
{
	for (size_t i = 0; i < a->nr; i++) {
		size_t k = 0;

		while (k < b->nr && strcmp(a->row[i].text, b->row[k].text) != 0)
			k++;
		if (k == b->nr || a->row[i].n != b->row[k].n)
			return false;
	}
	return a->nr == b->nr;
}

static int add_row(void *ctx, const struct query_stack *row)
{
	struct buf text = { 0 };

	buf_printf(&text, "%s %s", row->context, stack_mark_str(row->mark));
	for (size_t i = 0; i < row->nr_frames; i++)
		buf_printf(&text, " %s:%" PRIu64, row->frames[i].image->desc.name,
			   row->frames[i].offset);
	words_add(ctx, buf_str(&text), row->n);
	buf_fini(&text);
	return 0;
}

static struct words *stored(struct db *db, const struct query_selection *how)
{
	struct words *w = calloc(1, sizeof(*w));
	struct query_selection sel = { 0 };
	struct query_epochs e;

	if (how)
		sel = *how;
	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	sel.epochs = &e;
	ck_assert_int_eq(query_stacks(db, &sel, add_row, w), 0);
	query_epochs_fini(&e);
	return w;
}

static void add_random(uint64_t *seed, const struct image_desc *const *images,
		       const char *context, struct stack_tree *t, struct words *want)
{
	const enum stack_mark mark = unit_random(seed) % STACK_NO_ROOM;
	const uint64_t n = 1 + unit_random(seed) % 50;
	const size_t nr = 1 + unit_random(seed) % 4;
	struct stack_frame frames[4];
	struct buf text = { 0 };

	buf_printf(&text, "%s %s", context, stack_mark_str(mark));
	for (size_t i = 0; i < nr; i++) {
		frames[i] = (struct stack_frame){ unit_random(seed) % 3,
						  unit_random(seed) % 2 };
		buf_printf(&text, " %s:%" PRIu64, name_of(images[frames[i].image]),
			   frames[i].offset);
	}
	ck_assert_int_eq(stack_tree_add(t, frames, nr, mark, n), 0);
	if (strncmp(context, "cgroup=", 7) != 0)
		words_add(want, buf_str(&text), n);
	buf_fini(&text);
}

static const char *const contexts[] = { "comm=cc1", "", "comm=make\ncgroup=/b\n",
					"comm=make\n", "cgroup=/a" };

/* A flush of stacks, and of a stream without samples; what each is goes to want. */
static int flush_stacks(struct store *s, uint64_t seq, uint64_t from_ns, uint64_t seed,
			struct words *want)
{
	const struct image_desc *const *images = orders[seq % 2];
	struct flush_stream stream = test_stream;
	const struct flush_loss loss = { 0, LOSS_LOST, "ring_lost", 3 };
	struct flush_tree tree[NR(contexts)];
	struct flush_stacks stacks = { .streams = { &stream, 1, &loss, 1 },
				       .trees = tree,
				       .nr_trees = NR(tree),
				       .images = images,
				       .nr_images = 3 };
	const struct flush f = { .seq = seq,
				 .from_ns = from_ns,
				 .to_ns = from_ns + SEC,
				 .duration_ns = SEC,
				 .streams = &test_stream,
				 .nr_streams = 1,
				 .stacks = &stacks };
	int err;

	stream.received = 3;
	for (size_t i = 0; i < NR(tree); i++) {
		struct stack_tree *t = stack_tree_new(STACK_MAX_NODES);

		for (int k = 0; k < 5; k++)
			add_random(&seed, images, contexts[i], t, want);
		tree[i] = (struct flush_tree){ 0, contexts[i], t };
		if (i + 1 < NR(tree)) /* the last has its stacks again */
			stream.received += stack_tree_total(t);
	}
	err = store_flush(s, &f);
	for (size_t i = 0; i < NR(tree); i++)
		stack_tree_free((struct stack_tree *)tree[i].tree);
	return err;
}

/* Epochs of an hour each, of which each has two flushes. */
static void add_hours(struct store *s, int nr, uint64_t seed, struct words *want)
{
	for (int i = 0; i < 2 * nr; i++) {
		const uint64_t now_ns = DAY + i / 2 * 3600 * SEC + i % 2 * SEC;

		if (i % 2 == 0)
			ck_assert_int_eq(store_epoch(s, now_ns, 1, NULL), 0);
		ck_assert_int_eq(flush_stacks(s, i + 1, now_ns, seed + i + 1, want), 0);
	}
}

static void check_stored(struct db *db, const struct words *want, uint64_t nr_flushes)
{
	struct words *got = stored(db, NULL);
	struct query_streams streams;
	struct query_losses losses;
	struct query_epochs e;

	ck_assert_int_eq(db_check(db), 0);
	ck_assert(same_words(want, got));
	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_int_eq(query_streams_of(db, TALLY_STACKS, &e, NULL, &streams), 0);
	ck_assert_int_eq(query_losses_of(db, TALLY_STACKS, &e, &losses), 0);
	ck_assert_uint_eq(streams.nr, 1);
	ck_assert_uint_eq(streams.stream[0].stored, want->total);
	ck_assert_uint_eq(streams.stream[0].received, want->total + 3 * nr_flushes);
	ck_assert_uint_eq(losses.nr, 1);
	ck_assert_uint_eq(losses.loss[0].n, 3 * nr_flushes);
	ck_assert_str_eq(losses.loss[0].name, "ring_lost");
	query_streams_fini(&streams);
	query_losses_fini(&losses);
	query_epochs_fini(&e);
	free(got);
}

START_TEST(stacks_come_back_as_they_were_sampled)
{
	uint64_t seed = unit_seed();
	struct words *want = calloc(1, sizeof(*want));
	struct words *again = calloc(1, sizeof(*again));
	struct query_streams streams;
	struct query_epochs e;
	struct dbtest t;
	struct store *s;
	struct db *db;

	db = dbtest_make(&t, &s);
	add_hours(s, 3, seed, want);
	check_stored(db, want, 6);
	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_int_eq(query_streams(db, &e, NULL, &streams), 0);
	ck_assert_uint_eq(streams.nr, 1);
	ck_assert_uint_eq(streams.stream[0].received, 0); /* that is another stream's */
	query_streams_fini(&streams);
	query_epochs_fini(&e);
	/* A flush that comes again changes nothing. */
	ck_assert_int_eq(flush_stacks(s, 6, DAY, seed, again), 0);
	check_stored(db, want, 6);
	ck_assert_int_eq(store_end(s, 2 * DAY), 0);
	db_close(db);
	free(want);
	free(again);
	dbtest_fini(&t);
}
END_TEST

/* A flush that has one stack of each of nr commands. */
static int flush_commands(struct store *s, uint64_t seq, uint64_t from_ns, size_t nr)
{
	const struct stack_frame frame = { 0, 16 };
	const struct flush_stream stream = { .desc = test_stream.desc, .received = nr };
	struct flush_tree *tree = calloc(nr, sizeof(*tree));
	struct flush_stacks stacks = { .streams = { &stream, 1, NULL, 0 },
				       .trees = tree,
				       .nr_trees = nr,
				       .images = orders[0],
				       .nr_images = 3 };
	const struct flush f = { .seq = seq,
				 .from_ns = from_ns,
				 .to_ns = from_ns + SEC,
				 .duration_ns = SEC,
				 .stacks = &stacks };
	char context[32];
	int err;

	for (size_t i = 0; i < nr; i++) {
		struct stack_tree *t = stack_tree_new(STACK_MAX_NODES);

		snprintf(context, sizeof(context), "comm=%zu", i);
		ck_assert_int_eq(stack_tree_add(t, &frame, 1, STACK_ENDED, 1), 0);
		tree[i] = (struct flush_tree){ 0, strdup(context), t };
	}
	err = store_flush(s, &f);
	for (size_t i = 0; i < nr; i++) {
		free((char *)tree[i].context);
		stack_tree_free((struct stack_tree *)tree[i].tree);
	}
	free(tree);
	return err;
}

/* More commands than a roll-up lists at a time. */
START_TEST(the_stacks_of_many_commands_are_rolled_up)
{
	const struct retain_policy hours = { .hourly_ns = DAY };
	struct query_epochs e;
	struct dbtest t;
	struct store *s;
	struct db *db;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	ck_assert_int_eq(store_begin(db, &test_platform, DAY, &s), 0);
	for (uint64_t hour = 0; hour < 2; hour++) {
		ck_assert_int_eq(store_epoch(s, DAY + hour * 3600 * SEC, 1, NULL), 0);
		ck_assert_int_eq(
			flush_commands(s, hour + 1, DAY + hour * 3600 * SEC, 150), 0);
	}
	ck_assert_int_eq(store_end(s, 2 * DAY), 0);
	dbtest_retain(db, &hours, 9 * DAY);
	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_uint_eq(e.nr, 1);
	query_epochs_fini(&e);
	ck_assert_int_eq(db_check(db), 0);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static const struct {
	struct query_selection sel;
	const char *context; /* of all rows; NULL: any */
	const char *leaf;
	bool none;
} selections[] = {
	{ { .context[CONTEXT_COMM] = "cc1" }, "comm=cc1", NULL, false },
	{ { .context = { "make", "/b" } }, "comm=make\ncgroup=/b\n", NULL, false },
	{ { .context[CONTEXT_CGROUP] = "/b" }, "comm=make\ncgroup=/b\n", NULL, false },
	{ { .context = { "make", "/a" } }, NULL, NULL, true },
	{ { .context[CONTEXT_CGROUP] = "/a" }, "cgroup=/a", NULL, false },
	{ { .image = "other.so" }, NULL, "/usr/lib/other.so", false },
	{ { .event = "cpu-clock" }, NULL, NULL, false },
	{ { .event = "cycles" }, NULL, NULL, true },
	{ { .context[CONTEXT_COMM] = "ld" }, NULL, NULL, true },
};

START_TEST(a_selection_leaves_out_the_rest)
{
	struct words *all = calloc(1, sizeof(*all)), *got;
	struct dbtest t;
	struct store *s;
	struct db *db;

	db = dbtest_make(&t, &s);
	add_hours(s, 2, 1, all);
	got = stored(db, &selections[_i].sel);
	ck_assert_int_eq(!got->nr, selections[_i].none);
	for (size_t i = 0; i < got->nr; i++) {
		const char *context = selections[_i].context;
		const char *leaf = strchr(strchr(got->row[i].text, ' ') + 1, ' ') + 1;

		if (context)
			ck_assert_int_eq(
				strncmp(got->row[i].text, context, strlen(context)), 0);
		if (selections[_i].leaf)
			ck_assert_int_eq(strncmp(leaf, selections[_i].leaf,
						 strlen(selections[_i].leaf)),
					 0);
	}
	free(got);
	free(all);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* A run a week after one of some hours. */
static struct store *begin_after_hours(struct db *db, int nr, uint64_t seed,
				       struct words *want)
{
	struct store *s;

	ck_assert_int_eq(store_begin(db, &test_platform, DAY, &s), 0);
	add_hours(s, nr, seed, want);
	ck_assert_int_eq(store_end(s, DAY + nr * 3600 * SEC), 0);
	ck_assert_int_eq(store_begin(db, &test_platform, 9 * DAY, &s), 0);
	ck_assert_int_eq(store_epoch(s, 9 * DAY, 1, NULL), 0);
	return s;
}

START_TEST(a_day_has_the_stacks_of_its_hours)
{
	const struct retain_policy hours = { .hourly_ns = DAY },
				   days = { .daily_ns = DAY };
	struct words *want = calloc(1, sizeof(*want)), *none;
	struct query_epochs e;
	struct dbtest t;
	struct store *s;
	int64_t left;
	struct db *db;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	s = begin_after_hours(db, 5, unit_seed(), want);
	dbtest_retain(db, &hours, 9 * DAY);
	check_stored(db, want, 10);
	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_uint_eq(e.nr, 2);
	query_epochs_fini(&e);

	/* Removed, it leaves nothing behind: no image and no context either. */
	dbtest_retain(db, &days, 9 * DAY);
	none = stored(db, NULL);
	ck_assert_uint_eq(none->nr, 0);
	ck_assert_int_eq(sql_get(db_handle(db), &left,
				 "SELECT (SELECT count(*) FROM stack_image)"
				 " + (SELECT count(*) FROM tally)"
				 " + (SELECT count(*) FROM loss)"
				 " + (SELECT count(*) FROM image WHERE id != 0)"
				 " + (SELECT count(*) FROM context WHERE id != 0)",
				 ""),
			 0);
	ck_assert_int_eq(left, 0);
	ck_assert_int_eq(db_check(db), 0);
	free(none);
	free(want);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(an_image_that_only_stacks_name_is_kept)
{
	const struct retain_policy policy = { .daily_ns = 100 * DAY };
	struct words *want = calloc(1, sizeof(*want));
	struct dbtest t;
	struct store *s;
	struct db *db;

	db = dbtest_make(&t, &s);
	ck_assert_int_eq(dbtest_flush(s, 99, 0, 1), 0);
	add_hours(s, 2, 3, want);
	/* The first epoch is old: what was removed is swept up after. */
	dbtest_retain(db, &policy, 101 * DAY - SEC);
	check_stored(db, want, 4);
	free(want);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* In the copy, ids are others: other images were there first. */
START_TEST(a_copy_has_the_same_stacks)
{
	struct words *want = calloc(1, sizeof(*want)), *got;
	struct query_epochs e;
	char path[120];
	struct dbtest t;
	struct store *s;
	struct db *db, *copy;

	dbtest_init(&t);
	snprintf(path, sizeof(path), "%s/copy.db", t.dir);
	db = dbtest_open(&t, DB_COLLECT);
	s = dbtest_begin(db);
	ck_assert_int_eq(dbtest_flush(s, 99, 0, 1), 0);
	add_hours(s, 2, unit_seed(), want);
	ck_assert_int_eq(store_end(s, 2 * DAY), 0);
	ck_assert_int_eq(query_epochs(db, "2..3", &e), 0);
	ck_assert_int_eq(export_epochs(db, &e, path, false), 0);
	ck_assert_int_eq(db_open(path, DB_READ, &copy), 0);
	check_stored(copy, want, 4);
	db_close(copy);
	ck_assert_int_eq(join_open("join", &(struct join_part){ t.path, &e }, 1, &copy),
			 0);
	got = stored(copy, NULL);
	ck_assert(same_words(want, got));
	db_close(copy);
	query_epochs_fini(&e);
	free(got);
	free(want);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(what_does_not_add_up_is_refused)
{
	const struct image_desc *const images[] = { &test_image };
	const struct stack_frame frame = { 0, 1 };
	struct stack_tree *tree = stack_tree_new(STACK_MAX_NODES);
	struct flush_stream stream = test_stream;
	struct flush_tree ft = { _i == 2, "comm=a", tree };
	struct flush_loss loss = { _i == 3, LOSS_LOST, "ring_lost", 1 };
	const struct flush_stacks stacks = {
		{ &stream, 1, &loss, 1 }, &ft, 1, images, 1
	};
	const struct flush f = { .seq = 1, .stacks = &stacks };
	struct dbtest t;
	struct store *s;
	struct db *db;

	db = dbtest_make(&t, &s);
	ck_assert_int_eq(stack_tree_add(tree, &frame, 1, STACK_ENDED, 4), 0);
	stream.received = _i == 1 ? 4 : 5;
	ck_assert_int_eq(store_flush(s, &f), _i ? -EINVAL : 0);
	store_free(s);
	db_close(db);
	stack_tree_free(tree);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_damaged_tree_is_told_and_kept)
{
	const struct retain_policy hours = { .hourly_ns = DAY };
	struct words *want = calloc(1, sizeof(*want)), got = { .nr = 0 };
	struct query_selection sel = { 0 };
	struct query_epochs e;
	struct dbtest t;
	struct store *s;
	struct db *db;
	int64_t left;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	s = begin_after_hours(db, 3, 7, want);
	ck_assert_int_eq(sql_exec(db_handle(db), "UPDATE stack SET tree = x'0099'"
						 " WHERE epoch = 2 AND context = 0"),
			 0);
	ck_assert_int_eq(db_check(db), -CPI_ECORRUPT);
	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	sel.epochs = &e;
	ck_assert_int_eq(query_stacks(db, &sel, add_row, &got), -CPI_ECORRUPT);
	query_epochs_fini(&e);
	dbtest_retain(db, &hours, 9 * DAY);
	ck_assert_int_eq(sql_get(db_handle(db), &left,
				 "SELECT sum(k.total) = sum(t.stored) AND count(*) = 1"
				 " FROM stack k JOIN tally t ON t.epoch = k.epoch"
				 " WHERE t.kind = 1 AND k.epoch = 2",
				 ""),
			 0);
	ck_assert_int_eq(left, 1);
	free(want);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("stacks");
	TCase *tc = tcase_create("stacks");

	tcase_set_timeout(tc, 600);
	tcase_add_test(tc, stacks_come_back_as_they_were_sampled);
	tcase_add_loop_test(tc, a_selection_leaves_out_the_rest, 0, NR(selections));
	tcase_add_test(tc, a_day_has_the_stacks_of_its_hours);
	tcase_add_test(tc, the_stacks_of_many_commands_are_rolled_up);
	tcase_add_test(tc, an_image_that_only_stacks_name_is_kept);
	tcase_add_test(tc, a_copy_has_the_same_stacks);
	tcase_add_loop_test(tc, what_does_not_add_up_is_refused, 0, 4);
	tcase_add_test(tc, a_damaged_tree_is_told_and_kept);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
