/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_apart.c - work in a process apart, that answers, fails, or does neither
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "daemon/apart.h"
#include "t/unit/unit.h"

static int add_one(void *ctx, void *answer)
{
	*(int *)answer = *(int *)ctx + 1;
	return 0;
}

static int refuse(void *ctx, void *answer)
{
	(void)ctx;
	*(int *)answer = 1;
	return -ESTALE;
}

static int crash(void *ctx, void *answer)
{
	(void)ctx;
	(void)answer;
	raise(SIGKILL);
	return 0;
}

/* As what reads from a file that does not answer, but for ten seconds at most. */
static int hang(void *ctx, void *answer)
{
	const struct itimerval end = { .it_value = { .tv_sec = 10 } };

	(void)ctx;
	(void)answer;
	setitimer(ITIMER_REAL, &end, NULL);
	while (pause() < 0)
		;
	return 0;
}

/* How many descriptors are open but its answer's. */
static int count_open(void *ctx, void *answer)
{
	int nr = 0;

	(void)ctx;
	for (int fd = 0; fd < 100; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	*(int *)answer = nr - 1;
	return 0;
}

START_TEST(an_answer_comes_back)
{
	struct apart a = { 0 };
	int question = 41, answer = 0;

	ck_assert_int_eq(apart_run(&a, add_one, &question, &answer, sizeof(answer)), 0);
	ck_assert_int_eq(answer, 42);
	apart_fini(&a);
}
END_TEST

START_TEST(an_error_comes_back_and_the_answer_stays)
{
	struct apart a = { 0 };
	int answer = 7;

	ck_assert_int_eq(apart_run(&a, refuse, NULL, &answer, sizeof(answer)), -ESTALE);
	ck_assert_int_eq(apart_run(&a, crash, NULL, &answer, sizeof(answer)),
			 -ETIMEDOUT);
	ck_assert_int_eq(answer, 7);
	apart_fini(&a);
}
END_TEST

START_TEST(it_has_nothing_open)
{
	struct apart a = { 0 };
	int answer = 7;

	ck_assert_int_eq(apart_run(&a, count_open, NULL, &answer, sizeof(answer)), 0);
	ck_assert_int_eq(answer, 0);
	apart_fini(&a);
}
END_TEST

START_TEST(what_hangs_is_left_alone_and_few_may)
{
	struct apart a = { 0 };
	int nr = 0, err, answer;

	while (nr < 2 * APART_MAX_STUCK) {
		a.ration = (struct ration){ 0 };
		err = apart_run(&a, hang, NULL, &answer, sizeof(answer));
		if (err == -EBUSY)
			break;
		ck_assert_int_eq(err, -ETIMEDOUT);
		nr++;
	}
	ck_assert_int_eq(nr, APART_MAX_STUCK);
	apart_fini(&a);
}
END_TEST

START_TEST(waiting_is_rationed)
{
	struct apart a = { 0 };
	int nr = 0, answer;

	while (nr < APART_MAX_STUCK &&
	       apart_run(&a, hang, NULL, &answer, sizeof(answer)) == -ETIMEDOUT)
		nr++;
	ck_assert_int_gt(nr, 0);
	ck_assert_int_lt(nr, 4);
	apart_fini(&a);
}
END_TEST

/* A slot is free again when the one in it has ended. */
START_TEST(what_has_ended_makes_room)
{
	struct apart a = { 0 };
	int fd[2], question = 1, answer = 0;

	for (int i = 0; i < APART_MAX_STUCK; i++) {
		ck_assert_int_eq(pipe(fd), 0);
		close(fd[1]);
		a.stuck[i] = fd[0] + 1;
	}
	ck_assert_int_eq(apart_run(&a, add_one, &question, &answer, sizeof(answer)), 0);
	ck_assert_int_eq(answer, 2);
	apart_fini(&a);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("apart");
	TCase *tc = tcase_create("apart");

	tcase_add_test(tc, an_answer_comes_back);
	tcase_add_test(tc, an_error_comes_back_and_the_answer_stays);
	tcase_add_test(tc, it_has_nothing_open);
	tcase_add_test(tc, what_hangs_is_left_alone_and_few_may);
	tcase_add_test(tc, waiting_is_rationed);
	tcase_add_test(tc, what_has_ended_makes_room);
	suite_add_tcase(suite, tc);
	return suite;
}

UNIT_MAIN(make_suite)
