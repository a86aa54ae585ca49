/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "report/workers/workers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/unit/unit.h"

#define NR_TASKS 40

enum what { ANSWER, DIE, FAIL, LONG, FOREVER, ESCAPE };

struct task {
	int number;
	enum what what;
};

struct seen {
	int order[NR_TASKS], err[NR_TASKS], signal[NR_TASKS];
	size_t size[NR_TASKS];
	int nr, stop_at, dropped;
};

static struct seen *dropping;

static int answer(int file, const void *data, size_t size)
{
	return write(file, data, size) == (ssize_t)size ? 0 : -EIO;
}

/* What a worker may not do: bits of those that succeeded. */
static int escape(void)
{
	int bits = 0;

	bits |= open("/tmp/check_workers", O_WRONLY | O_CREAT, 0600) >= 0 ? 1 : 0;
	bits |= socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 2 : 0;
	bits |= fork() >= 0 ? 4 : 0;
	bits |= kill(getpid(), 0) == 0 ? 8 : 0;
	bits |= open("/proc/self/maps", O_RDONLY) < 0 ? 16 : 0;
	bits |= signal(SIGBUS, SIG_DFL) == SIG_ERR ? 32 : 0; /* base/mapping.c */
	bits |= geteuid() == (uid_t)-1 ? 64 : 0;
	return bits;
}

static int work(void *ctx, void *job, int file)
{
	const struct task *t = job;
	static const char page[4096];
	int err = 0, bits;

	(void)ctx;
	switch (t->what) {
	case DIE:
		raise(SIGKILL);
		abort(); /* not reached where raise() is refused: it ends, too */
	case FAIL:
		return -EPROTO;
	case FOREVER:
		for (;;)
			sched_yield();
	case LONG:
		for (int i = 0; i < 1024 && !err; i++)
			err = answer(file, page, sizeof(page));
		return err;
	case ESCAPE:
		bits = escape();
		return answer(file, &bits, sizeof(bits));
	case ANSWER:
		break;
	}
	return answer(file, &t->number, sizeof(t->number));
}

static int done(void *ctx, const struct worker_result *r)
{
	const struct task *t = r->job;
	struct seen *s = ctx;
	int number = -1;

	if (t->what == ANSWER && r->size == sizeof(number)) {
		memcpy(&number, r->data, sizeof(number));
		ck_assert_int_eq(number, t->number);
	}
	if (t->what == ESCAPE && r->size == sizeof(number)) {
		memcpy(&number, r->data, sizeof(number));
		ck_assert_int_eq(number, 0);
	}
	s->err[s->nr] = r->err;
	s->signal[s->nr] = r->signal;
	s->size[s->nr] = r->size;
	s->order[s->nr++] = t->number;
	return s->stop_at && s->nr == s->stop_at ? -EINTR : 0;
}

static void drop(void *job)
{
	(void)job;
	dropping->dropped++;
}

static int nr_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int nr = 0;

	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

static void check_nothing_left(int fds)
{
	ck_assert_int_eq(nr_fds(), fds);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

/* Runs tasks of which each seventh is of another kind. */
static void run(unsigned int nr_workers, enum what other, struct seen *s)
{
	struct task task[NR_TASKS];
	struct workers *w = workers_new(nr_workers, work, done, s);
	const int fds = nr_fds();
	bool started;

	ck_assert_ptr_nonnull(w);
	for (int i = 0; i < NR_TASKS; i++) {
		task[i] = (struct task){ i, i % 7 == 3 ? other : ANSWER };
		ck_assert_int_eq(workers_start(w, &task[i], &started), 0);
		ck_assert(started);
	}
	ck_assert_int_eq(workers_finish(w), 0);
	ck_assert_int_eq(s->nr, NR_TASKS);
	for (int i = 0; i < NR_TASKS; i++)
		ck_assert_int_eq(s->order[i], i);
	workers_free(w, drop);
	check_nothing_left(fds);
}

static const unsigned int counts[] = { 1, 2, 3, 16 };

START_TEST(results_come_in_the_order_of_the_jobs)
{
	struct seen s = { .nr = 0 };

	run(counts[_i], LONG, &s);
	for (int i = 0; i < NR_TASKS; i++) {
		ck_assert_int_eq(s.err[i], 0);
		ck_assert_uint_eq(s.size[i], i % 7 == 3 ? 4096 * 1024 : sizeof(int));
	}
}
END_TEST

START_TEST(a_worker_that_dies_is_told)
{
	struct seen s = { .nr = 0 };

	run(counts[_i], DIE, &s);
	for (int i = 0; i < NR_TASKS; i++) {
		ck_assert_int_eq(s.err[i], i % 7 == 3 ? -ECHILD : 0);
		ck_assert_int_eq(!s.signal[i], i % 7 != 3);
	}
}
END_TEST

START_TEST(a_worker_returns_its_error)
{
	struct seen s = { .nr = 0 };

	run(counts[_i], FAIL, &s);
	for (int i = 0; i < NR_TASKS; i++)
		ck_assert_int_eq(s.err[i], i % 7 == 3 ? -EPROTO : 0);
}
END_TEST

START_TEST(a_worker_is_confined)
{
	struct seen s = { .nr = 0 };

	run(2, ESCAPE, &s);
	for (int i = 0; i < NR_TASKS; i++)
		ck_assert_int_eq(s.err[i], 0);
}
END_TEST

START_TEST(workers_are_waited_for_if_SIGCHLD_was_ignored)
{
	struct seen s = { .nr = 0 };

	signal(SIGCHLD, SIG_IGN);
	run(2, ANSWER, &s);
	for (int i = 0; i < NR_TASKS; i++)
		ck_assert_int_eq(s.err[i], 0);
}
END_TEST

START_TEST(an_error_of_the_caller_ends_the_work)
{
	struct task first = { 0, ANSWER }, second = { 1, FOREVER };
	struct seen s = { .stop_at = 1 };
	struct workers *w = workers_new(2, work, done, &s);
	const int fds = nr_fds();
	bool started;
	int err;

	dropping = &s;
	ck_assert_int_eq(workers_start(w, &first, &started), 0);
	err = workers_start(w, &second, &started); /* the first may have ended */
	if (!err)
		err = workers_finish(w);
	ck_assert_int_eq(err, -EINTR);
	workers_free(w, drop);
	ck_assert_int_eq(s.dropped, started);
	check_nothing_left(fds);
}
END_TEST

START_TEST(the_number_of_workers_is_chosen)
{
	setenv("CPI_JOBS", "3", 1);
	ck_assert_uint_eq(workers_wanted(), 3);
	setenv("CPI_JOBS", "100000", 1);
	ck_assert_uint_eq(workers_wanted(), 64);
	setenv("CPI_JOBS", "none", 1);
	ck_assert_uint_ge(workers_wanted(), 1);
	unsetenv("CPI_JOBS");
	ck_assert_uint_ge(workers_wanted(), 1);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("workers");
	TCase *tc = tcase_create("workers");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, results_come_in_the_order_of_the_jobs, 0, NR(counts));
	tcase_add_loop_test(tc, a_worker_that_dies_is_told, 0, NR(counts));
	tcase_add_loop_test(tc, a_worker_returns_its_error, 0, NR(counts));
	tcase_add_test(tc, a_worker_is_confined);
	tcase_add_test(tc, workers_are_waited_for_if_SIGCHLD_was_ignored);
	tcase_add_test(tc, an_error_of_the_caller_ends_the_work);
	tcase_add_test(tc, the_number_of_workers_is_chosen);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
