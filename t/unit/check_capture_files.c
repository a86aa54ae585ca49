/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_capture_files.c - debug files for a worker, where a file system does not answer
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "helpers/capture.h"
#include "t/unit/unit.h"

/* In place of capture_open.c's: the file system never answers. */
int capture_open(const char *path, int64_t author)
{
	(void)path;
	(void)author;
	for (;;)
		pause();
}

/* The collector learns only from its socket that the server has ended. */
START_TEST(a_child_that_waits_does_not_hold_the_socket_of_the_collector)
{
	int collector[2], ask[2];
	struct pollfd end;
	pid_t child;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, collector), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ask), 0);
	ck_assert_int_eq(dup2(collector[1], STDIN_FILENO), STDIN_FILENO);
	close(collector[1]);
	ck_assert_int_eq(send(ask[1], "/file", 6, 0), 6);
	child = capture_answer(ask[0], -1, true);
	ck_assert_int_gt(child, 0);
	close(STDIN_FILENO); /* as if the server had ended */
	end = (struct pollfd){ .fd = collector[0], .events = POLLIN };
	ck_assert_int_eq(poll(&end, 1, -1), 1);
	ck_assert(end.revents & POLLHUP);
	ck_assert_int_eq(waitpid(child, NULL, WNOHANG), 0); /* it waits */
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
END_TEST

START_TEST(if_too_many_wait_a_worker_goes_on_without_the_file)
{
	int ask[2], status;
	pid_t worker;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ask), 0);
	worker = fork();
	if (!worker) {
		struct stat st;

		if (dup2(ask[1], CAPTURE_FD_ASK) < 0)
			_exit(2);
		_exit(file_open_regular(AT_FDCWD, "/file", &st) == -EBUSY ? 0 : 1);
	}
	close(ask[1]);
	ck_assert_int_eq(capture_answer(ask[0], -1, false), 0);
	ck_assert_int_eq(waitpid(worker, &status, 0), worker);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(capture_answer(ask[0], -1, false), -EPIPE);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("capture_files");
	TCase *tc = tcase_create("capture_files");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc,
		       a_child_that_waits_does_not_hold_the_socket_of_the_collector);
	tcase_add_test(tc, if_too_many_wait_a_worker_goes_on_without_the_file);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
