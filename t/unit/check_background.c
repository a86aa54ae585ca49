/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/os/background.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "t/unit/unit.h"

/* Work that tells of its steps, and waits for the test in between. */
struct steps {
	sem_t begun, may_end, discarded;
	int nice, before;
	sigset_t blocked;
	int result;
};

static void run(void *work)
{
	struct steps *s = work;

	errno = 0;
	s->nice = getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid));
	sigprocmask(SIG_BLOCK, NULL, &s->blocked);
	sem_post(&s->begun);
	sem_wait(&s->may_end);
	s->result = 42;
}

static void discard(void *work)
{
	struct steps *s = work;

	sem_post(&s->discarded);
}

static void begin(struct steps *s, bool is_urgent, struct background **b)
{
	const struct background_work work = {
		.run = run, .discard = discard, .work = s, .is_urgent = is_urgent
	};

	sem_init(&s->begun, 0, 0);
	sem_init(&s->may_end, 0, 0);
	sem_init(&s->discarded, 0, 0);
	s->before = getpriority(PRIO_PROCESS, 0);
	s->result = 0;
	ck_assert_int_eq(background_start(&work, b), 0);
	sem_wait(&s->begun);
}

START_TEST(the_owner_gets_the_work_when_it_is_done)
{
	struct background *b;
	struct steps s;

	begin(&s, false, &b);
	ck_assert(!background_is_done(b));
	sem_post(&s.may_end);
	while (!background_is_done(b))
		sched_yield();
	ck_assert_int_eq(s.result, 42);
	ck_assert(background_end(b));
	ck_assert_int_ne(sem_trywait(&s.discarded), 0);
}
END_TEST

START_TEST(work_that_is_given_up_is_discarded_at_its_end)
{
	struct background *b;
	struct steps s;

	begin(&s, false, &b);
	ck_assert(!background_end(b));
	ck_assert_int_ne(sem_trywait(&s.discarded), 0);
	sem_post(&s.may_end);
	sem_wait(&s.discarded);
	ck_assert_int_eq(s.result, 42);
}
END_TEST

START_TEST(the_thread_has_a_lower_priority_unless_it_is_urgent)
{
	struct background *b;
	struct steps s;

	begin(&s, _i, &b);
	if (_i)
		ck_assert_int_eq(s.nice, s.before);
	else
		ck_assert_int_ge(s.nice, 10);
	/* the process's signals are for its other threads */
	ck_assert_int_eq(sigismember(&s.blocked, SIGTERM), 1);
	ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), s.before);
	sem_post(&s.may_end);
	while (!background_is_done(b))
		sched_yield();
	ck_assert(background_end(b));
}
END_TEST

START_TEST(nothing_is_done)
{
	ck_assert(background_end(NULL));
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("background");
	TCase *tc = tcase_create("background");

	tcase_set_timeout(tc, 600);
	tcase_add_test(tc, the_owner_gets_the_work_when_it_is_done);
	tcase_add_test(tc, work_that_is_given_up_is_discarded_at_its_end);
	tcase_add_loop_test(tc, the_thread_has_a_lower_priority_unless_it_is_urgent, 0,
			    2);
	tcase_add_test(tc, nothing_is_done);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
