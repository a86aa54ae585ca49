/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procmap_private.h - shared by procmap.c, which applies events, and procmap_lookup.c,
 * which answers look-ups
 */
#ifndef CPI_DAEMON_PROCMAP_PRIVATE_H
#define CPI_DAEMON_PROCMAP_PRIVATE_H

#include "daemon/procmap/procmap.h"

struct gap {
	uint64_t from, to;
};

struct procmap {
	struct hmap by_tgid;
	struct process *all;
	struct names names;
	struct gap *gaps;
	size_t nr_gaps;
	struct accounts accounts;
	/* NULL: processes have no account */
	int (*owner)(uint32_t tgid, uint32_t *uid);
	/* a process could not be added; an unknown tgid may be that process */
	bool refused;
	size_t nr_incomplete;
	uint64_t nr_failed, nr_skipped;
};

#endif
