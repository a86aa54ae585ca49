/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroups.h - which cgroup a process is in, and when it changes
 *
 * A process's cgroup is that of cgroup v2; where it is in the root of that, or there is
 * none, the one of systemd's hierarchy in v1 (name=systemd).
 *
 * Moves are told by a tracepoint, cgroup:cgroup_attach_task, whose number and fields
 * are read from tracefs. Its samples go into the ring of the mapping events, so they
 * come in order with forks and execs.
 */
#ifndef CPI_DAEMON_CGROUPS_H
#define CPI_DAEMON_CGROUPS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/procmap.h"

/*
 * Finds the path in the text of /proc/PID/cgroup, which is cut up. NULL when there is
 * none.
 */
char *cgroups_parse(char *text);

/* Asks /proc which cgroup a process is in now. 0 or -errno: then nothing changes. */
int cgroups_read(struct procmap *pm, uint32_t tgid);

/* The tracepoint's number, and where its fields are; hierarchy 0 is v2. */
struct cgroup_moves {
	uint64_t id;
	struct cgroup_field {
		unsigned int offset, size;
	} hierarchy, pid, path;
};

/* From the text of the tracepoint's format file. 0 or -EINVAL. */
int cgroup_moves_parse(const char *format, struct cgroup_moves *out);

/* Reads it from tracefs, mounted or not. 0 or -errno. */
int cgroup_moves_find(struct cgroup_moves *out);

/* Its event, for a ring whose clock is CLOCK_MONOTONIC. */
void cgroup_moves_attr(const struct cgroup_moves *m, struct perf_event_attr *attr);

/* The time of such a sample, of whatever size. False: it is none. */
bool cgroup_moves_time(const struct perf_event_header *h, uint64_t *time);

/* Takes such a sample in. */
void cgroup_moves_apply(const struct cgroup_moves *m, struct procmap *pm,
			const struct perf_event_header *h);

#endif
