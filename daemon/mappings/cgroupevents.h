/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroupevents.h - samples of tracepoints that say in which cgroup a process is
 *
 * cgroup:cgroup_attach_task reports moves. A sample of sched:sched_process_exec has the
 * id of the process's cgroup; only that shows when a process was made in another cgroup
 * than its parent's (clone3(2)).
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

/* The numbers of the tracepoints, and the offsets of the first one's fields. */
struct cgroupevents {
	uint64_t moved, executed;
	struct cgroupevents_field hierarchy, id, pid, path;
};

/* Parses the texts of their format files. Returns 0 or -EINVAL. */
int cgroupevents_parse(const char *moved, const char *executed,
		       struct cgroupevents *out);

/* Reads them from tracefs, which need not be mounted. Returns 0 or -errno. */
int cgroupevents_find(struct cgroupevents *out);

/*
 * The attributes of a tracepoint's event, for a ring whose clock is CLOCK_MONOTONIC.
 * Kernels before 5.7, and those without CGROUP_PERF, refuse it.
 */
void cgroupevents_attr(uint64_t tracepoint, struct perf_event_attr *attr);

/* Reads the time of such a sample. Returns false if it is not one. */
bool cgroupevents_time(const struct perf_event_header *h, uint64_t *time);

/* From now on a process is in this cgroup. */
struct cgroupevent {
	uint32_t tgid;
	uint32_t hierarchy; /* 0: v2's */
	uint64_t id;        /* the cgroup's, in its hierarchy */
	const char *path;   /* in the sample; NULL if it has none */
};

/* Parses such a sample. Returns false if it is not one. */
bool cgroupevents_read(const struct cgroupevents *ce, const struct perf_event_header *h,
		       struct cgroupevent *out);

#endif
