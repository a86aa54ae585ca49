/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procmap_private.h - shared by procmap.c, which applies events, procmap_owners.c, and
 * procmap_lookup.c, which answers look-ups
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
	size_t nr_unasked; /* processes that procmap_ask_owners() is to look at */
	/* a process could not be added; an unknown tgid may be that process */
	bool refused;
	size_t nr_incomplete;
	uint64_t nr_failed, nr_skipped;
};

/*
 * Returns a reference to the account of tgid's owner; NULL if the owner is not known or
 * memory is short.
 */
struct account *procmap_account_of(struct procmap *pm, uint32_t tgid);

/* Moves a process of root to another account if its user has changed. */
void procmap_ask_owner(struct procmap *pm, struct process *p);

/* Leaves it to procmap_ask_owners() to do this. */
void procmap_ask_later(struct procmap *pm, struct process *p);

#endif
