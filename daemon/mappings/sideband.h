/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sideband.h - fork, exec, mmap and exit, as the kernel reports them
 *
 * One dummy event per CPU, apart from the samples, so that a flood of samples
 * never pushes a mapping out. sideband_read() merges all CPUs' records by time
 * before it applies them: a fork on one CPU precedes the exec on another.
 */
#ifndef CPI_DAEMON_SIDEBAND_H
#define CPI_DAEMON_SIDEBAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/mappings/cgroups.h"
#include "daemon/os/cpus.h"
#include "daemon/os/perftarget.h"
#include "daemon/procmap/images.h"
#include "daemon/jit/jit.h"
#include "daemon/procmap/kernel.h"
#include "daemon/procmap/procmap.h"

struct sideband_config {
	struct procmap *procmap;
	struct images *images;
	struct perftarget target;
	int epoll_fd;          /* every ring is added to it */
	struct kernel *kernel; /* told of text that comes and goes; may be NULL */
	struct jit *jit;       /* told of memory that may hold such code; may be NULL */
	struct cgroups *cgroups; /* told of execs, and has samples; may be NULL */
	bool labels;             /* what processes say of theirs is wanted */
};

struct sideband;

/* Opens the events on all online CPUs and starts them. 0 or -errno (not logged). */
int sideband_open(const struct sideband_config *cfg, const struct cpus *cpus,
		  struct sideband **out);
void sideband_close(struct sideband *sb); /* accepts NULL */

/* Follows CPUs that came or went. 0 or the last -errno. */
int sideband_set_cpus(struct sideband *sb, const struct cpus *cpus);

/*
 * Takes those CPUs out of the set (all but out of its highest) that were offline since
 * their events were opened: these record nothing any more.
 */
void sideband_leave_out_stopped(const struct sideband *sb, struct cpus *cpus);

/*
 * Applies everything that the kernel has published until now. Returns whether
 * the time since the read before is a gap: records were lost in it, or were lost
 * earlier and /proc was not scanned since. Then sideband_mend() is due.
 */
bool sideband_read(struct sideband *sb);

/*
 * Whether the last reading had a file, or a process that makes code at run time, for
 * the first time: what is to be known of it has to be asked while it is there.
 */
bool sideband_had_news(const struct sideband *sb);

/* Whether there is anything to read at all; no system call. */
bool sideband_has_news(const struct sideband *sb);

/* Scans /proc, at most once a second, and tells the process map how long the gap was.
 */
void sideband_mend(struct sideband *sb);

/* Records lost since the beginning. */
uint64_t sideband_nr_lost(const struct sideband *sb);

#endif
