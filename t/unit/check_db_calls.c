/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of SQLite that fail: the n-th one of a run of the collector or of a roll-up,
 * for n = 1, 2, 3 … until none fails. What failed is tried again, as cpid does;
 * afterwards the database has what it has without the failure, row by row. A failure
 * that is not reported would leave something out.
 */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "t/unit/retain_make.h"

#define NOW    (START + 2 * HOUR)
#define LATER  (START + 4 * DAY)
#define REDONE 2 /* a call that fails once succeeds when it is made again */

static unsigned long nr_calls, failing; /* failing: number of the call; 0: none */

static bool own = true;  /* what the test itself does does not fail */
static bool allocations; /* fail, too */

static bool fails(void)
{
	return !own && ++nr_calls == failing;
}

int __real_sqlite3_step(sqlite3_stmt *st);
int __wrap_sqlite3_step(sqlite3_stmt *st);
int __real_sqlite3_exec(sqlite3 *h, const char *sql,
			int (*row)(void *, int, char **, char **), void *ctx,
			char **why);
int __wrap_sqlite3_exec(sqlite3 *h, const char *sql,
			int (*row)(void *, int, char **, char **), void *ctx,
			char **why);
int __real_sqlite3_prepare_v2(sqlite3 *h, const char *sql, int size, sqlite3_stmt **out,
			      const char **tail);
int __wrap_sqlite3_prepare_v2(sqlite3 *h, const char *sql, int size, sqlite3_stmt **out,
			      const char **tail);

int __wrap_sqlite3_step(sqlite3_stmt *st)
{
	return fails() ? SQLITE_IOERR : __real_sqlite3_step(st);
}

/* What ends a transaction that failed is not made to fail: nothing can be done then. */
int __wrap_sqlite3_exec(sqlite3 *h, const char *sql,
			int (*row)(void *, int, char **, char **), void *ctx,
			char **why)
{
	if (strncmp(sql, "ROLLBACK", 8) && strncmp(sql, "RELEASE", 7) && fails())
		return SQLITE_IOERR;
	return __real_sqlite3_exec(h, sql, row, ctx, why);
}

