/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "db/core/sql.h"
#include "db/move/export.h"
#include "db/move/join.h"
#include "db/query/window_query.h"
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

/* The oracle: windows by what they are in words. */
struct words {
	struct {
		char text[128];
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
	return a->nr == b->nr && a->total == b->total;
}

static void put_jump(char *text, size_t size, const struct window_jump *jump,
		     const char *image)
{
	const size_t used = strlen(text);

	snprintf(text + used, size - used, " %" PRIu64 ">%s:%" PRIu64, jump->from,
		 image, jump->to);
}

static int add_row(void *ctx, const struct query_windows *row)
{
	char text[128];
	size_t nr;
	const struct window *w = windows_sorted(row->windows, &nr);

	for (size_t i = 0; i < nr; i++) {
		snprintf(text, sizeof(text), "%s:%" PRIu64, row->image->desc.name,
			 w[i].start);
		for (uint32_t k = 0; k < w[i].nr_jumps; k++) {
			ck_assert_uint_lt(w[i].jump[k].image, row->nr_images);
			put_jump(text, sizeof(text), &w[i].jump[k],
				 row->images[w[i].jump[k].image].desc.name);
		}
		words_add(ctx, text, w[i].n);
	}
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
	ck_assert_int_eq(query_windows(db, &sel, add_row, w), 0);
	query_epochs_fini(&e);
	return w;
}

static const char *name_of(const struct image_desc *image)
{
	return image ? image->name : "[unknown]";
}

static void add_random(uint64_t *seed, const struct image_desc *const *images,
		       const struct image_desc *start, struct windows *set,
		       struct words *want)
{
	struct window_jump jump[2];
	struct window w = { .start = unit_random(seed) % 2,
			    .jump = jump,
			    .nr_jumps = unit_random(seed) % 3,
			    .nr_insns = 3,
			    .n = 1 + unit_random(seed) % 5 };
	char text[128];

	snprintf(text, sizeof(text), "%s:%" PRIu64, start->name, w.start);
	w.end = w.start;
	for (uint32_t i = 0; i < w.nr_jumps; i++) {
		jump[i].from = w.end + unit_random(seed) % 2;
		jump[i].to = w.end = unit_random(seed) % 2;
		jump[i].image = unit_random(seed) % 3;
		put_jump(text, sizeof(text), &jump[i], name_of(images[jump[i].image]));
	}
	ck_assert_int_eq(windows_add(set, &w), 0);
	if (want)
		words_add(want, text, w.n);
}

/* ---- accesses ---- */

/* One access in each image of a flush, whose offset tells the image. */
static uint64_t offset_in(const char *name)
{
	return 0x1000 + strlen(name);
}

static struct accesses *make_accesses(const struct image_desc *const *images)
{
	struct accesses *set = accesses_new(ACCESSES_MAX_INSNS);
	struct access a[3];

	for (uint32_t i = 0; i < NR(a); i++)
		a[i] = (struct access){ .offset = offset_in(name_of(images[i])),
					.image = i,
					.address = 64 * i,
					.known = true };
	ck_assert_int_eq(accesses_add(set, a, NR(a), 1), 0);
	return set;
}

static int add_up_accesses(void *ctx, const struct query_windows *row)
{
	size_t nr;
	const struct accesses_insn *const *insn = accesses_insns(row->accesses, &nr);

	ck_assert_uint_eq(nr, 3);
	for (size_t i = 0; i < nr; i++) {
		ck_assert_uint_lt(insn[i]->image, row->nr_images);
		ck_assert_uint_eq(
			insn[i]->offset,
			offset_in(row->images[insn[i]->image].id
					  ? row->images[insn[i]->image].desc.name
					  : name_of(NULL)));
	}
	*(uint64_t *)ctx += accesses_seen(row->accesses);
	return 0;
}

static uint64_t accesses_of(struct db *db)
{
	struct query_selection sel = { 0 };
	struct query_epochs e;
	uint64_t n = 0;

	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	sel.epochs = &e;
	ck_assert_int_eq(query_accesses(db, &sel, add_up_accesses, &n), 0);
	query_epochs_fini(&e);
	return n;
}

/* Sets of everybody's, and of a context, whose windows are not counted again. */
static const struct {
	const struct image_desc *start;
	const char *context;
} sets[] = {
	{ &test_image, "" },
	{ &other_image, "" },
	{ &test_image, "comm=cc1" },
};

static int flush_windows(struct store *s, uint64_t seq, uint64_t from_ns, uint64_t seed,
			 struct words *want)
{
	const struct image_desc *const *images = orders[seq % 2];
	struct flush_stream stream = test_stream;
	const struct flush_loss loss = { 0, LOSS_LOST, "no_room", 3 };
	struct flush_window_set set[NR(sets)];
	struct edges *edges = edges_new();
	const struct flush_edges flushed = { &test_image, NULL, 0, EDGES_BRANCH,
					     edges };
	struct flush_windows windows = {
		{ &stream, 1, &loss, 1 }, set, NR(set), &flushed, 1, images, 3
	};
	const struct flush f = { .seq = seq,
				 .from_ns = from_ns,
				 .to_ns = from_ns + SEC,
				 .duration_ns = SEC,
				 .streams = &test_stream,
				 .nr_streams = 1,
				 .windows = &windows };
	int err;

