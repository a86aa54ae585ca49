/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rescan.h - reads processes again whose mappings are not all known
 *
 * A process with more mappings than it may keep is incomplete
 * (daemon/procmap/procmap.h), and its samples are map_gap. Once it has fewer, a read of
 * /proc makes it complete again. All such reads take 1 % of a CPU at most.
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
 * Reads the incomplete processes that are due. Call it once between two calls of
 * procmap_forget(), right before a sweep: samples that are still in a table then, of a
 * process that is read now, are in the gap.
 */
void rescan_run(struct rescan *rs, struct procmap *pm, struct images *im);

#endif
