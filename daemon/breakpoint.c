/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * breakpoint.c - one perf event of PERF_TYPE_BREAKPOINT in one thread
 *
 * Each hit is a sample that is written nowhere, so that PERF_EVENT_IOC_REFRESH can
 * bound them. The event's time is the thread's while it runs with the breakpoint.
 */
#include "config.h"

#include "daemon/breakpoint.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "daemon/perfev.h"

#define LEFT_FREE 2

/* Whether the thread has a debugger: 0, -EBUSY or -ESRCH. */
static int check_debugger(pid_t tid)
{
	struct buf text = { 0 };
	const char *line;
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	err = file_read_all(AT_FDCWD, path, 65536, &text);
	line = err ? NULL : strstr(buf_str(&text), "\nTracerPid:");
	if (err || !line)
		err = -ESRCH;
	else if (strtol(line + strlen("\nTracerPid:"), NULL, 10))
		err = -EBUSY;
	buf_fini(&text);
	return err;
}

/* exec ends it where the kernel, since Linux 5.13, can do that. */
static int open_event(pid_t tid, uint64_t address)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = address,
		.bp_len = sizeof(long),
		.sample_period = 1,
		.read_format =
			PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.remove_on_exec = 1,
	};
	int fd = perfev_open(&attr, tid, -1);

	if (fd == -EINVAL || fd == -E2BIG) {
		attr.remove_on_exec = 0;
		fd = perfev_open(&attr, tid, -1);
	}
	return fd;
}

static int begin(int fd, uint32_t max_hits)
{
	return ioctl(fd, PERF_EVENT_IOC_REFRESH, (int)max_hits) < 0 ? -errno : 0;
}

/* That others are free is known by having them for a moment. */
int breakpoint_open(pid_t tid, uint64_t address, uint32_t max_hits, int *out)
{
	int err = check_debugger(tid), fd, other[LEFT_FREE];

	if (err)
		return err;
	fd = open_event(tid, address);
	if (fd < 0)
		return fd;
	for (int i = 0; i < LEFT_FREE; i++) {
		other[i] = open_event(tid, address);
		if (other[i] < 0)
			err = other[i];
	}
	for (int i = 0; i < LEFT_FREE; i++) {
		if (other[i] >= 0)
			close(other[i]);
	}
	if (!err)
		err = begin(fd, max_hits);
	if (err)
		close(fd);
	else
		*out = fd;
	return err;
}

int breakpoint_close(int fd, struct breakpoint_counts *out)
{
	uint64_t value[3]; /* count, enabled, running */
	const ssize_t got = read(fd, value, sizeof(value));

	close(fd);
	if (got != sizeof(value))
		return -ENODATA;
	*out = (struct breakpoint_counts){ value[0], value[2] };
	return 0;
}

__attribute__((noinline)) static void called(void)
{
	__asm__ volatile("" : : : "memory");
}

int breakpoint_measure(uint32_t hits, double *hit_ns)
{
	struct breakpoint_counts c;
	int fd = open_event(0, (uintptr_t)called), err;

	if (fd < 0)
		return fd;
	err = begin(fd, 2 * hits);
	for (uint32_t i = 0; !err && i < hits; i++)
		called();
	if (err) {
		close(fd);
		return err;
	}
	err = breakpoint_close(fd, &c);
	if (!err && c.hits != hits)
		err = -EIO;
	if (!err)
		*hit_ns = (double)c.running_ns / (double)c.hits;
	return err;
}
