/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * processmaps.h - the current and former mappings of one process
 *
 * After a fork, parent and child share a struct maps until one of them changes it. The
 * account of the process that made it is charged until the last sharer releases it.
 */
#ifndef CPI_DAEMON_PROCESSMAPS_H
#define CPI_DAEMON_PROCESSMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rangemap.h"
#include "daemon/procmap/accounts.h"

/* A mapping, or a part of one, that was replaced or unmapped. */
struct retired {
	struct range range;
	uint64_t until;
};

struct maps {
	unsigned int nr_users;
	struct account *account; /* NULL: no account */
	struct rangemap live;
	struct retired *retired;
	size_t nr_retired;
};

/* Releases the reference of one process; accepts NULL. */
void maps_put(struct accounts *as, struct maps *maps);

/* Returns the number of live and retired mappings. */
size_t maps_nr(const struct maps *maps); /* accepts NULL: 0 */

/*
 * Makes *maps changeable: if it is shared, replaces it by a copy, which is charged to
 * account. NULL becomes an empty one. Returns 0; -ENOSPC if a process may not have so
 * many mappings (max); -ENOBUFS if the total limit is reached; or -ENOMEM.
 */
int maps_own(struct accounts *as, struct account *account, size_t max,
	     struct maps **maps);

/*
 * Insert r, or remove [start, end). The mappings that this replaces are retired at the
 * time r->since, or `when`. They return 0, -ENOSPC, -ENOBUFS, or -ENOMEM; after -ENOMEM
 * mappings may be missing.
 */
int maps_insert(struct accounts *as, struct maps *maps, size_t max,
		const struct range *r);
int maps_remove(struct accounts *as, struct maps *maps, size_t max, uint64_t start,
		uint64_t end, uint64_t when);

/*
 * Copies the mappings in `found` to maps, which must be empty. Returns 0, -ENOSPC,
 * -ENOBUFS or -ENOMEM.
 */
int maps_fill(struct accounts *as, struct maps *maps, size_t max,
	      const struct rangemap *found);

/* Drops mappings that were retired before horizon. */
void maps_forget(struct accounts *as, struct maps *maps, uint64_t horizon);

/* Moves the charge to another account. */
void maps_move(struct accounts *as, struct maps *maps, struct account *to);

#endif
