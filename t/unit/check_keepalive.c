/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "service/keepalive.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/times.h"
#include "service/notify.h"
#include "t/unit/unit.h"

static int manager;

static void setup(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char name[64];

	snprintf(name, sizeof(name), "@cpi-keepalive.%d", (int)getpid());
	strcpy(addr.sun_path, name);
	addr.sun_path[0] = '\0';
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(bind(manager, (struct sockaddr *)&addr,
			      offsetof(struct sockaddr_un, sun_path) + strlen(name)),
			 0);
	setenv("NOTIFY_SOCKET", name, 1);
	unsetenv("WATCHDOG_PID");
	setenv("WATCHDOG_USEC", "30000000", 1);
}

static void teardown(void)
{
	close(manager);
}

static const char *heard(void)
{
	static char text[64];
	ssize_t n = recv(manager, text, sizeof(text) - 1, 0);

	text[n < 0 ? 0 : n] = '\0';
	return text;
}

static const struct {
	const char *usec, *pid; /* "own": this process */
	uint64_t ns;
} wishes[] = {
	{ "30000000", NULL, 30 * NSEC_PER_SEC },
	{ "30000000", "own", 30 * NSEC_PER_SEC },
	{ "30000000", "1", 0 },
	{ NULL, NULL, 0 },
	{ "", NULL, 0 },
	{ "0", NULL, 0 },
	{ "-5", NULL, 0 },
	{ "30s", NULL, 0 },
	{ "30000000", "", 0 },
	{ "99999999999999999999", NULL, 0 },
	{ "18446744073709551615", NULL, 0 },
};

START_TEST(the_manager_says_how_long_it_waits)
{
	char own[32];

	snprintf(own, sizeof(own), "%d", (int)getpid());
	unsetenv("WATCHDOG_USEC");
	if (wishes[_i].usec)
		setenv("WATCHDOG_USEC", wishes[_i].usec, 1);
	if (wishes[_i].pid)
		setenv("WATCHDOG_PID",
		       strcmp(wishes[_i].pid, "own") != 0 ? wishes[_i].pid : own, 1);
	ck_assert_uint_eq(notify_watchdog_ns(), wishes[_i].ns);
}
END_TEST

START_TEST(it_says_so_at_half_the_time)
{
	struct keepalive k = { .running = false };

	keepalive_run(&k);
	keepalive_beat(&k);
	ck_assert_str_eq(heard(), "WATCHDOG=1");
	keepalive_beat(&k);
	ck_assert_str_eq(heard(), "");
	ck_assert_int_gt(keepalive_wait_ms(&k), 14000);
	ck_assert_int_le(keepalive_wait_ms(&k), 15001);
}
END_TEST

START_TEST(without_a_watchdog_it_says_nothing)
{
	struct keepalive k = { .running = false };

	unsetenv("WATCHDOG_USEC");
	keepalive_run(&k);
	keepalive_beat(&k);
	ck_assert_str_eq(heard(), "");
	ck_assert_int_eq(keepalive_wait_ms(&k), -1);
}
END_TEST

START_TEST(at_its_start_and_end_it_asks_for_more_time)
{
	struct keepalive k = { .running = false };

	keepalive_beat(&k);
	ck_assert_str_eq(heard(), "EXTEND_TIMEOUT_USEC=60000000");
	keepalive_beat(&k);
	ck_assert_str_eq(heard(), "");
	ck_assert_int_eq(keepalive_wait_ms(&k), -1);
	keepalive_run(&k);
	keepalive_beat(&k);
	ck_assert_str_eq(heard(), "WATCHDOG=1");
	keepalive_stop(&k);
	keepalive_beat(&k);
	ck_assert_str_eq(heard(), "EXTEND_TIMEOUT_USEC=60000000");
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("keepalive");
	TCase *tc = tcase_create("keepalive");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, the_manager_says_how_long_it_waits, 0, NR(wishes));
	tcase_add_test(tc, it_says_so_at_half_the_time);
	tcase_add_test(tc, without_a_watchdog_it_says_nothing);
	tcase_add_test(tc, at_its_start_and_end_it_asks_for_more_time);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
