/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>
#include <math.h>

#include "db/move/export.h"
#include "db/profile/edges.h"
#include "db/profile/records.h"
#include "db/query/spread.h"
#include "db/retain/rollup.h"
#include "t/unit/retain_make.h"

/* What a cell is: samples, one of hardware's records' series, or edges. */
enum { CELL_COUNT, CELL_SERIES, CELL_EDGE = CELL_SERIES + RECORDS_NR_SERIES };

/* A number of the database, and where it belongs. */
struct cell {
	int64_t epoch, image, stream, what;
	uint64_t offset, value, n, taken;
};

struct cells {
	struct cell *cell;
	size_t nr, cap;
	int64_t epoch; /* that is being read */
};

static void add_cell(struct cells *list, struct cell c)
{
	if (list->nr == list->cap) {
		list->cap = list->cap ? 2 * list->cap : 1024;
		list->cell = reallocarray(list->cell, list->cap, sizeof(*list->cell));
		ck_assert_ptr_nonnull(list->cell);
	}
	list->cell[list->nr++] = c;
}

static void add_records(struct cells *list, struct cell c, const struct records *r)
{
	struct records_row *row = records_sorted(r);

	for (size_t i = 0; i < records_nr(r); i++) {
		for (uint32_t k = 0; k < row[i].nr; k++) {
			c.what = CELL_SERIES + row[i].cell[k].series;
			c.offset = row[i].offset;
			c.value = row[i].cell[k].value;
			c.n = row[i].cell[k].n;
			add_cell(list, c);
		}
	}
	free(row);
}

static int add_cells(void *ctx, const struct query_profile *row)
{
	struct cells *list = ctx;
	struct cell cell = { .epoch = list->epoch,
			     .image = row->image.id,
			     .stream = row->stream };
	size_t nr;
	const struct count *c = profile_sorted(row->profile, &nr);

	if (profile_records(row->profile))
		add_records(list, cell, profile_records(row->profile));
	for (size_t i = 0; i < nr; i++) {
		cell.offset = c[i].offset;
		cell.n = c[i].n;
		cell.taken = c[i].taken;
		add_cell(list, cell);
	}
	return 0;
}

/* Each edge's four numbers, in cells of two. */
static int add_edges(void *ctx, const struct query_edges *row)
{
	struct cells *list = ctx;
	size_t nr;
	const struct edge *e = edges_sorted(row->edges, &nr);

	for (size_t i = 0; i < nr; i++) {
		const int64_t what =
			CELL_EDGE + 2 * (row->target.id * EDGES_NR_KINDS + row->kind);
		struct cell c = {
			list->epoch, row->image.id, row->stream, what,
			e[i].from,   e[i].to,       e[i].n,      e[i].cycles
		};

		add_cell(list, c);
		c.what++;
		c.n = e[i].nr_timed;
		c.taken = e[i].mispredicted;
		add_cell(list, c);
	}
	return 0;
}

static struct cells read_cells(struct db *db, const struct query_epochs *all)
{
	struct cells list = { 0 };

	for (size_t i = 0; i < all->nr; i++) {
		struct query_epochs one = { &all->epoch[i], 1 };
		struct query_selection sel = { .epochs = &one };

		list.epoch = all->epoch[i].id;
		ck_assert_int_eq(query_profiles(db, &sel, add_cells, &list, NULL), 0);
		ck_assert_int_eq(query_edges(db, &sel, 0, add_edges, &list), 0);
	}
	return list;
}

