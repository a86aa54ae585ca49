/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procmap_private.h - what procmap.c, which takes events in, and procmap_lookup.c,
 * which answers, share
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
	int (*owner)(uint32_t tgid, uint32_t *uid); /* NULL: nobody pays */
	bool refused; /* there was no place for a process: what is unknown may be one */
	size_t nr_incomplete;
	uint64_t nr_failed, nr_skipped;
};

#endif
