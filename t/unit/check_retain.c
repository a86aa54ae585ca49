/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

#include "db/removal.h"
#include "db/retain.h"
#include "db/spread.h"
#include "db/sql.h"
#include "t/unit/dbtest.h"

#define HOUR      (3600 * SEC)
#define DAY       (24 * HOUR)
#define START     (20000 * DAY)
#define NR_IMAGES 6

static const struct retain_policy hours_only = { .hourly_ns = DAY };

static void describe_image(int i, struct image_desc *d, char name[32])
{
	snprintf(name, 32, i ? "/usr/bin/prog%d" : "[idle]", i);
	*d = (struct image_desc){
		.kind = i ? IMAGE_FILE : IMAGE_IDLE,
		.name = name,
		.build_id = { (uint8_t)(i + 1) },
		.build_id_size = 20,
	};
}

/* One of an hour's flushes: two streams of one event, contexts, losses, commands. */
static void random_flush(struct store *s, uint64_t *seed, uint64_t seq,
			 uint64_t from_ns)
{
	struct flush_stream streams[2] = { test_stream, test_stream };
	struct image_desc images[NR_IMAGES];
	char names[NR_IMAGES][32];
	struct flush_profile profiles[4 * NR_IMAGES];
	struct flush_comm comms[2 * NR_IMAGES];
	const struct flush_symbol symbols[] = {
		{ &images[1], 0x10, 0x20, "small" },
		{ &images[1], 0x1800, 0x1000, "across" },
	};
	struct flush_loss loss = { 0, LOSS_LOST, "ring_lost", unit_random(seed) % 5 };
	struct flush f = {
		.seq = seq,
		.from_ns = from_ns,
		.to_ns = from_ns + HOUR / 2,
		.duration_ns = HOUR / 2,
		.streams = streams,
		.nr_streams = 2,
		.profiles = profiles,
		.comms = comms,
		.losses = &loss,
		.nr_losses = 1,
		.symbols = symbols,
		.nr_symbols = 2,
	};

	streams[1].desc.mean_period = 2500000;
	streams[0].received = loss.n;
	streams[0].not_delivered = 3;
	for (int i = 0; i < NR_IMAGES; i++)
		describe_image(i, &images[i], names[i]);
	for (int i = 0; i < 2 * NR_IMAGES; i++) {
		const int image = i / 2, stream = i % 2;
		struct profile *p;

		if (unit_random(seed) % 3 == 0)
			continue;
		p = profile_new();
		for (int k = unit_random(seed) % 40; k >= 0; k--) {
			uint64_t n = 1 + unit_random(seed) % 9;
			struct count c = { unit_random(seed) % 0x4000, n,
					   unit_random(seed) % (n + 1), 0 };

			ck_assert_int_eq(profile_add(p, &c), 0);
		}
		streams[stream].received += profile_total(p);
		comms[f.nr_comms++] =
			(struct flush_comm){ &images[image], stream,
					     unit_random(seed) % 2 ? "sh" : "cc",
					     profile_total(p) };
		profiles[f.nr_profiles++] =
			(struct flush_profile){ &images[image], stream, "", p };
		profiles[f.nr_profiles++] =
			(struct flush_profile){ &images[image], stream, "comm=sh", p };
	}
	ck_assert_int_eq(store_flush(s, &f), 0);
	for (size_t i = 0; i < f.nr_profiles; i += 2)
		profile_free(profiles[i].profile);
}

/* Runs of a few days of some hours; the last run and epoch go on. */
static struct store *random_database(struct db *db, uint64_t *seed, int nr_runs)
{
	struct store *s = NULL;
	uint64_t now = START + 20 * HOUR;

	ck_assert_int_eq(sql_exec(db_handle(db), "PRAGMA synchronous = OFF"), 0);
	for (int run = 0; run < nr_runs; run++) {
		if (s)
			ck_assert_int_eq(store_end(s, now), 0);
		ck_assert_int_eq(store_begin(db, &test_platform, now, &s), 0);
		for (uint64_t hour = 0, seq = 0; hour < 30; hour++, now += HOUR) {
			const char *label = unit_random(seed) % 16 ? NULL : "kept";

			ck_assert_int_eq(store_epoch(s, now, 1, label), 0);
			for (int i = 0; i < 2; i++)
				random_flush(s, seed, ++seq, now + i * (HOUR / 2));
		}
	}
	return s;
}

