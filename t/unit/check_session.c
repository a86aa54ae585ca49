/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session of this process alone, whose clock the test steps: what happens at which
 * time, over weeks. Samples are real; where some are needed, the test computes until
 * there are.
 */
#include "config.h"

#include "daemon/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "daemon/collect/raw.h"
#include "daemon/session/session_private.h"
#include "db/core/sql.h"
#include "t/unit/dbtest.h"

#define HOUR (3600 * SEC)
#define DAY  (24 * HOUR)

/* 2026-11-20T10:00:00Z, the beginning of an hour. */
#define TEN_O_CLOCK (1795168800 * SEC)

/* The machine's clocks, ahead by what the test has stepped. */
struct stepped {
	struct clock clock;
	uint64_t real_ns;
	uint64_t ahead_ns; /* of CLOCK_MONOTONIC and CLOCK_BOOTTIME */
};

static struct stepped now;
static uint64_t begun_ns;

static uint64_t stepped_mono(const struct clock *c)
{
	return begun_ns + now.ahead_ns;
}

static uint64_t stepped_real(const struct clock *c)
{
	return now.real_ns;
}

static struct dbtest t;
static struct session_config cfg;
static struct session *session;

static void step(uint64_t ns)
{
	now.ahead_ns += ns;
	now.real_ns += ns;
}

static void setup(void)
{
	now = (struct stepped){ .clock = { stepped_mono, stepped_mono, stepped_real },
				.real_ns = TEN_O_CLOCK + 60 * SEC };
	begun_ns = time_mono_ns();
	dbtest_init(&t);
	cfg = session_config_default();
	cfg.clock = &now.clock;
	cfg.db_path = t.path;
	cfg.epoch_ns = HOUR;
	cfg.collector = "perf";
	cfg.events[cfg.nr_events++] = "cpu-clock:u";
	cfg.hz = 1000;
	cfg.windows.hz = 0;
	cfg.capture_bytes = 0;
	cfg.target = getpid();
}

static void begin(void)
{
	ck_assert_int_eq(session_open(&cfg, &session), 0);
	session_run(session);
}

static void teardown(void)
{
	ck_assert_int_eq(session_close(session), 0);
	session = NULL;
	dbtest_fini(&t);
}

/* Steps in pieces that a daemon would sleep for, and runs after each. */
static void run_for(uint64_t ns, uint64_t piece_ns)
{
	for (uint64_t end_ns = now.ahead_ns + ns; now.ahead_ns < end_ns;) {
		step(end_ns - now.ahead_ns < piece_ns ? end_ns - now.ahead_ns
						      : piece_ns);
		session_run(session);
	}
}

/* The number that the status has behind a name. */
static double status_of(const char *name)
{
	struct buf text = { 0 };
	const char *line;
	char key[64];
	double value;

	snprintf(key, sizeof(key), "\n%s ", name);
	session_status(session, &text);
	line = strstr(text.data, key);
	ck_assert_msg(line != NULL, "%s is not in: %s", name, text.data);
	value = strtod(line + strlen(key), NULL);
	buf_fini(&text);
	return value;
}

static int64_t stored(const char *sql)
{
	struct db *db;
	int64_t n;

	ck_assert_int_eq(db_open(t.path, DB_READ, &db), 0);
	ck_assert_int_eq(sql_get(db_handle(db), &n, sql, ""), 0);
	db_close(db);
	return n;
}

#define NR_FLUSHES "SELECT count(*) FROM flush"
#define NR_EPOCHS  "SELECT count(*) FROM epoch"

/* Computes until this process has that many samples. */
static void get_samples(uint64_t n)
{
	const double wanted = status_of("received.cpu-clock:u") + (double)n;
	volatile uint64_t x = 1;

	while (status_of("received.cpu-clock:u") < wanted) {
		for (int i = 0; i < 1000000; i++)
			x = x * 3 + 1;
		session_run(session);
	}
}

START_TEST(a_flush_comes_when_its_interval_is_over)
{
	begin();
	get_samples(5);
	run_for(599 * SEC, 10 * SEC);
	ck_assert_int_eq(stored(NR_FLUSHES), 0);
	run_for(SEC, SEC);
	ck_assert_int_eq(stored(NR_FLUSHES), 1);
	ck_assert_int_ge(stored("SELECT received FROM flush"), 5);
	run_for(HOUR / 2, 10 * SEC);
	ck_assert_int_eq(stored(NR_FLUSHES), 4);
	ck_assert_int_eq(stored("SELECT to_ns - from_ns FROM flush WHERE seq = 2"),
			 600 * SEC);
}
END_TEST

