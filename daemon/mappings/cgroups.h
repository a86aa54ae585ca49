/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroups.h - which cgroup a process is in, and when it changes
 *
 * A process's cgroup is that of cgroup v2; where it is in the root of that, or there is
 * none, the one of systemd's hierarchy in v1 (name=systemd).
 */
#ifndef CPI_DAEMON_CGROUPS_H
#define CPI_DAEMON_CGROUPS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/os/timed_child.h"
#include "daemon/procmap/procmap.h"

/* What cgroups_parse() finds; the paths are text's, NULL where there is none. */
struct cgroups_paths {
	char *unified, *named;
	bool perf_in_v1; /* perf's ids are of a hierarchy of its own */
};

/* Reads the text of /proc/PID/cgroup, which is cut up. */
void cgroups_parse(char *text, struct cgroups_paths *out);

/* The one of them that counts, or NULL. */
const char *cgroups_choose(const struct cgroups_paths *p);

/*
 * Where cgroup v2 is mounted, which the caller frees; several mounts show the same.
 * NULL: it is not. 0 or -errno.
 */
int cgroups_find_mount(char **out);

struct cgroups;

/*
 * Tells pm. follow: events are to tell of changes; where that cannot be, it is logged,
 * and cgroups_nr_events() is 0. Returns 0 or -ENOMEM.
 */
int cgroups_open(struct procmap *pm, struct timed_child *a, bool follow,
		 struct cgroups **out);
void cgroups_close(struct cgroups *c); /* accepts NULL */

/* Asks /proc which cgroup each process that pm has is in now. Where it cannot say,
 * nothing changes.
 */
void cgroups_read_all(struct cgroups *c);

/* A process has called exec: without events, it is time to ask. */
void cgroups_note_exec(struct cgroups *c, uint32_t tgid);

/*
 * The events whose samples are for cgroups_apply(), by number. Where one cannot be
 * opened, cgroups_give_up() has /proc asked instead from then on, and says so.
 */
#define CGROUPS_MAX_EVENTS 2
int cgroups_nr_events(const struct cgroups *c); /* c may be NULL */
void cgroups_attr(const struct cgroups *c, int event, struct perf_event_attr *attr);
void cgroups_give_up(struct cgroups *c, int err);

/* Takes a sample in, in the order of forks and execs. */
void cgroups_apply(struct cgroups *c, const struct perf_event_header *h);

#endif