/* Everything that a table holds, row by row, as one number. */
static uint64_t hash_table(sqlite3 *h, const char *table)
{
	sqlite3_stmt *st = NULL;
	uint64_t hash = 14695981039346656037ULL;
	char sql[128];

	snprintf(sql, sizeof(sql), "SELECT * FROM %s", table);
	ck_assert_int_eq(sql_prepare(h, sql, &st), 0);
	while (sql_step(st) == 1) {
		for (int i = 0; i < sqlite3_column_count(st); i++) {
			const uint8_t *bytes = sqlite3_column_blob(st, i);

			for (int k = 0; k < sqlite3_column_bytes(st, i); k++)
				hash = (hash ^ bytes[k]) * 1099511628211ULL;
			hash = (hash ^ 0xff) * 1099511628211ULL;
		}
	}
	sqlite3_finalize(st);
	return hash;
}

static uint64_t hash_database(sqlite3 *h)
{
	static const char *const tables[] = {
		"platform", "run",     "epoch",   "flush",  "gap",  "stream",
		"image",    "context", "profile", "tally",  "loss", "comm",
		"roll",     "rolled",  "spread",  "symbol",
	};
	uint64_t hash = 0;

	for (size_t i = 0; i < NR(tables); i++)
		hash = hash * 31 + hash_table(h, tables[i]);
	return hash;
}

/* Whoever may be at work: each sample is there once, and each epoch adds up. */
static uint64_t hash_totals(sqlite3 *h)
{
	return hash_table(h, "(SELECT image, stream, context, kind, sum(total)"
			     " FROM profile GROUP BY 1, 2, 3, 4)") +
	       hash_table(h, "(SELECT stream, sum(received), sum(stored),"
			     " sum(not_delivered), sum(enabled_ns) FROM tally GROUP BY"
			     " 1)") +
	       hash_table(h, "(SELECT comm, image, stream, sum(n) FROM comm GROUP BY"
			     " 1, 2, 3)") +
	       hash_table(h, "(SELECT stream, class, name, sum(n) FROM loss GROUP BY"
			     " 1, 2, 3)");
}

static void run_steps(struct db *db, const struct retain_policy *policy,
		      uint64_t now_ns, struct retain_stats *stats)
{
	struct retain *r;
	int more;

	ck_assert_int_eq(retain_new(db, policy, NULL, &r), 0);
	while ((more = retain_step(r, now_ns)) == 1)
		;
	ck_assert_int_eq(more, 0);
	if (stats)
		*stats = retain_stats(r);
	retain_free(r);
}

/* A count of the database, and where it belongs. */
struct cell {
	int64_t epoch, image, stream;
	uint64_t offset, n, taken;
};

struct cells {
	struct cell *cell;
	size_t nr;
	int64_t epoch; /* that is being read */
};

