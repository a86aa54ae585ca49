/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroupevents.h - samples of tracepoints that tell in which cgroup a process is
 *
 * cgroup:cgroup_attach_task tells of moves. sched:sched_process_exec has, with the
 * sample, the id of the cgroup that the process is in: one that was made in another
 * cgroup than its parent's (clone3(2)) is known by it.
 */
#ifndef CPI_DAEMON_CGROUPEVENTS_H
#define CPI_DAEMON_CGROUPEVENTS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct cgroupevents_field {
	unsigned int offset;
	unsigned int size;
};

/* The tracepoints' numbers, and where in the first one fields are. */
struct cgroupevents {
	uint64_t moved, executed;
	struct cgroupevents_field hierarchy, id, pid, path;
};

/* From the texts of their format files. 0 or -EINVAL. */
int cgroupevents_parse(const char *moved, const char *executed,
		       struct cgroupevents *out);

/* Reads them from tracefs, mounted or not. 0 or -errno. */
int cgroupevents_find(struct cgroupevents *out);

/*
 * A tracepoint's event, for a ring whose clock is CLOCK_MONOTONIC. Kernels before 5.7,
 * and those without CGROUP_PERF, refuse it.
 */
void cgroupevents_attr(uint64_t tracepoint, struct perf_event_attr *attr);

/* The time of such a sample. False: it is none. */
bool cgroupevents_time(const struct perf_event_header *h, uint64_t *time);

/* A process is in a cgroup from now on. */
struct cgroupevent {
	uint32_t tgid;
	uint32_t hierarchy; /* 0: v2's */
	uint64_t id;        /* of the cgroup, in its hierarchy */
	const char *path;   /* the sample's; NULL where it is not said */
};

/* Reads such a sample. False: it is none. */
bool cgroupevents_read(const struct cgroupevents *ce, const struct perf_event_header *h,
		       struct cgroupevent *out);

#endif
