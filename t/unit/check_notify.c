/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "service/notify.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "t/unit/unit.h"

/* Binds a datagram socket and names it in the environment. */
static int be_manager(bool abstract, char *name, size_t size)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	socklen_t len;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	snprintf(name, size, "%s/tmp/cpi-notify.%d", abstract ? "@" : "",
		 (int)getpid());
	strcpy(addr.sun_path, name);
	len = offsetof(struct sockaddr_un, sun_path) + strlen(name);
	if (abstract)
		addr.sun_path[0] = '\0';
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, len), 0);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

START_TEST(the_manager_is_told)
{
	char name[64], got[64] = "";
	int fd = be_manager(_i, name, sizeof(name));

	ck_assert_int_eq(notify_send("READY=1\nSTATUS=%d events", 3), 0);
	ck_assert_int_eq(recv(fd, got, sizeof(got) - 1, 0), 23);
	ck_assert_str_eq(got, "READY=1\nSTATUS=3 events");
	close(fd);
	if (!_i)
		unlink(name);
}
END_TEST

START_TEST(without_a_manager_nothing_happens)
{
	unsetenv("NOTIFY_SOCKET");
	ck_assert_int_eq(notify_send("READY=1"), 0);
}
END_TEST

static const struct {
	const char *name;
	int err;
} bad_names[] = {
	{ "", -EINVAL },
	{ "@", -EINVAL },
	{ "relative", -EINVAL },
	{ "/nonexistent/notify", -ENOENT },
	{ "/0123456789012345678901234567890123456789012345678901234567890123456789"
	  "01234567890123456789012345678901234567",
	  -ENAMETOOLONG },
};

START_TEST(a_bad_address_is_an_error)
{
	setenv("NOTIFY_SOCKET", bad_names[_i].name, 1);
	ck_assert_int_eq(notify_send("READY=1"), bad_names[_i].err);
}
END_TEST

START_TEST(a_message_that_is_too_long_is_not_cut)
{
	char name[64], got[64];
	int fd = be_manager(true, name, sizeof(name));

	ck_assert_int_eq(notify_send("STATUS=%2000d", 1), -EMSGSIZE);
	ck_assert_int_eq(recv(fd, got, sizeof(got), 0), -1);
	close(fd);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("notify");
	TCase *tc = tcase_create("notify");

	tcase_add_loop_test(tc, the_manager_is_told, 0, 2);
	tcase_add_test(tc, without_a_manager_nothing_happens);
	tcase_add_loop_test(tc, a_bad_address_is_an_error, 0, NR(bad_names));
	tcase_add_test(tc, a_message_that_is_too_long_is_not_cut);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
