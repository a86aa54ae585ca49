/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rescan.h - processes whose mappings are not all known are read again
 *
 * A process that maps more than it may keep is incomplete (daemon/procmap/procmap.h),
 * and its samples are map_gap. When it has calmed down, /proc says what it has mapped
 * now, and from then on it is whole. This takes 1 % of a CPU at most.
 */
#ifndef CPI_DAEMON_RESCAN_H
#define CPI_DAEMON_RESCAN_H

#include <stdint.h>

#include "daemon/os/time_quota.h"
#include "daemon/procmap/images.h"
#include "daemon/procmap/procmap.h"

/* Zeroed at the start. */
struct rescan {
	struct time_quota quota;
	uint64_t nr_read; /* processes, ever */
};

/*
 * Reads the incomplete processes that are due. To be called once between two calls of
 * procmap_forget(), right before a sweep: what is in a table then, of a process that is
 * read now, is a gap.
 */
void rescan_run(struct rescan *rs, struct procmap *pm, struct images *im);

#endif
