/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocations that fail: the n-th one of a flush or of a roll-up, for n = 1, 2, 3 …
 * until none fails. malloc() and its relatives fail in our code (-Wl,--wrap), and
 * sqlite3_malloc() fails in SQLite. After each failure every sample is in the database
 * exactly once or, for a flush that failed, not at all.
 */
#include "config.h"

#include <inttypes.h>
#include <stdbool.h>

#include "t/unit/retain_make.h"

static unsigned long nr_allocations, failing; /* failing: number of the one; 0: none */

static bool fails(void)
{
	return ++nr_allocations == failing;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_reallocarray(void *p, size_t nr, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_reallocarray(void *p, size_t nr, size_t size);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __real_calloc(nr, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

void *__wrap_reallocarray(void *p, size_t nr, size_t size)
{
	return fails() ? NULL : __real_reallocarray(p, nr, size);
}

static sqlite3_mem_methods plain;

static void *sqlite_malloc(int size)
{
	return fails() ? NULL : plain.xMalloc(size);
}

static void *sqlite_realloc(void *p, int size)
{
	return fails() ? NULL : plain.xRealloc(p, size);
}

/* Call it before SQLite is used; later calls do nothing. */
static void replace_sqlite_allocator(void)
{
	sqlite3_mem_methods m;

	if (plain.xMalloc)
		return;
	ck_assert_int_eq(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain), SQLITE_OK);
	m = plain;
	m.xMalloc = sqlite_malloc;
	m.xRealloc = sqlite_realloc;
	ck_assert_int_eq(sqlite3_config(SQLITE_CONFIG_MALLOC, &m), SQLITE_OK);
	ck_assert_int_eq(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK);
}

static void begin_failing(unsigned long n)
{
	nr_allocations = 0;
	failing = n;
}

/* Whether an allocation has failed. */
static bool end_failing(void)
{
	const bool failed = failing && nr_allocations >= failing;

	failing = 0;
	return failed;
}

START_TEST(a_flush_whose_allocation_fails_is_stored_whole_or_not_at_all)
{
	uint64_t total = 0, seq = 1;
	unsigned long n = 0, nr_refused = 0;
	struct dbtest t;
	struct store *s;
	struct db *db;
	bool failed;

	replace_sqlite_allocator();
	db = dbtest_make(&t, &s);
	do {
		struct flush_stream stream = test_stream;
		struct profile *p = profile_new();
		struct flush_profile fp = { &test_image, 0, "", p };
		struct flush f = {
			.seq = seq,
			.from_ns = (1000 + seq) * SEC,
			.to_ns = (1001 + seq) * SEC,
			.duration_ns = SEC,
			.streams = &stream,
			.nr_streams = 1,
			.profiles = &fp,
			.nr_profiles = 1,
		};
		int err;

		stream.received = 3;
		profile_add(p, &(struct count){ .offset = 16 * seq, .n = 3 });
		begin_failing(++n);
		err = store_flush(s, &f);
		failed = end_failing();
		if (err) {
			ck_assert(failed);
			nr_refused++;
			check_each_sample_once(db, total);
			err = store_flush(s, &f); /* as cpid does a moment later */
		}
		ck_assert_int_eq(err, 0);
		total += 3;
		seq++;
		check_each_sample_once(db, total);
		profile_free(p);
	} while (failed);
	printf("# %lu allocations of a flush failed, %lu flushes were refused\n", n - 1,
	       nr_refused);
	ck_assert_uint_gt(nr_refused, 10);
	ck_assert_int_eq(store_end(s, (1001 + seq) * SEC), 0);
	ck_assert_int_eq(db_check(db), 0);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_roll_up_whose_allocation_fails_loses_nothing_and_ends_the_same)
{
	const uint64_t now = START + 6 * DAY;
	uint64_t seed = 1, totals, end = 0;
	unsigned long nr_all = 0, nr_failed = 0;
	struct dbtest original, t;
	struct db *db, *copy;

	replace_sqlite_allocator();
	dbtest_init(&original);
	db = dbtest_open(&original, DB_COLLECT);
	ck_assert_int_eq(store_end(random_database(db, &seed, 1), now), 0);
	totals = hash_totals(db_handle(db));
	/* The first pass counts the allocations; later ones fail at one in 60 of them.
	 */
	for (unsigned long n = 0; n <= nr_all; n += 1 + nr_all / 60) {
		int err;

		dbtest_init(&t);
		ck_assert_int_eq(sql_do(db_handle(db), "VACUUM INTO ?1", "s", t.path),
				 0);
		copy = dbtest_open(&t, DB_COLLECT);
		begin_failing(n);
		err = retain_once(copy, now);
		nr_all = n ? nr_all : nr_allocations;
		ck_assert(!err || end_failing());
		failing = 0;
		nr_failed += err != 0;
		ck_assert_uint_eq(hash_totals(db_handle(copy)), totals);
		ck_assert_int_eq(retain_once(copy, now), 0);
		ck_assert_uint_eq(hash_totals(db_handle(copy)), totals);
		end = n ? end : hash_database(db_handle(copy));
		ck_assert_uint_eq(hash_database(db_handle(copy)), end);
		ck_assert_int_eq(db_check(copy), 0);
		db_close(copy);
		dbtest_fini(&t);
	}
	printf("# of %lu allocations of a roll-up, %lu that failed ended it\n", nr_all,
	       nr_failed);
	ck_assert_uint_gt(nr_failed, 10);
	db_close(db);
	dbtest_fini(&original);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("db_faults");
	TCase *tc = tcase_create("core");

	tcase_set_timeout(tc, 600);
	tcase_add_test(tc,
		       a_flush_whose_allocation_fails_is_stored_whole_or_not_at_all);
	tcase_add_test(
		tc, a_roll_up_whose_allocation_fails_loses_nothing_and_ends_the_same);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
