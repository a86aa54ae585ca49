/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The attack is real: the first case shows that it works on whoever just receives. The
 * others are what older kernels need, on sockets that do not refuse descriptors.
 */
#include "config.h"

#include "daemon/os/foreignfds.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/times.h"
#include "t/lingering.h"
#include "t/unit/unit.h"

#define LINGER_S 2
#define SOON_NS  (500 * NSEC_PER_MSEC)

static int pair[2], peer;
static struct foreignfds foreign;

static void setup(void)
{
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	foreign = (struct foreignfds){ .refused = false };
}

static void teardown(void)
{
	close(pair[0]);
	close(pair[1]);
	close(peer);
}

static void send_one(const char *text, bool with_descriptor)
{
	int fd;

	if (!with_descriptor) {
		ck_assert_int_eq(send(pair[0], text, strlen(text), 0),
				 (int)strlen(text));
		return;
	}
	fd = lingering_make(LINGER_S, &peer);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(lingering_send(pair[0], text, strlen(text), fd), 0);
}

START_TEST(a_release_lingers)
{
	uint64_t begun_ns = time_mono_ns();
	char text[8];

	send_one("bad", true);
	ck_assert_int_eq(recv(pair[1], text, sizeof(text), 0), 3);
	ck_assert_uint_ge(time_mono_ns() - begun_ns, NSEC_PER_SEC);
}
END_TEST

START_TEST(a_message_with_descriptors_is_dropped_apart)
{
	uint64_t begun_ns = time_mono_ns();
	char text[8];

	send_one("bad", true);
	send_one("good", false);
	ck_assert(foreignfds_came(&foreign, pair[1], 0));
	ck_assert_int_eq(foreignfds_drop(&foreign, pair[1]), 0);
	while (foreignfds_is_dropping(&foreign))
		poll(NULL, 0, 1);
	ck_assert(!foreignfds_came(&foreign, pair[1], 0));
	ck_assert_int_eq(recv(pair[1], text, sizeof(text), MSG_DONTWAIT), 4);
	ck_assert_uint_lt(time_mono_ns() - begun_ns, SOON_NS);
}
END_TEST

START_TEST(a_message_without_is_none_to_drop)
{
	ck_assert(!foreignfds_came(&foreign, pair[1], 0)); /* nor is no message */
	send_one("good", false);
	ck_assert(!foreignfds_came(&foreign, pair[1], 0));
}
END_TEST

/* With the sender's credentials, as the loader hook's socket has them. */
START_TEST(what_the_kernel_adds_is_no_descriptor)
{
	const int on = 1;
	const size_t expected = CMSG_SPACE(sizeof(struct ucred));

	ck_assert_int_eq(setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)),
			 0);
	send_one("text", _i);
	ck_assert_int_eq(foreignfds_came(&foreign, pair[1], expected), _i);
	ck_assert_int_eq(foreignfds_came(&foreign, pair[1], 2 * expected), _i);
	pair[1] = foreignfds_close(&foreign, pair[1]) ? pair[1] : -1;
	ck_assert_int_eq(pair[1], -1);
}
END_TEST

START_TEST(closing_with_descriptors_unread_does_not_wait)
{
	uint64_t begun_ns = time_mono_ns();
	char text[8];

	send_one("good", false);
	send_one("bad", true);
	ck_assert_int_eq(recv(pair[1], text, sizeof(text), 0), 4);
	ck_assert_int_eq(foreignfds_close(&foreign, pair[1]), 0);
	pair[1] = -1;
	while (foreignfds_is_dropping(&foreign))
		poll(NULL, 0, 1);
	ck_assert_uint_lt(time_mono_ns() - begun_ns, SOON_NS);
	ck_assert_int_eq(send(pair[0], text, 4, MSG_NOSIGNAL), -1);
}
END_TEST

/* It looks like the end of the connection. */
START_TEST(an_empty_message_with_descriptors_is_unread_too)
{
	uint64_t begun_ns = time_mono_ns();

	if (_i)
		send_one("", false);
	send_one("", true);
	ck_assert_int_eq(foreignfds_close(&foreign, pair[1]), 0);
	pair[1] = -1;
	ck_assert_uint_lt(time_mono_ns() - begun_ns, SOON_NS);
}
END_TEST

START_TEST(a_connection_that_was_read_is_closed_at_once)
{
	char text[8];

	send_one("good", false);
	ck_assert_int_eq(recv(pair[1], text, sizeof(text), 0), 4);
	ck_assert_int_eq(foreignfds_close(&foreign, pair[1]), 0);
	pair[1] = -1;
	ck_assert(!foreignfds_is_dropping(&foreign));
}
END_TEST

/* ---- without processes ---- */

static int forks_left = -1; /* this many succeed; -1: all */

pid_t __real_fork(void);
pid_t __wrap_fork(void);

pid_t __wrap_fork(void)
{
	if (!forks_left) {
		errno = EAGAIN;
		return -1;
	}
	forks_left -= forks_left > 0;
	return __real_fork();
}

/* Neither the child nor, in the second round, the grandchild can be started. */
START_TEST(without_a_process_nothing_is_taken)
{
	char text[8];

	send_one("bad", true);
	forks_left = _i;
	ck_assert_int_eq(foreignfds_drop(&foreign, pair[1]), -EAGAIN);
	ck_assert(!foreignfds_is_dropping(&foreign));
	ck_assert_int_eq(foreignfds_close(&foreign, pair[1]), -EAGAIN);
	ck_assert_int_eq(recv(pair[1], text, sizeof(text), MSG_PEEK), 3);
	forks_left = -1;
	ck_assert_int_eq(foreignfds_close(&foreign, pair[1]), 0);
	pair[1] = -1;
}
END_TEST

START_TEST(the_kernel_refuses_them_where_it_can)
{
	int fd = lingering_make(LINGER_S, &peer);

	ck_assert_int_ge(fd, 0);
	foreign.refused = foreignfds_refuse(pair[1]);
	if (foreign.refused)
		ck_assert_int_eq(lingering_send(pair[0], "bad", 3, fd), -EPERM);
	close(peer);
	close(fd);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("foreignfds");
	TCase *tc = tcase_create("foreignfds");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_release_lingers);
	tcase_add_test(tc, a_message_with_descriptors_is_dropped_apart);
	tcase_add_test(tc, a_message_without_is_none_to_drop);
	tcase_add_loop_test(tc, what_the_kernel_adds_is_no_descriptor, 0, 2);
	tcase_add_test(tc, closing_with_descriptors_unread_does_not_wait);
	tcase_add_loop_test(tc, an_empty_message_with_descriptors_is_unread_too, 0, 2);
	tcase_add_test(tc, a_connection_that_was_read_is_closed_at_once);
	tcase_add_loop_test(tc, without_a_process_nothing_is_taken, 0, 2);
	tcase_add_test(tc, the_kernel_refuses_them_where_it_can);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