START_TEST(a_session_asks_to_be_run_again_when_something_is_due)
{
	begin();
	for (int i = 0; i < 100; i++) {
		int ms = session_run(session);

		ck_assert_int_ge(ms, 0);
		ck_assert_int_le(ms, 10000); /* a sweep is never later */
		step((uint64_t)ms * NSEC_PER_MSEC);
	}
}
END_TEST

START_TEST(by_default_an_epoch_begins_with_each_minute)
{
	cfg.epoch_ns = session_config_default().epoch_ns;
	now.real_ns += 30 * SEC;
	cfg.flush_ns = 600 * SEC;
	begin();
	ck_assert_int_eq((int)status_of("next_flush_s"), 30); /* the epoch's end */
	run_for(300 * SEC, 10 * SEC);
	ck_assert_int_eq(stored(NR_EPOCHS), 6);
	ck_assert_int_eq(stored("SELECT max(from_ns % 60000000000) FROM epoch"
				" WHERE id > 1"),
			 0);
	ck_assert_int_eq(session_new_epoch(session, "named"), 0);
	run_for(HOUR - 400 * SEC, 10 * SEC);
	ck_assert_int_eq(stored(NR_EPOCHS), 7); /* to the end of the hour */
	run_for(120 * SEC, 10 * SEC);
	ck_assert_int_eq(stored(NR_EPOCHS), 9);
	ck_assert_int_eq(stored("SELECT to_ns FROM epoch WHERE label = 'named'"),
			 TEN_O_CLOCK + HOUR);
}
END_TEST

#define NR_MINUTES 4

/* When a minute's end was noticed: before and after the session saw it. */
struct minute_end {
	uint64_t before_ns, after_ns;
};

/* Computes until some samples of it were taken. */
static void compute(void)
{
	const double until = status_of("received.cpu-clock:u") + 20;
	volatile unsigned int x = 1;

	do {
		for (int i = 0; i < 20000000; i++)
			x = x * 1664525 + 1;
		session_run(session);
	} while (status_of("received.cpu-clock:u") < until);
}

/* The single samples between two moments. */
static int64_t recount(const struct buf *raw, uint64_t from_ns, uint64_t to_ns)
{
	const struct raw_record *r =
		(const void *)(raw->data + sizeof(struct raw_header));
	const size_t nr = (raw->len - sizeof(struct raw_header)) / sizeof(*r);
	int64_t n = 0;

	for (size_t i = 0; i < nr; i++)
		n += r[i].time_ns >= from_ns && r[i].time_ns < to_ns;
	return n;
}

/* What the epochs have that an interval selects, in minutes since the first edge. */
static int64_t count_interval(int from, int to)
{
	struct query_epochs e = { 0 };
	char a[TIME_TEXT_SIZE], b[TIME_TEXT_SIZE], spec[2 * TIME_TEXT_SIZE + 2],
		sql[96];
	struct db *db;
	int64_t n = 0;

	time_format(TEN_O_CLOCK + (2 + from) * 60 * SEC, a);
	time_format(TEN_O_CLOCK + (2 + to) * 60 * SEC, b);
	snprintf(spec, sizeof(spec), "%s..%s", a, b);
	db = dbtest_open(&t, DB_READ);
	ck_assert_int_eq(query_epochs(db, spec, &e), 0);
	for (size_t i = 0; i < e.nr; i++) {
		snprintf(sql, sizeof(sql),
			 "SELECT sum(received) FROM tally WHERE epoch = %d",
			 (int)e.epoch[i].id);
		n += stored(sql);
	}
	query_epochs_fini(&e);
	db_close(db);
	return n;
}

START_TEST(an_interval_has_the_samples_of_a_recount)
{
	struct minute_end end[NR_MINUTES + 1];
	struct buf raw = { 0 };
	char path[96];

	snprintf(path, sizeof(path), "%s/raw", t.dir);
	cfg.raw_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(cfg.raw_fd, 0);
	cfg.epoch_ns = session_config_default().epoch_ns;
	begin();
	for (int i = 0; i <= NR_MINUTES; i++) {
		compute();
		end[i].before_ns = time_mono_ns();
		run_for(60 * SEC, 60 * SEC);
		end[i].after_ns = time_mono_ns();
	}
	ck_assert_int_eq(session_flush(session), 0);
	ck_assert_int_eq(file_read_all(AT_FDCWD, path, 16 << 20, &raw), 0);
	for (int from = 0; from < NR_MINUTES; from++) {
		for (int to = from + 1; to <= NR_MINUTES; to++) {
			const int64_t n = count_interval(from, to);

			ck_assert_int_ge(n, 20);
			ck_assert_int_ge(n, recount(&raw, end[from].after_ns,
						    end[to].before_ns));
			ck_assert_int_le(n, recount(&raw, end[from].before_ns,
						    end[to].after_ns));
		}
	}
	buf_fini(&raw);
	close(cfg.raw_fd);
}
END_TEST

