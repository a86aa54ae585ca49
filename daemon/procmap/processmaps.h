/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * processmaps.h - the mappings of one process: those that hold, and those that did
 *
 * After a fork parent and child share them until either changes. They are charged to
 * the account of who made them, until the last user is gone.
 */
#ifndef CPI_DAEMON_PROCESSMAPS_H
#define CPI_DAEMON_PROCESSMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rangemap.h"
#include "daemon/procmap/accounts.h"

/* A mapping that a newer one replaced, wholly or in part. */
struct retired {
	struct range range;
	uint64_t until;
};

struct maps {
	unsigned int nr_users;
	struct account *account; /* NULL: nobody pays */
	struct rangemap live;
	struct retired *retired;
	size_t nr_retired;
};

/* One user less; accepts NULL. */
void maps_put(struct accounts *as, struct maps *maps);

/* Live and retired ones. */
size_t maps_nr(const struct maps *maps); /* accepts NULL: 0 */

/*
 * What is live in maps (NULL: nothing), in maps that have no other user, so that they
 * may change: maps itself, or a copy, which takes the user's place. The account is
 * charged for a copy. 0; -ENOSPC when one process may not have so many, -ENOBUFS when
 * there is no room among all; or -ENOMEM.
 */
int maps_own(struct accounts *as, struct account *account, size_t max,
	     struct maps **maps);

/*
 * Puts r in, or takes [start, end) out; what was there is retired, at r->since, or
 * when. 0, -ENOSPC, -ENOBUFS, or -ENOMEM: then what is there may not be all.
 */
int maps_insert(struct accounts *as, struct maps *maps, size_t max,
		const struct range *r);
int maps_remove(struct accounts *as, struct maps *maps, size_t max, uint64_t start,
		uint64_t end, uint64_t when);

/* Takes in what was found, into empty ones. 0, -ENOSPC, -ENOBUFS or -ENOMEM. */
int maps_fill(struct accounts *as, struct maps *maps, size_t max,
	      const struct rangemap *found);

/* Forgets what was retired before horizon. */
void maps_forget(struct accounts *as, struct maps *maps, uint64_t horizon);

/* They are another account's from now on. */
void maps_move(struct accounts *as, struct maps *maps, struct account *to);

#endif
