/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_timed_child.c - work in a timed child, that answers, fails, or does neither
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/securebits.h>
#include <signal.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fdpass.h"
#include "base/file.h"
#include "base/times.h"
#include "daemon/os/privileges.h"
#include "daemon/os/timed_child.h"
#include "t/lingering.h"
#include "t/unit/unit.h"

static struct timed_child *a;

static void setup(void)
{
	ck_assert_int_eq(timed_child_new(&a), 0);
}

static void teardown(void)
{
	timed_child_free(a);
}

#define PATIENCE_MS 30000

static int hang(struct timed_child_job *job);

/*
 * fn of a number, on behalf of tgid. Only what hangs has the usual patience: on a busy
 * machine a worker that answers may get no CPU for as long.
 */
static struct timed_child_question about(timed_child_fn fn, const int *number,
					 pid_t tgid)
{
	return (struct timed_child_question){ .fn = fn,
					      .data = number,
					      .size = sizeof(*number),
					      .tgid = tgid,
					      .patience_ms =
						      fn == hang ? 0 : PATIENCE_MS };
}

static int add_one(struct timed_child_job *job)
{
	const int sum = *(const int *)job->question + 1;

	buf_put(&job->answer, &sum, sizeof(sum));
	return 0;
}

static int refuse(struct timed_child_job *job)
{
	buf_puts(&job->answer, "nothing");
	return -ESTALE;
}

static int crash(struct timed_child_job *job)
{
	(void)job;
	raise(SIGKILL);
	return 0;
}

/* As what reads from a file that does not answer. */
static int hang(struct timed_child_job *job)
{
	(void)job;
	while (pause() < 0)
		;
	return 0;
}