static int compare_cells(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	if (x->epoch != y->epoch)
		return x->epoch < y->epoch ? -1 : 1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Sorts, and adds up what stands at one place. */
static void merge_cells(struct cells *list)
{
	size_t nr = 0;

	qsort(list->cell, list->nr, sizeof(*list->cell), compare_cells);
	for (size_t i = 0; i < list->nr; i++) {
		if (nr && !compare_cells(&list->cell[nr - 1], &list->cell[i])) {
			list->cell[nr - 1].n += list->cell[i].n;
			list->cell[nr - 1].taken += list->cell[i].taken;
		} else {
			list->cell[nr++] = list->cell[i];
		}
	}
	list->nr = nr;
}

static bool rolls(const struct query_epoch *e, uint64_t now_ns)
{
	return !e->open && !*e->label && (e->from_ns / DAY + 1) * DAY <= now_ns - DAY;
}

/* The first epoch that is of the same run and day, by the definition. */
static int64_t target_of(struct db *db, const struct query_epochs *all, size_t i,
			 uint64_t now_ns)
{
	static const char run[] = "SELECT run FROM epoch WHERE id = ?1";
	const struct query_epoch *e = &all->epoch[i];

	for (size_t k = 0; rolls(e, now_ns) && k < i; k++) {
		const struct query_epoch *first = &all->epoch[k];

		if (rolls(first, now_ns) && first->from_ns / DAY == e->from_ns / DAY &&
		    number(db, run, first->id) == number(db, run, e->id))
			return first->id;
	}
	return e->id;
}

/* The procedure around offset, as spread.h says, by looking at each byte. */
static void range_of(struct db *db, int64_t image, uint64_t offset, uint64_t range[2])
{
	static const uint64_t symbols[][2] = { { 0x10, 0x30 }, { 0x1800, 0x2800 } };
	const bool has_symbols =
		number(db, "SELECT count(*) FROM symbol WHERE image = ?1", image) > 0;

	for (size_t i = 0; has_symbols && i < NR(symbols); i++) {
		if (offset >= symbols[i][0] && offset < symbols[i][1]) {
			memcpy(range, symbols[i], sizeof(symbols[i]));
			return;
		}
	}
	range[0] = offset & ~(uint64_t)(ROLLUP_SPREAD_BLOCK - 1);
	range[1] = range[0] + ROLLUP_SPREAD_BLOCK;
	for (size_t i = 0; has_symbols && i < NR(symbols); i++) {
		if (symbols[i][1] <= offset && symbols[i][1] > range[0])
			range[0] = symbols[i][1];
		if (symbols[i][0] > offset && symbols[i][0] < range[1])
			range[1] = symbols[i][0];
	}
}

struct oracle {
	struct db *db;
	struct query_epochs before;
	int64_t *target;
	struct cells cells;  /* of before */
	struct cells counts; /* those of them that are samples, with their time */
	int64_t idle;
	size_t nr_spreads, nr_parts;
};

/* Samples, and in place of their value their time, which is asked for often. */
static void keep_counts(struct oracle *o)
{
	for (size_t i = 0; i < o->cells.nr; i++) {
		struct cell c = o->cells.cell[i];

		if (c.what != CELL_COUNT)
			continue;
		if (c.image != o->idle)
			c.value = c.n * number(o->db,
					       "SELECT mean_period FROM stream"
					       " WHERE id = ?1",
					       c.stream);
		add_cell(&o->counts, c);
	}
}

/* An epoch's time in a range of an image; all of it with image 0. */
static double time_in(const struct oracle *o, int64_t epoch, int64_t image,
		      const uint64_t range[2])
{
	double time = 0;

	for (size_t i = 0; i < o->counts.nr; i++) {
		const struct cell *c = &o->counts.cell[i];

		if (c->epoch == epoch &&
		    (!image || (c->image == image && c->offset >= range[0] &&
				c->offset < range[1])))
			time += (double)c->value;
	}
	return time;
}

static int check_part(void *ctx, const struct query_part *row)
{
	struct oracle *o = ctx;
	bool found = false;

	o->nr_parts++;
	for (size_t i = 0; i < o->before.nr; i++) {
		if (o->before.epoch[i].from_ns != row->from_ns)
			continue;
		found = true;
		ck_assert_int_eq(o->target[i], row->epoch);
		ck_assert(time_in(o, o->before.epoch[i].id, 0, NULL) == row->time);
	}
	ck_assert(found);
	return 0;
}

static int check_spread(void *ctx, const struct query_spread *row)
{
	struct oracle *o = ctx;
	uint64_t range[2], n = 0;
	double sum = 0, squares = 0, cross = 0;

	o->nr_spreads++;
	range_of(o->db, row->image, row->start, range);
	ck_assert_uint_eq(range[0], row->start);
	ck_assert_uint_eq(range[1] - range[0], row->size);
	for (size_t i = 0; i < o->before.nr; i++) {
		double x, all;

		if (o->target[i] != row->epoch)
			continue;
		x = time_in(o, o->before.epoch[i].id, row->image, range);
		all = time_in(o, o->before.epoch[i].id, 0, NULL);
		n++;
		sum += x;
		squares += x * x;
		cross += x * all;
	}
	ck_assert_uint_eq(row->n, n);
	ck_assert(fabs(row->sum - sum) <= 1e-9 * sum);
	ck_assert(fabs(row->squares - squares) <= 1e-9 * squares);
	ck_assert(fabs(row->cross - cross) <= 1e-9 * cross);
	return 0;
}

static int64_t target_of_id(const struct oracle *o, int64_t epoch)
{
	for (size_t i = 0; i < o->before.nr; i++) {
		if (o->before.epoch[i].id == epoch)
			return o->target[i];
	}
	return 0;
}

/* All of a rolled up epoch's time. */
static double day_time(const struct oracle *o, int64_t target)
{
	double time = 0;

	for (size_t i = 0; i < o->before.nr; i++) {
		if (o->target[i] == target)
			time += time_in(o, o->before.epoch[i].id, 0, NULL);
	}
	return time;
}

/* Procedures that are hot, of all days. */
static size_t count_procedures(struct oracle *o)
{
	struct cells ranges = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < o->counts.nr; i++) {
		struct cell c = o->counts.cell[i];
		uint64_t range[2];

		c.n = c.value;
		c.value = 0;
		c.epoch = target_of_id(o, c.epoch);
		if (!c.n ||
		    !number(o->db, "SELECT count(*) FROM rolled WHERE epoch = ?1",
			    c.epoch))
			continue;
		range_of(o->db, c.image, c.offset, range);
		c.offset = range[0];
		c.stream = 0;
		add_cell(&ranges, c);
	}
	merge_cells(&ranges);
	for (size_t i = 0; i < ranges.nr; i++)
		nr += (double)ranges.cell[i].n >=
		      ROLLUP_SPREAD_LEAST * day_time(o, ranges.cell[i].epoch);
	free(ranges.cell);
	return nr;
}