static int add_cells(void *ctx, const struct query_profile *row)
{
	struct cells *list = ctx;
	size_t nr;
	const struct count *c = profile_sorted(row->profile, &nr);

	list->cell = reallocarray(list->cell, list->nr + nr, sizeof(*list->cell));
	ck_assert_ptr_nonnull(list->cell);
	for (size_t i = 0; i < nr; i++)
		list->cell[list->nr++] =
			(struct cell){ list->epoch, row->image.id, row->stream,
				       c[i].offset, c[i].n,        c[i].taken };
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

static int64_t number(struct db *db, const char *sql, int64_t parameter)
{
	int64_t n;

	ck_assert_int_eq(sql_get(db_handle(db), &n, sql, "i", parameter), 0);
	return n;
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
	range[0] = offset & ~(uint64_t)(SPREAD_BLOCK - 1);
	range[1] = range[0] + SPREAD_BLOCK;
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
	struct cells cells; /* of before */
	int64_t idle;
	size_t nr_spreads, nr_parts;
};

static double cell_time(const struct oracle *o, const struct cell *c)
{
	if (c->image == o->idle)
		return 0;
	return (double)c->n *
	       number(o->db, "SELECT mean_period FROM stream WHERE id = ?1", c->stream);
}

/* An epoch's time in a range of an image; all of it with image 0. */
static double time_in(const struct oracle *o, int64_t epoch, int64_t image,
		      const uint64_t range[2])
{
	double time = 0;

	for (size_t i = 0; i < o->cells.nr; i++) {
		const struct cell *c = &o->cells.cell[i];

		if (c->epoch == epoch &&
		    (!image || (c->image == image && c->offset >= range[0] &&
				c->offset < range[1])))
			time += cell_time(o, c);
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

	for (size_t i = 0; i < o->cells.nr; i++) {
		struct cell c = o->cells.cell[i];
		uint64_t range[2];

		c.n = cell_time(o, &c);
		c.epoch = target_of_id(o, c.epoch);
		if (!c.n ||
		    !number(o->db, "SELECT count(*) FROM rolled WHERE epoch = ?1",
			    c.epoch))
			continue;
		range_of(o->db, c.image, c.offset, range);
		c.offset = range[0];
		c.stream = 0;
		ranges.cell = reallocarray(ranges.cell, ranges.nr + 1, sizeof(c));
		ranges.cell[ranges.nr++] = c;
	}
	merge_cells(&ranges);
	for (size_t i = 0; i < ranges.nr; i++)
		nr += (double)ranges.cell[i].n >=
		      SPREAD_LEAST * day_time(o, ranges.cell[i].epoch);
	free(ranges.cell);
	return nr;
}

START_TEST(a_day_of_hours_becomes_what_their_sum_is)
{
	const uint64_t now = START + 4 * DAY, first_seed = unit_seed();
	uint64_t seed = first_seed, totals;
	struct oracle o = { .idle = 1 };
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
	totals = hash_totals(db_handle(db));
	o.target = calloc(o.before.nr, sizeof(*o.target));
	for (size_t i = 0; i < o.before.nr; i++)
		o.target[i] = target_of(db, &o.before, i, now);
	o.idle = number(db, "SELECT id FROM image WHERE kind = ?1", IMAGE_IDLE);

	other = dbtest_open(&t, DB_WRITE);
	run_steps(other, &hours_only, now, &stats);
	db_close(other);
	ck_assert_uint_gt(stats.nr_rolled, 1);
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
	ck_assert_uint_eq(cells.nr, o.cells.nr);
	ck_assert_int_eq(
		memcmp(cells.cell, o.cells.cell, cells.nr * sizeof(*cells.cell)), 0);
	for (size_t i = 0; i < after.nr; i++) {
		static const char off[] =
			"SELECT (SELECT sum(received) FROM flush WHERE epoch = ?1) -"
			" (SELECT sum(received) FROM tally WHERE epoch = ?1)";

		ck_assert_int_eq(number(db, off, after.epoch[i].id), 0);
	}
	query_epochs_fini(&o.before);
	query_epochs_fini(&after);
	free(o.cells.cell);
	free(o.target);
	free(cells.cell);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* Works on the database until it is killed. */
static pid_t start_worker(const struct dbtest *t, const struct retain_policy *policy,
			  uint64_t now_ns)
{
	pid_t pid = fork();
	struct retain *r;
	struct db *db;

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	if (db_open(t->path, DB_WRITE, &db) || retain_new(db, policy, NULL, &r))
		_exit(1);
	while (retain_step(r, now_ns) == 1)
		;
	_exit(0);
}

static void copy_database(struct db *db, struct dbtest *to)
{
	dbtest_init(to);
	ck_assert_int_eq(sql_do(db_handle(db), "VACUUM INTO ?1", "s", to->path), 0);
}

static uint64_t mono_us(void)
{
	return time_mono_ns() / 1000;
}

static int nr_kills(void)
{
	const char *kills = getenv("CPI_KILLS");

	return kills ? atoi(kills) : 10;
}

START_TEST(killed_at_any_moment_it_loses_nothing_and_ends_the_same)
{
	const uint64_t now = START + 6 * DAY, first_seed = unit_seed();
	uint64_t seed = first_seed, totals, end, took_us;
	struct dbtest original, t;
	struct db *db, *copy;
	int status, nr_killed = 0;

	printf("SEED=%" PRIu64 "\n", first_seed);
	dbtest_init(&original);
	db = dbtest_open(&original, DB_COLLECT);
	ck_assert_int_eq(store_end(random_database(db, &seed, 3), START + 6 * DAY), 0);
	totals = hash_totals(db_handle(db));

	copy_database(db, &t);
	copy = dbtest_open(&t, DB_WRITE);
	took_us = mono_us();
	run_steps(copy, &hours_only, now, NULL);
	took_us = mono_us() - took_us;
	end = hash_database(db_handle(copy));
	db_close(copy);
	dbtest_fini(&t);

	copy_database(db, &t);
	while (nr_killed < nr_kills()) {
		pid_t pid = start_worker(&t, &hours_only, now);

		usleep(unit_random(&seed) % (took_us / 4));
		kill(pid, SIGKILL);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		nr_killed++;
		copy = dbtest_open(&t, DB_WRITE);
		ck_assert_uint_eq(hash_totals(db_handle(copy)), totals);
		ck_assert_int_eq(db_check(copy), 0);
		if (!WIFSIGNALED(status)) { /* it was done: once more */
			ck_assert_int_eq(WEXITSTATUS(status), 0);
			ck_assert_uint_eq(hash_database(db_handle(copy)), end);
			db_close(copy);
			dbtest_fini(&t);
			copy_database(db, &t);
			continue;
		}
		db_close(copy);
	}
	copy = dbtest_open(&t, DB_WRITE);
	run_steps(copy, &hours_only, now, NULL);
	ck_assert_uint_eq(hash_database(db_handle(copy)), end);
	db_close(copy);
	dbtest_fini(&t);
	db_close(db);
	dbtest_fini(&original);
}
END_TEST

/* As it is, with its free pages; nobody may have it open. */
static void copy_file(const struct dbtest *from, struct dbtest *to)
{
	char command[256];

	dbtest_init(to);
	snprintf(command, sizeof(command), "cp %s %s", from->path, to->path);
	ck_assert_int_eq(system(command), 0);
}

/* What differs in the epochs that the database has, and that nobody removes. */
static const char differs[] =
	"SELECT count(*) FROM ("
	"SELECT * FROM (SELECT epoch, image, stream, context, kind, total FROM"
	" main.profile EXCEPT SELECT epoch, image, stream, context, kind, total FROM"
	" before.profile) UNION ALL"
	" SELECT * FROM (SELECT epoch, image, stream, context, kind, total FROM"
	" before.profile EXCEPT SELECT epoch, image, stream, context, kind, total FROM"
	" main.profile))"
	" WHERE epoch IN (SELECT id FROM main.epoch) AND epoch NOT IN (SELECT epoch "
	"FROM"
	" main.roll) AND ?1";

/* Whether pages are free, and no epoch is being removed any more. */
static bool is_to_vacuum(struct db *db)
{
	return number(db, "SELECT freelist_count FROM pragma_freelist_count WHERE ?1",
		      1) > 0 &&
	       !number(db, "SELECT count(*) FROM roll WHERE ?1", 1);
}

/* Removes what is too much, and leaves the file as long as it is. */
static void remove_excess(struct dbtest *t, const struct retain_policy *policy,
			  uint64_t now_ns)
{
	struct db *db = dbtest_open(t, DB_WRITE);
	struct retain *r;

	ck_assert_int_eq(retain_new(db, policy, NULL, &r), 0);
	do
		ck_assert_int_eq(retain_step(r, now_ns), 1);
	while (!retain_stats(r).nr_pages);
	ck_assert(is_to_vacuum(db));
	retain_free(r);
	db_close(db);
}

/* What a copy is when nobody is killed, and how long that takes. */
static uint64_t run_to_end(const struct dbtest *original,
			   const struct retain_policy *policy, uint64_t now_ns,
			   uint64_t *took_us)
{
	const uint64_t begin_us = mono_us();
	struct dbtest t;
	struct db *db;
	uint64_t end;

	copy_file(original, &t);
	db = dbtest_open(&t, DB_WRITE);
	run_steps(db, policy, now_ns, NULL);
	*took_us = mono_us() - begin_us;
	end = hash_database(db_handle(db));
	db_close(db);
	dbtest_fini(&t);
	return end;
}

/* The epochs that are there are what they were. Whether there are pages to give back.
 */
static bool check_what_is_left(struct db *db, const struct dbtest *original)
{
	ck_assert_int_eq(db_check(db), 0);
	ck_assert_int_eq(
		sql_do(db_handle(db), "ATTACH ?1 AS before", "s", original->path), 0);
	ck_assert_int_eq(number(db, differs, 1), 0);
	return is_to_vacuum(db);
}

/* From the beginning, or from when there are pages to give back. */
START_TEST(killed_while_the_file_shrinks_it_loses_nothing)
{
	const uint64_t now = START + 9 * DAY, first_seed = unit_seed();
	struct retain_policy policy = { .bytes = 200 << 10 };
	uint64_t seed = first_seed, file, wal, end, took_us;
	struct dbtest original, t;
	int64_t newest, labelled;
	int status, nr_killed = 0;
	struct db *db;
	bool left;

	printf("SEED=%" PRIu64 "\n", first_seed);
	dbtest_init(&original);
	db = dbtest_open(&original, DB_COLLECT);
	ck_assert_int_eq(store_end(random_database(db, &seed, 6), now), 0);
	newest = number(db, "SELECT max(id) FROM epoch WHERE ?1", 1);
	labelled = number(db, "SELECT count(*) FROM epoch WHERE label != '' AND ?1", 1);
	db_close(db);
	if (_i)
		remove_excess(&original, &policy, now);

	end = run_to_end(&original, &policy, now, &took_us);
	copy_file(&original, &t);
	for (int tries = 0; nr_killed < nr_kills(); tries++) {
		pid_t pid = start_worker(&t, &policy, now);

		ck_assert_int_lt(tries, 100 * nr_kills());
		usleep(unit_random(&seed) % took_us);
		kill(pid, SIGKILL);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		db = dbtest_open(&t, DB_WRITE);
		left = check_what_is_left(db, &original) || !_i;
		/* In the second round those count that have work before them. */
		nr_killed += left && WIFSIGNALED(status);
		if (!WIFSIGNALED(status) || !left) {
			ck_assert(WIFSIGNALED(status) || !WEXITSTATUS(status));
			ck_assert_uint_eq(hash_database(db_handle(db)), end);
			db_close(db);
			dbtest_fini(&t);
			copy_file(&original, &t);
			continue;
		}
		db_close(db);
	}
	db = dbtest_open(&t, DB_WRITE);
	run_steps(db, &policy, now, NULL);
	ck_assert_uint_eq(hash_database(db_handle(db)), end);
	ck_assert_int_eq(db_size(db, &file, &wal), 0);
	ck_assert_uint_le(file + wal, policy.bytes);
	ck_assert_int_eq(number(db, "SELECT max(id) FROM epoch WHERE ?1", 1), newest);
	ck_assert_int_eq(
		number(db, "SELECT count(*) FROM epoch WHERE label != '' AND ?1", 1),
		labelled);
	db_close(db);
	dbtest_fini(&t);
	dbtest_fini(&original);
}
END_TEST

START_TEST(the_oldest_go_until_the_file_is_small_enough)
{
	struct retain_policy policy = { .bytes = 100 << 10 };
	uint64_t seed = 1, file, wal, before;
	int64_t newest, labelled;
	struct retain_stats stats;
	struct query_epochs e;
	struct dbtest t;
	struct db *db, *other;
	struct store *s;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	s = random_database(db, &seed, 2);
	ck_assert_int_eq(db_size(db, &before, &wal), 0);
	ck_assert_uint_gt(before, 2 * policy.bytes);
	newest = number(db, "SELECT max(id) FROM epoch WHERE ?1", 1);
	labelled = number(db, "SELECT count(*) FROM epoch WHERE label != '' AND ?1", 1);
	other = dbtest_open(&t, DB_WRITE);
	run_steps(other, &policy, START + 9 * DAY, &stats);
	ck_assert_int_eq(db_size(db, &file, &wal), 0);
	ck_assert(stats.too_small || file + wal <= policy.bytes);
	ck_assert_uint_lt(file, before);
	ck_assert_uint_gt(stats.nr_removed, 0);
	ck_assert_uint_gt(stats.nr_pages, 0);
	ck_assert_int_eq(db_check(db), 0);
	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_int_eq(e.epoch[e.nr - 1].id, newest);
	ck_assert_int_eq(
		number(db, "SELECT count(*) FROM epoch WHERE label != '' AND ?1", 1),
		labelled);

	/* As small as it gets: what is open, and what has a label. */
	policy.bytes = 1;
	run_steps(other, &policy, START + 9 * DAY, &stats);
	ck_assert(stats.too_small);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM epoch WHERE ?1", 1),
			 labelled + 1);
	ck_assert_int_eq(db_check(db), 0);
	random_flush(s, &seed, 1000, START + 9 * DAY);
	ck_assert_int_eq(db_check(db), 0);
	query_epochs_fini(&e);
	store_free(s);
	db_close(other);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(what_nothing_refers_to_any_more_goes)
{
	struct retain_policy policy = { .daily_ns = DAY };
	struct dbtest t;
	struct db *db, *other;
	struct store *s;
	uint64_t seed = 1;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	s = random_database(db, &seed, 1);
	ck_assert_int_eq(store_end(s, START + 3 * DAY), 0);
	ck_assert_int_eq(sql_exec(db_handle(db),
				  "UPDATE epoch SET label = '';"
				  "INSERT INTO gap VALUES (1, 5, 9, 'old', '')"),
			 0);
	other = dbtest_open(&t, DB_WRITE);
	run_steps(other, &policy, START + 90 * DAY, NULL);
	for (size_t i = 0; i < 8; i++) {
		static const char *const tables[] = { "epoch",    "flush", "profile",
						      "tally",    "comm",  "symbol",
						      "platform", "run" };
		char sql[64];

		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s WHERE ?1",
			 tables[i]);
		ck_assert_int_eq(number(db, sql, 1), 0);
	}
	ck_assert_int_eq(number(db, "SELECT count(*) FROM image WHERE ?1", 1), 1);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM context WHERE ?1", 1), 1);
	ck_assert_int_eq(db_check(db), 0);
	db_close(other);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_profile_that_is_damaged_stays_where_it_is)
{
	const uint64_t now = START + 6 * DAY;
	struct dbtest t;
	struct db *db, *other;
	struct store *s;
	uint64_t seed = 1;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	s = random_database(db, &seed, 1);
	ck_assert_int_eq(store_end(s, now), 0);
	ck_assert_int_eq(sql_exec(db_handle(db), "UPDATE epoch SET label = '';"
						 "UPDATE profile SET counts = x'ff'"
						 " WHERE epoch = 7 AND image = 3"),
			 0);
	other = dbtest_open(&t, DB_WRITE);
	run_steps(other, &hours_only, now, NULL);
	ck_assert_int_gt(number(db, "SELECT count(*) FROM profile WHERE epoch = ?1", 7),
			 0);
	ck_assert_int_eq(number(db,
				"SELECT count(*) FROM profile WHERE epoch = ?1"
				" AND image != 3",
				7),
			 0);
	ck_assert_int_eq(
		number(db,
		       "SELECT count(*) FROM tally WHERE ?1 AND received !="
		       " stored + coalesce((SELECT sum(n) FROM loss l WHERE"
		       " l.epoch = tally.epoch AND l.stream = tally.stream), 0)",
		       1),
		0);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM roll WHERE ?1", 1), 0);
	db_close(other);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static const struct {
	const char *text;
	int err;
	struct retain_policy policy;
	const char *why; /* a part of it */
} policies[] = {
	{ RETAIN_DEFAULT, 0, { 7 * DAY, 90 * DAY, 2ULL << 30 }, "" },
	{ "all", 0, { 0, 0, 0 }, "" },
	{ "size:200M", 0, { 0, 0, 200 << 20 }, "" },
	{ "daily:30d,hourly:36h", 0, { 36 * HOUR, 30 * DAY, 0 }, "" },
	{ "", -EINVAL, { 0 }, "none of" },
	{ "hourly", -EINVAL, { 0 }, "hourly:7d" },
	{ "hourly:", -EINVAL, { 0 }, "hourly:7d" },
	{ "hourly:0", -EINVAL, { 0 }, "hourly:7d" },
	{ "hourly:7x", -EINVAL, { 0 }, "hourly:7d" },
	{ "size:2T", -EINVAL, { 0 }, "size:2G" },
	{ "size:1000", -EINVAL, { 0 }, "1M" },
	{ "weekly:7d", -EINVAL, { 0 }, "weekly" },
	{ "daily:7d,daily:8d", -EINVAL, { 0 }, "twice" },
	{ "daily:7d,", -EINVAL, { 0 }, "none of" },
	{ "hourly:7d,daily:1d", -EINVAL, { 0 }, "shorter" },
	{ "all,size:2G", -EINVAL, { 0 }, "none of" },
};

START_TEST(a_policy_is_read_or_refused_with_the_reason)
{
	struct retain_policy policy = { 1, 2, 3 };
	struct buf why = { 0 };

	ck_assert_int_eq(retain_parse(policies[_i].text, &policy, &why),
			 policies[_i].err);
	ck_assert_ptr_nonnull(strstr(buf_str(&why), policies[_i].why));
	if (policies[_i].err)
		ck_assert_uint_eq(policy.daily_ns, 2);
	else
		ck_assert_int_eq(memcmp(&policy, &policies[_i].policy, sizeof(policy)),
				 0);
	buf_fini(&why);
}
END_TEST

START_TEST(an_epoch_is_removed_unless_it_is_open_or_labelled)
{
	struct slice slice = { 0 };
	struct dbtest t;
	struct db *db;
	struct store *s;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	s = dbtest_begin(db);
	ck_assert_int_eq(dbtest_flush(s, 1, 4, 10), 0);
	ck_assert_int_eq(store_epoch(s, 1010 * SEC, 2, "kept"), 0);
	ck_assert_int_eq(dbtest_flush(s, 10, 4, 5), 0);
	ck_assert_int_eq(store_epoch(s, 1020 * SEC, 2, NULL), 0);
	slice.h = db_handle(db);
	ck_assert_int_eq(removal_begin(&slice, 1), 0);
	ck_assert_int_eq(removal_begin(&slice, 1), -EBUSY);
	ck_assert_int_eq(removal_begin(&slice, 2), -EPERM);
	ck_assert_int_eq(removal_begin(&slice, 3), -EBUSY);
	ck_assert_int_eq(removal_begin(&slice, 4), -ENOENT);
	while (removal_step(&slice) == 1)
		;
	ck_assert_int_eq(number(db, "SELECT sum(total) FROM profile WHERE ?1", 1), 5);
	ck_assert_int_eq(db_check(db), 0);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("retain");
	TCase *tc = tcase_create("core");

	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, a_day_of_hours_becomes_what_their_sum_is);
	tcase_add_test(tc, killed_at_any_moment_it_loses_nothing_and_ends_the_same);
	tcase_add_loop_test(tc, killed_while_the_file_shrinks_it_loses_nothing, 0, 2);
	tcase_add_test(tc, the_oldest_go_until_the_file_is_small_enough);
	tcase_add_test(tc, what_nothing_refers_to_any_more_goes);
	tcase_add_test(tc, a_profile_that_is_damaged_stays_where_it_is);
	tcase_add_loop_test(tc, a_policy_is_read_or_refused_with_the_reason, 0,
			    NR(policies));
	tcase_add_test(tc, an_epoch_is_removed_unless_it_is_open_or_labelled);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
