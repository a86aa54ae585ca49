/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>

#include "t/unit/retain_make.h"

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

static uint64_t run_once(const struct dbtest *original,
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

/*
 * What a copy is when nobody is killed, and how long that takes where nobody else is
 * heavy on the disk: the shortest of some.
 */
static uint64_t run_to_end(const struct dbtest *original,
			   const struct retain_policy *policy, uint64_t now_ns,
			   uint64_t *took_us)
{
	const uint64_t end = run_once(original, policy, now_ns, took_us);

	for (int i = 0; i < 4; i++) {
		uint64_t us;

		ck_assert_uint_eq(run_once(original, policy, now_ns, &us), end);
		if (us < *took_us)
			*took_us = us;
	}
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
	struct retain_policy policy = { .bytes = 600 << 10 };
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

static Suite *make_suite(void)
{
	Suite *s = suite_create("retain_killed");
	TCase *tc = tcase_create("core");

	tcase_set_timeout(tc, 600);
	tcase_add_test(tc, killed_at_any_moment_it_loses_nothing_and_ends_the_same);
	tcase_add_loop_test(tc, killed_while_the_file_shrinks_it_loses_nothing, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
