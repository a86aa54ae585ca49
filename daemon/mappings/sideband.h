/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sideband.h - the kernel's records of fork, exec, mmap and exit
 *
 * Each CPU has a dummy event of its own, apart from the samples, so that a flood of
 * samples never displaces a mapping record. sideband_read() merges the records of all
 * CPUs by time before it applies them, because a fork on one CPU precedes the exec on
 * another.
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
#include "daemon/procmap/threadmap.h"

struct sideband_config {
	struct procmap *procmap;
	struct images *images;
	struct perftarget target;
	int epoll_fd;          /* watches every ring */
	struct kernel *kernel; /* receives changes of kernel text; may be NULL */
	struct jit *jit; /* receives memory that may hold generated code; may be NULL */
	struct cgroups *cgroups;   /* receives execs and its own samples; may be NULL */
	struct threadmap *threads; /* receives threads; NULL: they are not told apart */
	bool labels;               /* whether to take labels from names of mappings */
};

struct sideband;

/* Opens and starts the events on all online CPUs. Returns 0 or -errno, not logged. */
int sideband_open(const struct sideband_config *cfg, const struct cpus *cpus,
		  struct sideband **out);
void sideband_close(struct sideband *sb); /* accepts NULL */

/* Opens and closes events for CPUs that came or went. Returns 0 or the last -errno. */
int sideband_set_cpus(struct sideband *sb, const struct cpus *cpus);

/* Notes which events have stopped. Call it before sideband_leave_out_stopped(). */
void sideband_look_at_events(struct sideband *sb);

/*
 * Removes from the set each CPU that went offline since its event was opened, because
 * such an event records nothing any more. The highest CPU of the set stays.
 */
void sideband_leave_out_stopped(const struct sideband *sb, struct cpus *cpus);

/*
 * Applies all records that the kernel has written until now. Returns whether the time
 * since the read before is a gap: because records were lost in it, or because /proc was
 * not scanned since an earlier loss. Then sideband_mend() is due.
 */
bool sideband_read(struct sideband *sb);

/*
 * Whether the last sideband_read() found a new file, or a new process that generates
 * code. Such news must be looked up while the process lives.
 */
bool sideband_had_news(const struct sideband *sb);

/* Whether any ring has unread records; makes no system call. */
bool sideband_has_news(const struct sideband *sb);

/* Scans /proc, at most once a second, and enters the gap into the process map. */
void sideband_mend(struct sideband *sb);

/* How many records were lost since the start. */
uint64_t sideband_nr_lost(const struct sideband *sb);

#endif
