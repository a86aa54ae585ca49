/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/windows/translate_child.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/times.h"
#include "t/unit/unit.h"

int __wrap_helper_start(const char *name, pid_t *pid, int *socket);

static pid_t stand_in;
static bool answers;
static uint32_t nr_forms; /* in its answers */

/* An answer without micro-ops. */
static void answer(int socket)
{
	static struct cpi_translate_request q;
	static struct cpi_translate_reply r;
	const size_t size = nr_forms ? offsetof(struct cpi_translate_reply, forms.uop)
				     : offsetof(struct cpi_translate_reply, page.uop);

	if (recv(socket, &q, sizeof(q), 0) <= 0)
		_exit(0);
	r.magic = CPI_TRANSLATE_MAGIC;
	r.cookie = q.cookie;
	r.nr_forms = nr_forms;
	r.cpu_us = UINT32_MAX;
	if (send(socket, &r, size, 0) < 0)
		_exit(1);
}

/* In place of cpi-translate: a process that answers nothing, or all in the same way. */
int __wrap_helper_start(const char *name, pid_t *pid, int *socket)
{
	int pair[2];

	(void)name;
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair),
			 0);
	stand_in = fork();
	ck_assert_int_ge(stand_in, 0);
	if (stand_in == 0) {
		close(pair[0]);
		while (answers)
			answer(pair[1]);
		for (;;)
			pause();
	}
	close(pair[1]);
	*pid = stand_in;
	*socket = pair[0];
	return 0;
}

/* It is dead then, and still to be reaped by its parent. */
static void kill_stand_in(void)
{
	siginfo_t info;

	ck_assert_int_eq(kill(stand_in, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)stand_in, &info, WEXITED | WNOWAIT), 0);
}

static bool is_readable(int epoll_fd, int timeout_ms)
{
	struct epoll_event ev;

	return epoll_wait(epoll_fd, &ev, 1, timeout_ms) > 0;
}

/* So many questions while it lives; then another one, or none. */
static const struct {
	int nr_before;
	bool ask;
} ends[] = {
	{ 0, false },
	{ 0, true },
	{ 2, false },
	{ 2, true },
};

START_TEST(who_has_ended_wakes_nobody_any_more)
{
	struct cpi_translate_request q = { .size = 16 };
	const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	struct cpi_translate_reply *reply;
	struct translate_child *t;
	uint32_t cookie;
	int err;

	ck_assert_int_eq(translate_child_open(epoll_fd, &t), 0);
	for (int i = 0; i < ends[_i].nr_before; i++)
		ck_assert_int_eq(translate_child_ask(t, &q, &cookie), 0);
	ck_assert(!is_readable(epoll_fd, 0));
	kill_stand_in();
	ck_assert(is_readable(epoll_fd, 10000));
	if (ends[_i].ask)
		ck_assert_int_eq(translate_child_ask(t, &q, &cookie), -EPIPE);
	for (int i = 0; i < ends[_i].nr_before; i++) {
		ck_assert_int_eq(translate_child_take(t, &cookie, &err, &reply), 0);
		ck_assert_int_eq(err, -ECHILD);
	}
	ck_assert_int_eq(translate_child_take(t, &cookie, &err, &reply), -EAGAIN);
	ck_assert(!is_readable(epoll_fd, 100));
	ck_assert_int_eq(translate_child_ask(t, &q, &cookie), -EPIPE);
	translate_child_close(t);
	close(epoll_fd);
}
END_TEST

/* The time that a worker says is not believed beyond the time that has passed. */
START_TEST(no_answer_takes_longer_than_since_its_question)
{
	struct cpi_translate_request q = { .size = 16 };
	const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	const uint64_t begun_ns = time_mono_ns();
	struct cpi_translate_reply *reply;
	struct translate_child *t;
	uint32_t cookie;
	int err;

	answers = true;
	ck_assert_int_eq(translate_child_open(epoll_fd, &t), 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(translate_child_ask(t, &q, &cookie), 0);
		while (translate_child_take(t, &cookie, &err, &reply))
			is_readable(epoll_fd, 10000);
		ck_assert_uint_gt(translate_child_cpu_ns(t), 0);
		ck_assert_uint_le(translate_child_cpu_ns(t), time_mono_ns() - begun_ns);
	}
	translate_child_close(t);
	close(epoll_fd);
}
END_TEST

/* What is asked for, and what is answered. */
static const struct {
	uint32_t asked, answered;
	int err;
} kinds[] = {
	{ 0, 0, 0 },
	{ 1, 1, 0 },
	{ 0, 1, -CPI_ECORRUPT },
	{ 1, 0, -CPI_ECORRUPT },
};

START_TEST(answer_is_of_the_kind_that_was_asked_for)
{
	struct cpi_translate_request q = { .size = 16, .nr_forms = kinds[_i].asked };
	struct cpi_translate_reply *reply;
	struct translate_child *t;
	uint32_t cookie, of;
	int err;

	answers = true;
	nr_forms = kinds[_i].answered;
	ck_assert_int_eq(translate_child_open(-1, &t), 0);
	ck_assert_int_eq(translate_child_ask(t, &q, &cookie), 0);
	while (translate_child_take(t, &of, &err, &reply))
		usleep(1000);
	ck_assert_uint_eq(of, cookie);
	ck_assert_int_eq(err, kinds[_i].err);
	translate_child_close(t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("translate_child");
	TCase *c = tcase_create("end");

	tcase_add_loop_test(c, who_has_ended_wakes_nobody_any_more, 0, NR(ends));
	tcase_add_test(c, no_answer_takes_longer_than_since_its_question);
	tcase_add_loop_test(c, answer_is_of_the_kind_that_was_asked_for, 0, NR(kinds));
	suite_add_tcase(s, c);
	return s;
}

UNIT_MAIN(make_suite)