int __wrap_sqlite3_prepare_v2(sqlite3 *h, const char *sql, int size, sqlite3_stmt **out,
			      const char **tail)
{
	if (fails()) {
		*out = NULL;
		return SQLITE_IOERR;
	}
	return __real_sqlite3_prepare_v2(h, sql, size, out, tail);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__wrap_calloc(size_t nr, size_t size);

void *__wrap_malloc(size_t size)
{
	return allocations && fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return allocations && fails() ? NULL : __real_calloc(nr, size);
}

static uint64_t hash_all(sqlite3 *h)
{
	static const char *const more[] = { "code",        "instruction", "stack",
					    "stack_image", "window_set",  "access_set",
					    "mark",        "container" };
	uint64_t hash = hash_database(h);

	for (size_t i = 0; i < NR(more); i++)
		hash = hash * 31 + hash_table(h, more[i]);
	return hash;
}

/* ---- a flush with everything ---- */

static const struct image_desc other_image = { .kind = IMAGE_FILE,
					       .name = "/usr/lib/other.so",
					       .build_id = { 9 },
					       .build_id_size = 20 };

/* Only one row of a flush names each of these. */
#define ALONE(nr)                                                                     \
	{                                                                             \
		.kind = IMAGE_FILE, .name = "/usr/lib/alone" #nr, .build_id = { nr }, \
		.build_id_size = 20                                                   \
	}
static const struct image_desc alone[] = { ALONE(11), ALONE(12), ALONE(13) };

struct made {
	struct profile *counts[2];
	struct edges *edges[2];
	struct stack_tree *tree[2];
	struct windows *windows;
	struct accesses *accesses;
};

static void make_sets(struct made *m, uint64_t seed)
{
	struct window_jump jump = { .from = 4, .to = 8, .image = 1 };
	const struct window w = { .start = 4,
				  .end = 8,
				  .jump = &jump,
				  .nr_jumps = 1,
				  .nr_insns = 3,
				  .n = 2 };
	const struct access a = {
		.offset = 0x1000, .image = 1, .address = 64, .known = true
	};

	for (uint32_t i = 0; i < 2; i++) {
		const struct stack_frame frames[] = { { 0, 16 * seed }, { 1, 4 } };
		const struct count c = { 16 * seed, 3 + i, 1, 1 };

		m->counts[i] = profile_new();
		ck_assert_int_eq(profile_add(m->counts[i], &c), 0);
		m->edges[i] = random_edges(&seed);
		m->tree[i] = stack_tree_new(STACK_MAX_NODES);
		ck_assert_int_eq(stack_tree_add(m->tree[i], frames, 2, STACK_ENDED, 5),
				 0);
	}
	random_records(&seed, m->counts[0], 16 * seed, 1);
	m->windows = windows_new(WINDOWS_LIMIT, 1);
	ck_assert_int_eq(windows_add(m->windows, &w), 0);
	m->accesses = accesses_new(ACCESSES_MAX_INSNS);
	ck_assert_int_eq(accesses_add(m->accesses, &a, 1, 1), 0);
}

static void free_sets(struct made *m)
{
	for (int i = 0; i < 2; i++) {
		profile_free(m->counts[i]);
		edges_free(m->edges[i]);
		stack_tree_free(m->tree[i]);
	}
	windows_free(m->windows);
	accesses_free(m->accesses);
}

static int flush_all(struct store *s, uint64_t seq, uint64_t from_ns)
{
	static const struct image_desc *const images[] = { &test_image, &other_image,
							   NULL };
	static const uint8_t code[] = { 0x90, 0xc3 };
	const struct flush_loss loss = { 0, LOSS_LOST, "ring_lost", 2 };
	const struct flush_symbol symbol = { &alone[0], 0x10, 0x20, "f" };
	const struct flush_code codes = { &alone[1], 0x10, code, sizeof(code) };
	const struct flush_instruction insn = { &alone[2], 0x10, "nop" };
	struct flush_stream streams[2] = { test_stream, test_stream };
	struct flush_stream stacked = test_stream, windowed = test_stream;
	struct made m;
	int err;

	own = true;
	make_sets(&m, seq);
	own = false;
	const struct flush_profile profiles[] = {
		{ &test_image, 0, "", m.counts[0] },
		{ &other_image, 1, "", m.counts[1] },
		{ &test_image, 0, "comm=sh", m.counts[0] },
	};
	const struct flush_comm comms[] = {
		{ &test_image, 0, "sh", profile_total(m.counts[0]) },
		{ &other_image, 1, "cc", profile_total(m.counts[1]) },
	};
	const struct flush_edges edges[] = {
		{ &test_image, &other_image, 0, EDGES_BRANCH, m.edges[0] },
		{ &other_image, NULL, 1, EDGES_BRANCH, m.edges[1] },
	};
	const struct flush_tree trees[] = { { 0, "comm=sh\n", m.tree[0] },
					    { 0, "", m.tree[1] } };
	const struct flush_window_set set = { &test_image, 0, "", m.windows,
					      m.accesses };
	const struct flush_edges walked = { &test_image, NULL, 0, EDGES_BRANCH,
					    m.edges[1] };
	const struct flush_stacks stacks = {
		{ &stacked, 1, &loss, 1 }, trees, 2, images, 3
	};
	const struct flush_windows windows = {
		{ &windowed, 1, &loss, 1 }, &set, 1, &walked, 1, images, 3
	};
	const struct flush f = { .seq = seq,
				 .from_ns = from_ns,
				 .to_ns = from_ns + SEC,
				 .duration_ns = SEC,
				 .streams = streams,
				 .nr_streams = 2,
				 .profiles = profiles,
				 .nr_profiles = 3,
				 .comms = comms,
				 .nr_comms = 2,
				 .edges = edges,
				 .nr_edges = 2,
				 .losses = &loss,
				 .nr_losses = 1,
				 .symbols = &symbol,
				 .nr_symbols = 1,
				 .codes = &codes,
				 .nr_codes = 1,
				 .instructions = &insn,
				 .nr_instructions = 1,
				 .stacks = &stacks,
				 .windows = &windows };

	streams[1].desc.mean_period = 2500000;
	streams[0].received = profile_total(m.counts[0]) + loss.n;
	streams[1].received = profile_total(m.counts[1]);
	stacked.received = 2 * 5 + loss.n;
	windowed.received = 2 + loss.n;
	err = store_flush(s, &f);
	free_sets(&m);
	return err;
}

/* ---- a run ---- */

/* Makes the call until it succeeds, which is the second time at the latest. */
#define RETRIED(call)                                         \
	do {                                                  \
		int err_ = -1;                                \
		for (int i_ = 0; err_ && i_ < REDONE; i_++) { \
			own = false;                          \
			err_ = (call);                        \
			own = true;                           \
		}                                             \
		ck_assert_int_eq(err_, 0);                    \
	} while (0)

/* A second run, after one that died. It ends without store_end(), which frees s. */
static void run(struct db *db)
{
	const struct store_container c = { NOW, "0123", "box" };
	struct store *s;

	RETRIED(store_begin(db, &test_platform, NOW, &s));
	ck_assert_uint_eq(store_last_gap_ns(s), NOW);
	RETRIED(store_epoch(s, NOW, 1, NULL));
	RETRIED(flush_all(s, 1, NOW));
	RETRIED(flush_all(s, 2, NOW + SEC));
	RETRIED(store_epoch(s, NOW + HOUR, 1, NULL));
	RETRIED(flush_all(s, 3, NOW + HOUR));
	RETRIED(store_mark(s, NOW + 3, "begun"));
	RETRIED(store_containers(s, &c, 1));
	RETRIED(store_mark_newest(db, NOW + 4, "there", "nowhere"));
	store_free(s);
}

/* A third one finds the gap of the second one's end. */
static void run_again(struct db *db)
{
	struct store *s;
	uint64_t newest = 0, rate = 0;

	RETRIED(store_begin(db, &test_platform, NOW + 2 * HOUR, &s));
	RETRIED(store_epoch(s, NOW + 2 * HOUR, 1, "kept"));
	RETRIED(flush_all(s, 1, NOW + 2 * HOUR));
	RETRIED(store_newest(db, 0, UINT64_MAX / 2, &newest));
	ck_assert_uint_eq(newest, NOW + 2 * HOUR + SEC);
	RETRIED(store_clock_rate(db, &test_platform, &rate));
	ck_assert_uint_eq(rate, test_platform.clock_hz);
	store_free(s);
}

/* What run() left ends with the next run. */
static void run_and_end(struct db *db)
{
	struct store *s;

	run(db);
	ck_assert_int_eq(store_begin(db, &test_platform, NOW + 2 * DAY, &s), 0);
	ck_assert_int_eq(store_end(s, NOW + 2 * DAY), 0);
}

static void roll_up(struct db *db)
{
	RETRIED(retain_once(db, LATER));
}

static const struct {
	void (*before)(struct db *db), (*run)(struct db *db);
	bool allocations; /* fail, too */
} jobs[] = { { NULL, run, true },
	     { run, run_again, false },
	     { run_and_end, roll_up, false } };

/* A database with a run that died. */
static void make_original(struct db *db, void (*before)(struct db *))
{
	struct store *s = NULL;

	ck_assert_int_eq(store_begin(db, &test_platform, START, &s), 0);
	ck_assert_int_eq(store_epoch(s, START, 1, NULL), 0);
	ck_assert_int_eq(flush_all(s, 1, START), 0);
	store_free(s);
	if (before)
		before(db);
}

START_TEST(a_call_that_fails_changes_nothing_in_the_end)
{
	struct dbtest original, t;
	unsigned long n = 0;
	uint64_t expected = 0;
	bool failed;
	struct db *db, *copy;

	dbtest_init(&original);
	db = dbtest_open(&original, DB_COLLECT);
	make_original(db, jobs[_i].before);
	do {
		dbtest_init(&t);
		ck_assert_int_eq(sql_do(db_handle(db), "VACUUM INTO ?1", "s", t.path),
				 0);
		copy = dbtest_open(&t, DB_COLLECT);
		ck_assert_int_eq(sql_exec(db_handle(copy), "PRAGMA synchronous = OFF"),
				 0);
		nr_calls = 0;
		allocations = jobs[_i].allocations;
		failing = n;
		jobs[_i].run(copy);
		failed = !n || nr_calls >= n;
		failing = 0;
		if (!n)
			expected = hash_all(db_handle(copy));
		ck_assert_msg(hash_all(db_handle(copy)) == expected,
			      "call %lu failed, and the database differs", n);
		if (!failed)
			ck_assert_int_eq(db_check(copy), 0);
		db_close(copy);
		dbtest_fini(&t);
		n++;
	} while (failed);
	printf("# %lu calls failed\n", n - 2);
	ck_assert_uint_gt(n, 50);
	db_close(db);
	dbtest_fini(&original);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("db_calls");
	TCase *tc = tcase_create("core");

	tcase_set_timeout(tc, 600);
	tcase_add_loop_test(tc, a_call_that_fails_changes_nothing_in_the_end, 0,
			    NR(jobs));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
