/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_counters.c - no perf event is removed while it counts
 *
 * Its ioctl() and close() note what happens to each event's descriptor.
 */
#include "config.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <unistd.h>

#include "daemon/collect/counters.h"
#include "daemon/collect/event.h"
#include "daemon/os/cpus.h"
#include "t/unit/unit.h"

#define MAX_FDS 4096

int __real_close(int fd);
int __wrap_close(int fd);
int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);

static enum { OTHER, COUNTS, STOPPED } state[MAX_FDS];
static int nr_started, nr_running_closed, nr_stopped_closed;

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	unsigned long argument;
	va_list list;
	int ret;

	va_start(list, request);
	argument = va_arg(list, unsigned long);
	va_end(list);
	ret = __real_ioctl(fd, request, argument);
	if (!ret && request == PERF_EVENT_IOC_ENABLE) {
		state[fd] = COUNTS;
		nr_started++;
	} else if (!ret && request == PERF_EVENT_IOC_DISABLE && state[fd] == COUNTS) {
		state[fd] = STOPPED;
	}
	return ret;
}

int __wrap_close(int fd)
{
	if (fd >= 0 && fd < MAX_FDS) {
		nr_running_closed += state[fd] == COUNTS;
		nr_stopped_closed += state[fd] == STOPPED;
		state[fd] = OTHER;
	}
	return __real_close(fd);
}

static int opened(void *ctx, int cpu, int event, int fd)
{
	(void)ctx;
	(void)cpu;
	(void)event;
	ck_assert_int_lt(fd, MAX_FDS);
	return 0;
}

/* This process's page faults and its time, on one CPU. */
static int open_counters(struct counters **out)
{
	static const uint64_t periods[] = { 1000, 1000000 };
	static struct event events[NR(periods)];
	const struct counters_config cfg = {
		.events = events,
		.periods = periods,
		.nr_events = NR(periods),
		.target = { .pid = getpid() },
		.opened = opened,
	};
	struct cpus cpus = { 0 };
	int failed;

	ck_assert_int_eq(event_parse("page-faults", 0, &events[0]), 0);
	ck_assert_int_eq(event_parse("cpu-clock", 0, &events[1]), 0);
	ck_assert_int_eq(cpus_parse("0", &cpus), 0);
	return counters_open(&cfg, &cpus, out, &failed);
}

static bool is_refused(int err)
{
	return err == -EACCES || err == -EPERM || err == -ENOSYS;
}

START_TEST(events_stop_before_they_are_closed)
{
	struct counters *cs = NULL;
	const int err = open_counters(&cs);

	if (is_refused(err))
		return;
	ck_assert_int_eq(err, 0);
	ck_assert_int_eq(nr_started, 2);
	counters_close(cs);
	ck_assert_int_eq(nr_running_closed, 0);
	ck_assert_int_eq(nr_stopped_closed, 2);
}
END_TEST

START_TEST(those_of_a_cpu_that_went_away_as_well)
{
	struct cpus none = { .highest = -1 };
	struct counters *cs = NULL;
	const int err = open_counters(&cs);

	if (is_refused(err))
		return;
	ck_assert_int_eq(err, 0);
	ck_assert_int_eq(counters_set_cpus(cs, &none), 0);
	ck_assert_int_eq(nr_running_closed, 0);
	ck_assert_int_eq(nr_stopped_closed, 2);
	counters_close(cs);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("counters");
	TCase *tc = tcase_create("counters");

	tcase_add_test(tc, events_stop_before_they_are_closed);
	tcase_add_test(tc, those_of_a_cpu_that_went_away_as_well);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