	stream.desc.event = "windows";
	stream.received = 3;
	ck_assert_int_eq(edges_add(edges, &(struct edge){ .from = 1, .n = 7 }), 0);
	for (size_t i = 0; i < NR(set); i++) {
		struct windows *w = windows_new(WINDOWS_LIMIT, seq);

		for (int k = 0; k < 5; k++)
			add_random(&seed, images, sets[i].start, w,
				   *sets[i].context ? NULL : want);
		set[i] = (struct flush_window_set){ sets[i].start, 0, sets[i].context,
						    w, make_accesses(images) };
		if (!*sets[i].context)
			stream.received += windows_seen(w);
	}
	err = store_flush(s, &f);
	for (size_t i = 0; i < NR(set); i++) {
		windows_free(set[i].windows);
		accesses_free(set[i].accesses);
	}
	edges_free(edges);
	return err;
}

/* Epochs of an hour each, of which each has two flushes. */
static void add_hours(struct store *s, int nr, uint64_t seed, struct words *want)
{
	for (int i = 0; i < 2 * nr; i++) {
		const uint64_t now_ns = DAY + i / 2 * 3600 * SEC + i % 2 * SEC;

		if (i % 2 == 0)
			ck_assert_int_eq(store_epoch(s, now_ns, 1, NULL), 0);
		ck_assert_int_eq(flush_windows(s, i + 1, now_ns, seed + i + 1, want),
				 0);
	}
}

static void check_stored(struct db *db, const struct words *want, uint64_t nr_flushes)
{
	struct words *got = stored(db, NULL);
	struct query_streams streams;
	struct query_losses losses;
	struct query_epochs e;
	int64_t edges;

	ck_assert_int_eq(db_check(db), 0);
	ck_assert(same_words(want, got));
	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_int_eq(query_streams_of(db, TALLY_WINDOWS, &e, NULL, &streams), 0);
	ck_assert_int_eq(query_losses_of(db, TALLY_WINDOWS, &e, &losses), 0);
	ck_assert_uint_eq(streams.nr, 1);
	ck_assert_str_eq(streams.stream[0].desc.event, "windows");
	ck_assert_uint_eq(streams.stream[0].stored, want->total);
	ck_assert_uint_eq(streams.stream[0].received, want->total + 3 * nr_flushes);
	ck_assert_uint_eq(losses.nr, 1);
	ck_assert_uint_eq(losses.loss[0].n, 3 * nr_flushes);
	ck_assert_int_eq(
		sql_get(db_handle(db), &edges, "SELECT sum(total) FROM edge", ""), 0);
	ck_assert_uint_eq(edges, 7 * nr_flushes);
	ck_assert_uint_eq(accesses_of(db), 2 * 3 * nr_flushes);
	query_streams_fini(&streams);
	query_losses_fini(&losses);
	query_epochs_fini(&e);
	free(got);
}

START_TEST(windows_come_back_as_they_were_followed)
{
	const uint64_t seed = unit_seed();
	struct words *want = calloc(1, sizeof(*want));
	struct words *again = calloc(1, sizeof(*again));
	struct dbtest t;
	struct store *s;
	struct db *db;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	s = dbtest_begin(db);
	add_hours(s, 3, seed, want);
	check_stored(db, want, 6);
	/* A flush that comes again changes nothing. */
	ck_assert_int_eq(flush_windows(s, 6, DAY, seed, again), 0);
	check_stored(db, want, 6);
	ck_assert_int_eq(store_end(s, 2 * DAY), 0);
	db_close(db);
	free(want);
	free(again);
	dbtest_fini(&t);
}
END_TEST

static const struct {
	struct query_selection sel;
	const char *start; /* of all rows; NULL: any */
	bool none;
} selections[] = {
	{ { .context[CONTEXT_COMM] = "cc1" }, "/usr/bin/test", false },
	{ { .context[CONTEXT_COMM] = "ld" }, NULL, true },
	{ { .image = "other.so" }, "/usr/lib/other.so", false },
	{ { .event = "windows" }, NULL, false },
	{ { .event = "cycles" }, NULL, true },
};

START_TEST(a_selection_leaves_out_the_rest)
{
	const char *start = selections[_i].start;
	struct words *all = calloc(1, sizeof(*all)), *got;
	struct dbtest t;
	struct store *s;
	struct db *db;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	s = dbtest_begin(db);
	add_hours(s, 2, 1, all);
	got = stored(db, &selections[_i].sel);
	ck_assert_int_eq(!got->nr, selections[_i].none);
	for (size_t i = 0; start && i < got->nr; i++)
		ck_assert_int_eq(strncmp(got->row[i].text, start, strlen(start)), 0);
	free(got);
	free(all);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_day_has_the_windows_of_its_hours)
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
	ck_assert_int_eq(store_begin(db, &test_platform, DAY, &s), 0);
	add_hours(s, 5, unit_seed(), want);
	ck_assert_int_eq(store_end(s, DAY + 5 * 3600 * SEC), 0);
	ck_assert_int_eq(store_begin(db, &test_platform, 9 * DAY, &s), 0);
	ck_assert_int_eq(store_epoch(s, 9 * DAY, 1, NULL), 0);
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
				 " + (SELECT count(*) FROM access_set)"
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

/* In the copy, ids are others: other images were there first. */
START_TEST(a_copy_has_the_same_windows)
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

/* A stream that is not there; a sum that is another; edges, losses without a stream. */
START_TEST(what_does_not_add_up_is_refused)
{
	struct windows *w = windows_new(WINDOWS_LIMIT, 1);
	struct edges *edges = edges_new();
	struct flush_stream stream = test_stream;
	const struct flush_window_set set = { &test_image, _i == 1, "", w, NULL };
	const struct flush_edges flushed = { &test_image, &test_image, _i == 2,
					     EDGES_RUN, edges };
	const struct flush_loss loss = { _i == 3, LOSS_LOST, "no_room", 1 };
	const struct flush_windows windows = {
		{ &stream, _i != 4, &loss, 1 }, &set, 1, &flushed, 1, NULL, 0
	};
	const struct flush f = { .seq = 1, .windows = &windows };
	struct dbtest t;
	struct store *s;
	struct db *db;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	s = dbtest_begin(db);
	ck_assert_int_eq(windows_add(w, &(struct window){ .nr_insns = 1, .n = 1 }), 0);
	ck_assert_int_eq(edges_add(edges, &(struct edge){ .n = 1 }), 0);
	stream.received = 2 + (_i == 0);
	ck_assert_int_eq(store_flush(s, &f), _i < 5 ? -EINVAL : 0);
	store_free(s);
	db_close(db);
	windows_free(w);
	edges_free(edges);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("window_rows");
	TCase *t = tcase_create("window_rows");

	tcase_add_test(t, windows_come_back_as_they_were_followed);
	tcase_add_loop_test(t, a_selection_leaves_out_the_rest, 0, NR(selections));
	tcase_add_test(t, a_day_has_the_windows_of_its_hours);
	tcase_add_test(t, a_copy_has_the_same_windows);
	tcase_add_loop_test(t, what_does_not_add_up_is_refused, 0, 6);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