START_TEST(an_epoch_begins_with_each_hour)
{
	begin();
	run_for(58 * 60 * SEC, 10 * SEC);
	ck_assert_int_eq(stored(NR_EPOCHS), 1);
	run_for(60 * SEC, 10 * SEC);
	ck_assert_int_eq(stored(NR_EPOCHS), 2);
	ck_assert_int_eq(stored("SELECT from_ns FROM epoch WHERE id = 2"),
			 TEN_O_CLOCK + HOUR);
	run_for(DAY, 10 * SEC);
	ck_assert_int_eq(stored(NR_EPOCHS), 26);
}
END_TEST

static bool no_memory;

int __real_outbox_add_epoch(struct outbox *o, uint64_t now_ns, uint32_t uncertainty_ms,
			    const char *label);
int __wrap_outbox_add_epoch(struct outbox *o, uint64_t now_ns, uint32_t uncertainty_ms,
			    const char *label);

int __wrap_outbox_add_epoch(struct outbox *o, uint64_t now_ns, uint32_t uncertainty_ms,
			    const char *label)
{
	if (no_memory)
		return -ENOMEM;
	return __real_outbox_add_epoch(o, now_ns, uncertainty_ms, label);
}

START_TEST(an_epoch_for_which_there_was_no_memory_begins_soon_after)
{
	begin();
	step(59 * 60 * SEC);
	no_memory = true;
	ck_assert_int_gt(session_run(session), 0);
	ck_assert_int_gt(session_run(session), 0);
	no_memory = false;
	step(2 * SEC);
	session_run(session);
	ck_assert_int_eq(stored(NR_EPOCHS), 2);
	ck_assert_int_eq(stored("SELECT from_ns FROM epoch WHERE id = 2"),
			 TEN_O_CLOCK + HOUR + 2 * SEC);
}
END_TEST

START_TEST(a_clock_that_is_set_back_begins_an_epoch_at_most)
{
	begin();
	run_for(60 * SEC, 10 * SEC);
	now.real_ns -= HOUR / 2;
	run_for(60 * SEC, 10 * SEC);
	ck_assert_int_eq(stored(NR_EPOCHS), 1);
	now.real_ns -= 30 * DAY;
	run_for(60 * SEC, 10 * SEC);
	ck_assert_int_eq(stored(NR_EPOCHS), 2);
}
END_TEST

/* db/store/store.h, I2. */
START_TEST(a_clock_that_is_set_back_leaves_a_gap)
{
	begin();
	run_for(1200 * SEC, 10 * SEC);
	ck_assert_int_eq(stored(NR_FLUSHES), 2);
	now.real_ns -= HOUR / 2;
	run_for(1200 * SEC, 10 * SEC);
	ck_assert_int_eq(stored(NR_FLUSHES), 4);
	ck_assert_int_eq(stored("SELECT count(*) FROM gap"), 1);
	ck_assert_int_eq(stored("SELECT from_ns FROM gap WHERE from_ns = to_ns"),
			 TEN_O_CLOCK + (60 + 1200) * SEC);
	ck_assert_int_eq(stored("SELECT count(*) FROM flush WHERE seq = 3"
				" AND from_ns = to_ns AND duration_ns = 600000000000"),
			 1);
	ck_assert_int_eq(stored("SELECT to_ns FROM flush WHERE seq = 4"),
			 TEN_O_CLOCK + (60 + 2400) * SEC - HOUR / 2);
}
END_TEST

START_TEST(a_clock_that_is_absurd_is_counted_on)
{
	begin();
	run_for(600 * SEC, 10 * SEC);
	now.real_ns = 5 * SEC; /* 1970 */
	run_for(1200 * SEC, 10 * SEC);
	ck_assert_int_eq(stored(NR_FLUSHES), 3);
	ck_assert_int_eq(stored("SELECT max(to_ns) FROM flush"),
			 TEN_O_CLOCK + (60 + 1800) * SEC);
}
END_TEST

START_TEST(the_budget_is_checked_at_its_interval)
{
	double checks;

	begin();
	run_for(10 * SEC, SEC); /* the first is early */
	ck_assert_double_eq(status_of("budget_checks"), 1);
	run_for(59 * SEC, SEC);
	ck_assert_double_eq(status_of("budget_checks"), 1);
	run_for(SEC, SEC);
	ck_assert_double_eq(status_of("budget_checks"), 2);
	checks = status_of("budget_checks");
	run_for(HOUR, SEC);
	ck_assert_double_eq(status_of("budget_checks"), checks + 60);
}
END_TEST