/* How many descriptors it has but the standard ones. */
static int count_open(struct timed_child_job *job)
{
	int nr = 0;

	for (int fd = 3; fd < 1000; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	buf_put(&job->answer, &nr, sizeof(nr));
	return 0;
}

/* So many bytes. */
static int fill(struct timed_child_job *job)
{
	const int n = *(const int *)job->question;
	char *to = buf_reserve(&job->answer, (size_t)n);

	for (int i = 0; to && i < n; i++)
		to[i] = (char)(i % 251);
	job->answer.len += to ? (size_t)n : 0;
	return 0;
}

static uint64_t cpu_ns(void)
{
	return time_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Takes so many ms of CPU time. */
static int spin(struct timed_child_job *job)
{
	const uint64_t end_ns =
		cpu_ns() + (uint64_t) * (const int *)job->question * NSEC_PER_MSEC;

	while (cpu_ns() < end_ns)
		;
	return 0;
}

static int read_byte(struct timed_child_job *job)
{
	char byte = 0;

	if (pread(job->fd, &byte, 1, 0) == 1)
		buf_put(&job->answer, &byte, 1);
	close(job->fd);
	return 0;
}

static int get_pid(struct timed_child_job *job)
{
	const int pid = getpid();

	buf_put(&job->answer, &pid, sizeof(pid));
	return 0;
}

static int ask(timed_child_fn fn, int number, pid_t tgid)
{
	const struct timed_child_question q = about(fn, &number, tgid);
	int answer;

	return timed_child_ask_for(a, &q, &answer, sizeof(answer));
}

START_TEST(an_answer_comes_back)
{
	int question = 41, answer = 0;
	const struct timed_child_question q = about(add_one, &question, 0);

	for (; question < 1000; question++) {
		ck_assert_int_eq(timed_child_ask_for(a, &q, &answer, sizeof(answer)),
				 0);
		ck_assert_int_eq(answer, question + 1);
	}
	ck_assert_uint_gt(timed_child_cpu_ns(a), 0);
}
END_TEST

START_TEST(an_error_comes_back_and_the_answer_stays)
{
	struct buf out = { 0 };
	const struct timed_child_question q = { .fn = refuse,
						.patience_ms = PATIENCE_MS };
	const struct timed_child_question dies = { .fn = crash,
						   .patience_ms = PATIENCE_MS };

	ck_assert_int_eq(timed_child_ask(a, &q, &out), -ESTALE);
	ck_assert_int_eq(timed_child_ask(a, &dies, &out), -ECHILD);
	ck_assert_uint_eq(out.len, 0);
	ck_assert_int_eq(ask(add_one, 1, 0), 0); /* by another worker */
	buf_fini(&out);
}
END_TEST

START_TEST(an_answer_may_be_long)
{
	static const int sizes[] = { 0, 1, 32751, 32752, 32753, 65536, 5000000 };

	for (size_t i = 0; i < NR(sizes); i++) {
		const struct timed_child_question q = about(fill, &sizes[i], 0);
		struct buf out = { 0 };
		int nr_wrong = 0;

		buf_puts(&out, "x");
		ck_assert_int_eq(timed_child_ask(a, &q, &out), 0);
		ck_assert_uint_eq(out.len, (size_t)sizes[i] + 1);
		for (int k = 0; k < sizes[i]; k++)
			nr_wrong += out.data[k + 1] != (char)(k % 251);
		ck_assert_int_eq(nr_wrong, 0);
		buf_fini(&out);
	}
}
END_TEST

START_TEST(a_descriptor_goes_along)
{
	int fd = memfd_create("x", MFD_CLOEXEC);
	const struct timed_child_question q = { .fn = read_byte,
						.fd = &fd,
						.patience_ms = PATIENCE_MS };
	char byte = 0;

	ck_assert_int_eq(file_write(fd, "y", 1), 0);
	ck_assert_int_eq(timed_child_ask_for(a, &q, &byte, 1), 0);
	ck_assert_int_eq(byte, 'y');
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
	timed_child_dispose(a, fd);
	ck_assert_int_lt(fcntl(fd, F_GETFD), 0);
}
END_TEST

/* Returns how long the disposal of a socket took, whose release takes a minute. */
static uint64_t dispose_lingering(int *peer)
{
	const int fd = lingering_make(60, peer);
	uint64_t begun_ns;

	ck_assert_int_ge(fd, 0);
	begun_ns = time_mono_ns();
	timed_child_dispose(a, fd);
	return time_mono_ns() - begun_ns;
}

START_TEST(the_last_close_is_the_workers)
{
	int peer;

	ck_assert_uint_lt(dispose_lingering(&peer), 20 * NSEC_PER_SEC);
	ck_assert_int_eq(ask(add_one, 1, 0), 0); /* by another worker */
	close(peer);
}
END_TEST

/* A worker takes it, though it is asked nothing. */
START_TEST(a_descriptor_is_disposed_of_when_no_question_may_be_asked)
{
	int peer, nr = 0;

	while (nr < 100 && ask(hang, 0, 0) == -ETIMEDOUT)
		nr++;
	ck_assert_int_eq(ask(add_one, 1, 0), -EBUSY);
	ck_assert_uint_lt(dispose_lingering(&peer), 20 * NSEC_PER_SEC);
	close(peer);
}
END_TEST

START_TEST(a_descriptor_is_passed_on_unseen)
{
	int other, file = memfd_create("x", MFD_CLOEXEC), fd = fdpass_wrap(&other);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write(file, "y", 1), 0);
	ck_assert_int_eq(fdpass_send(other, "", 1, &file, 1), 0);
	close(other);
	close(file);
	file = fdpass_unwrap(fd);
	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(lseek(file, 0, SEEK_END), 1);
	close(file);
	fd = fdpass_wrap(&other);
	close(other);
	ck_assert_int_lt(fdpass_unwrap(fd), 0); /* there is nothing in it */
}
END_TEST

START_TEST(it_has_nothing_open)
{
	const struct timed_child_question q = { .fn = count_open,
						.patience_ms = PATIENCE_MS };
	int answer = 7;

	ck_assert_int_eq(timed_child_ask_for(a, &q, &answer, sizeof(answer)), 0);
	ck_assert_int_eq(answer, 1); /* where it is asked */
}
END_TEST

/* A kill helps, so nobody is left; another worker answers at once. */
START_TEST(what_hangs_is_ended)
{
	const uint64_t begun_ns = time_mono_ns();

	ck_assert_int_eq(ask(hang, 0, 0), -ETIMEDOUT);
	ck_assert_uint_ge(time_mono_ns() - begun_ns,
			  TIMED_CHILD_PATIENCE_MS * NSEC_PER_MSEC);
	ck_assert_int_eq(ask(add_one, 1, 0), 0);
}
END_TEST

/* Whose answers do not come is not asked for long; others are. */
START_TEST(who_does_not_answer_has_used_up_his_share)
{
	int nr = 0;

	while (nr < 100 && ask(add_one, 1, 1234567) != -EBUSY)
		nr += ask(hang, 0, 1234567) == -ETIMEDOUT; /* or is still being ended */
	ck_assert_int_ge(nr, 1);
	ck_assert_int_le(nr, 2);
	ck_assert_int_eq(ask(add_one, 1, 7654321), 0);
	ck_assert_int_eq(ask(add_one, 1, 0), 0);
}
END_TEST

START_TEST(waiting_is_rationed_for_all_together)
{
	int nr = 0;

	while (nr < 100 && ask(hang, 0, 0) == -ETIMEDOUT)
		nr++;
	ck_assert_int_ge(nr, 2);
	ck_assert_int_le(nr, 15);
}
END_TEST

/* As many as it takes until all have waited too much: others are asked all the same. */
START_TEST(who_has_always_answered_is_asked_when_others_do_not)
{
	int nr = 0, tgid = 2000000;

	while (nr < 14 && ask(hang, 0, tgid++) == -ETIMEDOUT)
		nr++;
	ck_assert_int_eq(nr, 14);
	ck_assert_int_eq(ask(add_one, 1, 2000000), -EBUSY);
	ck_assert_int_eq(ask(add_one, 1, 7654321), 0);
}
END_TEST

/* Not even many of them can have all the time. */
START_TEST(first_waits_are_rationed_too)
{
	int nr = 0, tgid = 2000000;

	while (nr < 200 && ask(hang, 0, tgid++) == -ETIMEDOUT)
		nr++;
	ck_assert_int_ge(nr, 14);
	ck_assert_int_le(nr, 80);
}
END_TEST

START_TEST(what_is_done_for_a_process_is_paid_by_it)
{
	int nr = 0; /* few, where the machine is busy and they do not end in time */

	while (nr < 1000 && ask(spin, 20, 1234567) != -EBUSY)
		nr++;
	ck_assert_int_le(nr, 40);
	ck_assert_int_eq(ask(add_one, 1, 7654321), 0);
}
END_TEST

START_TEST(children_are_paid_for_by_their_parent)
{
	const int number = 50;
	int nr = 0, err = 0;

	while (nr < 1000 && err != -EBUSY) {
		struct timed_child_question q = about(spin, &number, 2000000 + nr);

		q.parent = 1234567;
		err = timed_child_ask(a, &q, NULL);
		nr++;
	}
	ck_assert_int_le(nr, 20);
}
END_TEST

/* The worker, and the server, whose number is the one before. */
START_TEST(whoever_was_killed_is_started_again)
{
	const struct timed_child_question q = { .fn = get_pid,
						.patience_ms = PATIENCE_MS };
	int pid, again;

	ck_assert_int_eq(timed_child_ask_for(a, &q, &pid, sizeof(pid)), 0);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	while (timed_child_ask_for(a, &q, &again, sizeof(again)))
		;
	ck_assert_int_ne(pid, again);
}
END_TEST

START_TEST(nobody_is_left_behind)
{
	const struct timed_child_question q = { .fn = get_pid,
						.patience_ms = PATIENCE_MS };
	int pid;

	ck_assert_int_eq(timed_child_ask_for(a, &q, &pid, sizeof(pid)), 0);
	timed_child_free(a);
	while (!kill(pid, 0)) /* init reaps it */
		usleep(1000);
	ck_assert_int_eq(timed_child_new(&a), 0);
}
END_TEST

/* The lock of another bit makes it impossible to set the bits that it sets. */
START_TEST(a_server_that_cannot_give_up_its_privileges_is_refused)
{
	struct timed_child *refused = NULL;

	ck_assert_int_eq(prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP_LOCKED), 0);
	ck_assert_int_eq(timed_child_new(&refused), -EPERM);
	ck_assert_ptr_null(refused);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("timed_child");
	TCase *tc = tcase_create("timed_child");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 600);
	tcase_add_test(tc, an_answer_comes_back);
	tcase_add_test(tc, an_error_comes_back_and_the_answer_stays);
	tcase_add_test(tc, an_answer_may_be_long);
	tcase_add_test(tc, a_descriptor_goes_along);
	tcase_add_test(tc, the_last_close_is_the_workers);
	tcase_add_test(tc, a_descriptor_is_disposed_of_when_no_question_may_be_asked);
	tcase_add_test(tc, a_descriptor_is_passed_on_unseen);
	tcase_add_test(tc, it_has_nothing_open);
	tcase_add_test(tc, what_hangs_is_ended);
	tcase_add_test(tc, who_does_not_answer_has_used_up_his_share);
	tcase_add_test(tc, waiting_is_rationed_for_all_together);
	tcase_add_test(tc, who_has_always_answered_is_asked_when_others_do_not);
	tcase_add_test(tc, first_waits_are_rationed_too);
	tcase_add_test(tc, what_is_done_for_a_process_is_paid_by_it);
	tcase_add_test(tc, children_are_paid_for_by_their_parent);
	tcase_add_test(tc, whoever_was_killed_is_started_again);
	tcase_add_test(tc, nobody_is_left_behind);
	if (privileges_have(CAP_SETPCAP))
		tcase_add_test(tc,
			       a_server_that_cannot_give_up_its_privileges_is_refused);
	suite_add_tcase(suite, tc);
	return suite;
}

UNIT_MAIN(make_suite)
