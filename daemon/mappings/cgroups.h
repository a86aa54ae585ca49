/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroups.h - the cgroup of each process, and its changes
 *
 * A process's cgroup is the one of cgroup v2. If that is the root, or there is no v2,
 * it is the one of systemd's hierarchy in v1 (name=systemd).
 */
#ifndef CPI_DAEMON_CGROUPS_H
#define CPI_DAEMON_CGROUPS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/os/timed_child.h"
#include "daemon/procmap/procmap.h"

/* What cgroups_parse() finds. The paths point into the text; NULL if there is none. */
struct cgroups_paths {
	char *unified, *named;
	bool perf_in_v1; /* perf has a v1 hierarchy of its own, so its ids are of no use
			  */
};

/* Parses the text of /proc/PID/cgroup, and cuts it into pieces. */
void cgroups_parse(char *text, struct cgroups_paths *out);

/* The path by which the process is counted, or NULL. */
const char *cgroups_choose(const struct cgroups_paths *p);

/*
 * Finds where cgroup v2 is mounted. All mounts show the same, so any one will do; *out
 * is NULL if there is none, and the caller frees it. Returns 0 or -errno.
 */
int cgroups_find_mount(char **out);

struct cgroups;

/*
 * Enters cgroups into pm. With follow, events report changes; if that is impossible, it
 * is logged, and cgroups_nr_events() is 0. Returns 0 or -ENOMEM.
 */
int cgroups_open(struct procmap *pm, struct timed_child *a, bool follow,
		 struct cgroups **out);
void cgroups_close(struct cgroups *c); /* accepts NULL */

/*
 * Reads from /proc the cgroup of each process in pm. A process that /proc does not
 * answer for keeps its cgroup.
 */
void cgroups_read_all(struct cgroups *c);

/* A process has called exec. Without events, this asks /proc about it. */
void cgroups_note_exec(struct cgroups *c, uint32_t tgid);

/*
 * The events whose samples go to cgroups_apply(), by number. If one cannot be opened,
 * call cgroups_give_up(): from then on /proc is asked instead, which is logged.
 */
#define CGROUPS_MAX_EVENTS 2
int cgroups_nr_events(const struct cgroups *c); /* c may be NULL */
void cgroups_attr(const struct cgroups *c, int event, struct perf_event_attr *attr);
void cgroups_give_up(struct cgroups *c, int err);

/* Applies a sample. Samples come in time order with forks and execs. */
void cgroups_apply(struct cgroups *c, const struct perf_event_header *h);

#endif