START_TEST(nothing_is_lost_over_a_week)
{
	begin();
	for (int day = 0; day < 7; day++) {
		get_samples(3);
		run_for(DAY, 600 * SEC);
	}
	ck_assert_int_eq(session_flush(session), 0);
	ck_assert_int_ge(stored("SELECT sum(received) FROM tally"), 21);
	ck_assert_int_eq(stored("SELECT sum(received) - sum(stored) -"
				" (SELECT total(n) FROM loss) FROM tally"),
			 0);
	/* Each flush begins where the one before it ended. */
	ck_assert_int_eq(stored("SELECT count(*) FROM (SELECT from_ns - lag(to_ns)"
				" OVER (ORDER BY seq) AS hole FROM flush)"
				" WHERE hole <> 0"),
			 0);
}
END_TEST

static int nr_descriptors(void)
{
	int nr = 0;

	for (int fd = 0; fd < 4096; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

/* Another process keeps the lock of the database. At this rate there are no samples. */
START_TEST(the_rate_stays_if_counts_at_the_old_one_cannot_be_stored)
{
	int nr_refused = 0;
	double before;

	cfg.hz = SESSION_MIN_HZ;
	begin();
	session->storing.err = -EBUSY;
	session->storing.is_said = true;
	session->storing.retry_ns = UINT64_MAX;
	for (int i = 0; i < 20; i++) {
		int err;

		before = session->events.hz;
		err = session_set_rate(session, before + 1);
		ck_assert(!err || err == -EBUSY);
		ck_assert(session->events.hz == (err ? before : before + 1));
		nr_refused += err != 0;
	}
	ck_assert_int_gt(nr_refused, 0);
	session->storing.err = 0;
	before = session->events.hz;
	ck_assert_int_eq(session_set_rate(session, before + 1), 0);
	ck_assert(session->events.hz == before + 1);
}
END_TEST

/*
 * A CPU is listed as online a moment before the kernel opens events on it (ENODEV).
 * Here no descriptor is left instead.
 */
START_TEST(a_cpu_that_cannot_be_sampled_yet_is_tried_again)
{
	struct rlimit limit, none;
	struct cpus all, first;
	int nr;

	ck_assert_int_eq(cpus_online(&all), 0);
	if (all.nr < 2)
		return;
	first = all;
	first.online[all.highest] = false;
	first.nr--;
	begin();
	nr = nr_descriptors();
	ck_assert_int_eq(session_set_cpus(session, &first), 0);
	ck_assert_int_lt(nr_descriptors(), nr);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ 3, limit.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	ck_assert_int_eq(session_set_cpus(session, &all), -EMFILE);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_lt(nr_descriptors(), nr);
	step(10 * SEC); /* a sweep */
	session_run(session);
	ck_assert_int_eq(nr_descriptors(), nr);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("session");
	TCase *tc = tcase_create("session");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_flush_comes_when_its_interval_is_over);
	tcase_add_test(tc, a_session_asks_to_be_run_again_when_something_is_due);
	tcase_add_test(tc, by_default_an_epoch_begins_with_each_minute);
	tcase_add_test(tc, an_interval_has_the_samples_of_a_recount);
	tcase_add_test(tc, an_epoch_begins_with_each_hour);
	tcase_add_test(tc, an_epoch_for_which_there_was_no_memory_begins_soon_after);
	tcase_add_test(tc, a_clock_that_is_set_back_begins_an_epoch_at_most);
	tcase_add_test(tc, a_clock_that_is_set_back_leaves_a_gap);
	tcase_add_test(tc, a_clock_that_is_absurd_is_counted_on);
	tcase_add_test(tc, the_budget_is_checked_at_its_interval);
	tcase_add_test(tc, nothing_is_lost_over_a_week);
	tcase_add_test(tc, the_rate_stays_if_counts_at_the_old_one_cannot_be_stored);
	tcase_add_test(tc, a_cpu_that_cannot_be_sampled_yet_is_tried_again);
	suite_add_tcase(s, tc);
	return s;
}

/* Whether this process may sample itself. */
static bool may_sample(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.exclude_kernel = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int main(void)
{
	SRunner *runner;
	int failed;

	if (!may_sample()) {
		puts("1..0 # SKIP needs the right to sample its own process");
		return EXIT_SUCCESS;
	}
	runner = srunner_create(make_suite());
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