/* Whether all kinds of cells are there. */
static void check_kinds(const struct cells *list)
{
	bool records = false, edges = false;

	for (size_t i = 0; i < list->nr; i++) {
		records |= list->cell[i].what >= CELL_SERIES + RECORDS_LATENCY &&
			   list->cell[i].what < CELL_EDGE;
		edges |= list->cell[i].what >= CELL_EDGE && list->cell[i].taken;
	}
	ck_assert(records && edges);
}

static void check_same(const struct cells *a, const struct cells *b)
{
	ck_assert_uint_eq(a->nr, b->nr);
	ck_assert_int_eq(memcmp(a->cell, b->cell, a->nr * sizeof(*a->cell)), 0);
}

#define MAX_IDS 64

/* What sql says of each id of a small table. */
static void read_ids(struct db *db, const char *sql, int64_t out[MAX_IDS])
{
	for (int64_t id = 0; id < MAX_IDS; id++) {
		if (sql_get(db_handle(db), &out[id], sql, "i", id))
			out[id] = -1;
	}
}

/* A copy numbers what it has as it came: images by name, streams by period. */
static void rename_cells(struct db *db, struct cells *list)
{
	int64_t image[MAX_IDS], stream[MAX_IDS];

	read_ids(db,
		 "SELECT CAST(substr(name, 14) AS INTEGER) FROM image WHERE id = ?1",
		 image);
	read_ids(db, "SELECT mean_period FROM stream WHERE id = ?1", stream);
	for (size_t i = 0; i < list->nr; i++) {
		struct cell *c = &list->cell[i];
		const int64_t edge = c->what - CELL_EDGE;

		ck_assert(c->image < MAX_IDS && c->stream < MAX_IDS);
		c->image = image[c->image];
		c->stream = stream[c->stream];
		if (edge >= 0)
			c->what =
				CELL_EDGE + edge % (2 * EDGES_NR_KINDS) +
				2 * EDGES_NR_KINDS * image[edge / (2 * EDGES_NR_KINDS)];
	}
	merge_cells(list);
}

START_TEST(a_copy_of_days_and_hours_has_all_of_them)
{
	const uint64_t first_seed = unit_seed();
	uint64_t seed = first_seed;
	struct cells want, got;
	struct query_epochs all, copied;
	struct dbtest t;
	char path[120];
	struct db *db, *copy;

	printf("SEED=%" PRIu64 "\n", first_seed);
	dbtest_init(&t);
	snprintf(path, sizeof(path), "%s/copy.db", t.dir);
	db = dbtest_open(&t, DB_COLLECT);
	ck_assert_int_eq(store_end(random_database(db, &seed, 2), START + 4 * DAY), 0);
	run_steps(db, &hours_only, START + 4 * DAY, NULL);
	ck_assert_int_eq(query_epochs(db, "all", &all), 0);
	want = read_cells(db, &all);
	check_kinds(&want);
	rename_cells(db, &want);
	ck_assert_int_eq(export_epochs(db, &all, path, false), 0);
	ck_assert_int_eq(db_open(path, DB_READ, &copy), 0);
	ck_assert_int_eq(db_check(copy), 0);
	ck_assert_int_eq(query_epochs(copy, "all", &copied), 0);
	got = read_cells(copy, &copied);
	rename_cells(copy, &got);
	check_same(&want, &got);
	query_epochs_fini(&all);
	query_epochs_fini(&copied);
	free(want.cell);
	free(got.cell);
	db_close(copy);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* Thirty hours of ten-minute flushes, in epochs of so many of them. */
static struct db *make_tens(struct dbtest *t, uint64_t seed, int per_epoch)
{
	struct store *s;
	struct db *db;

	dbtest_init(t);
	db = dbtest_open(t, DB_COLLECT);
	ck_assert_int_eq(sql_exec(db_handle(db), "PRAGMA synchronous = OFF"), 0);
	ck_assert_int_eq(store_begin(db, &test_platform, START, &s), 0);
	for (uint64_t i = 0; i < 30 * 6; i++) {
		const uint64_t now = START + i * HOUR / 6;

		if (i % per_epoch == 0)
			ck_assert_int_eq(store_epoch(s, now, 1, NULL), 0);
		random_flush(s, &seed, i + 1, now, HOUR / 6);
	}
	ck_assert_int_eq(store_end(s, START + 30 * HOUR), 0);
	return db;
}

/* What reports read, with the time of each epoch in place of its id. */
static uint64_t hash_epochs(struct db *db)
{
	static const char *const columns[][2] = {
		{ "profile", "image, stream, context, kind, total, counts" },
		{ "edge", "image, target, stream, context, kind, total, edges" },
		{ "comm", "comm, image, stream, n" },
		{ "loss", "kind, stream, class, name, n" },
		{ "tally",
		  "kind, stream, received, stored, not_delivered, enabled_ns" },
		{ "rolled", "event, r.from_ns, r.to_ns, time" },
		{ "spread", "event, image, start, size, n, sum, squares, cross" },
	};
	uint64_t hash =
		hash_table(db_handle(db),
			   "(SELECT from_ns, to_ns, open, label FROM epoch ORDER"
			   " BY from_ns)");

	for (size_t i = 0; i < NR(columns); i++) {
		char sql[256];

		snprintf(sql, sizeof(sql),
			 "(SELECT e.from_ns, %s FROM %s r JOIN epoch e ON e.id = "
			 "r.epoch ORDER BY 1, 2, 3, 4, 5)",
			 columns[i][1], columns[i][0]);
		hash = hash * 31 + hash_table(db_handle(db), sql);
	}
	return hash;
}

START_TEST(minutes_become_what_hours_would_have_been)
{
	const struct retain_policy hours = { .minutely_ns = 6 * HOUR },
				   days = { .minutely_ns = 6 * HOUR, .hourly_ns = DAY };
	const uint64_t now = START + 4 * DAY, seed = unit_seed();
	struct dbtest tens, hourly;
	struct db *a = make_tens(&tens, seed, 1), *b = make_tens(&hourly, seed, 6);
	struct retain_stats stats;

	printf("SEED=%" PRIu64 "\n", seed);
	ck_assert_uint_ne(hash_epochs(a), hash_epochs(b));
	run_steps(a, &hours, START + 7 * HOUR + 1, &stats);
	ck_assert_uint_eq(stats.nr_hours, 1); /* one is six hours old */
	run_steps(a, &hours, now, &stats);
	ck_assert_uint_eq(stats.nr_hours, 29);
	ck_assert_uint_eq(hash_epochs(a), hash_epochs(b));
	run_steps(a, &days, now, &stats);
	ck_assert_uint_eq(stats.nr_days, 2);
	run_steps(b, &days, now, &stats);
	ck_assert_uint_eq(stats.nr_hours, 0);
	ck_assert_int_gt(number(b, "SELECT count(*) FROM spread WHERE n = 24 * ?1", 1),
			 0);
	ck_assert_uint_eq(hash_epochs(a), hash_epochs(b));
	ck_assert_int_eq(db_check(a), 0);
	db_close(a);
	db_close(b);
	dbtest_fini(&tens);
	dbtest_fini(&hourly);
}
END_TEST

/*
 * Ten-minute flushes in epochs of ten minutes; the fourth begins a second late, and the
 * second 100 ns: neighbours convert one moment to the time of day, each by itself.
 */
static struct store *make_late(struct db *db, uint64_t *seed)
{
	struct store *s;

	ck_assert_int_eq(store_begin(db, &test_platform, START, &s), 0);
	for (uint64_t i = 0; i < 6; i++) {
		const uint64_t late = i == 3 ? SEC : i == 1 ? 100 : 0;
		const uint64_t now = START + i * HOUR / 6 + late;

		ck_assert_int_eq(store_epoch(s, now, 1, NULL), 0);
		random_flush(s, seed, i + 1, now, HOUR / 6 - late);
	}
	return s;
}

START_TEST(flushes_of_a_rolled_up_epoch_are_merged_and_still_found)
{
	static const char rows[] =
		"SELECT count(*) = 2 AND max(seq) = 6 AND min(seq) = 3"
		" AND sum(merged + 1) = 6 AND sum(to_ns - from_ns) = ?1 FROM flush";
	static const char received[] = "SELECT sum(received) FROM flush WHERE ?1";
	const struct retain_policy hours = { .minutely_ns = 6 * HOUR };
	uint64_t seed = unit_seed(), again;
	struct retain_stats stats;
	struct dbtest t;
	struct store *s;
	struct db *db;
	int64_t nr, sum;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	s = make_late(db, &seed);
	sum = number(db, received, 1);
	ck_assert_int_eq(store_epoch(s, START + HOUR, 1, NULL), 0);
	run_steps(db, &hours, START + 2 * DAY, &stats);
	ck_assert_uint_eq(stats.nr_hours, 1);
	ck_assert_int_eq(number(db, rows, HOUR - SEC), 1);
	ck_assert_int_eq(number(db, received, 1), sum);
	ck_assert_int_eq(db_check(db), 0);
	nr = number(db, "SELECT sum(total) FROM profile WHERE ?1", 1);
	for (again = 1; again <= 6; again++)
		random_flush(s, &seed, again, START, SEC);
	ck_assert_int_eq(number(db, "SELECT sum(total) FROM profile WHERE ?1", 1), nr);
	random_flush(s, &seed, 7, START + HOUR, HOUR / 6);
	ck_assert_int_gt(number(db, "SELECT sum(total) FROM profile WHERE ?1", 1), nr);
	ck_assert_int_eq(sql_exec(db_handle(db), "UPDATE flush SET merged = 1"
						 " WHERE seq = 7"),
			 0);
	ck_assert_int_eq(db_check(db), -CPI_ECORRUPT);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_day_of_hours_becomes_what_their_sum_is)
{
	const uint64_t now = START + 4 * DAY, first_seed = unit_seed();
	uint64_t seed = first_seed, totals;
	struct oracle o = { 0 };
	struct query_epochs after;
	struct retain_stats stats;
	struct cells cells;
	struct dbtest t;
	struct db *db, *other;

	printf("SEED=%" PRIu64 "\n", first_seed);
	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	store_free(random_database(db, &seed, 2));
	o.db = db;
	ck_assert_int_eq(query_epochs(db, "all", &o.before), 0);
	o.cells = read_cells(db, &o.before);
	o.idle = number(db, "SELECT id FROM image WHERE kind = ?1", IMAGE_IDLE);
	keep_counts(&o);
	totals = hash_totals(db_handle(db));
	o.target = calloc(o.before.nr, sizeof(*o.target));
	for (size_t i = 0; i < o.before.nr; i++)
		o.target[i] = target_of(db, &o.before, i, now);

	other = dbtest_open(&t, DB_WRITE);
	run_steps(other, &hours_only, now, &stats);
	db_close(other);
	ck_assert_uint_gt(stats.nr_days, 1);
	ck_assert_uint_eq(hash_totals(db_handle(db)), totals);
	ck_assert_int_eq(db_check(db), 0);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM roll WHERE ?1", 1), 0);
	ck_assert_int_eq(query_epochs(db, "all", &after), 0);
	ck_assert_uint_lt(after.nr, o.before.nr);

	ck_assert_int_eq(query_parts(db, &after, "cpu-clock", check_part, &o), 0);
	ck_assert_int_eq(query_spreads(db, &after, "cpu-clock", check_spread, &o), 0);
	ck_assert_uint_gt(o.nr_parts, 20);
	ck_assert_uint_eq(o.nr_spreads, count_procedures(&o));

	cells = read_cells(db, &after);
	for (size_t i = 0; i < o.cells.nr; i++)
		o.cells.cell[i].epoch = target_of_id(&o, o.cells.cell[i].epoch);
	merge_cells(&o.cells);
	merge_cells(&cells);
	check_kinds(&cells);
	check_same(&cells, &o.cells);
	for (size_t i = 0; i < after.nr; i++) {
		static const char off[] =
			"SELECT (SELECT sum(received) FROM flush WHERE epoch = ?1) -"
			" (SELECT sum(received) FROM tally WHERE epoch = ?1)";

		ck_assert_int_eq(number(db, off, after.epoch[i].id), 0);
	}
	query_epochs_fini(&o.before);
	query_epochs_fini(&after);
	free(o.cells.cell);
	free(o.counts.cell);
	free(o.target);
	free(cells.cell);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("rollup");
	TCase *tc = tcase_create("core");

	tcase_set_timeout(tc, 600);
	tcase_add_test(tc, a_day_of_hours_becomes_what_their_sum_is);
	tcase_add_test(tc, minutes_become_what_hours_would_have_been);
	tcase_add_test(tc, flushes_of_a_rolled_up_epoch_are_merged_and_still_found);
	tcase_add_test(tc, a_copy_of_days_and_hours_has_all_of_them);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
