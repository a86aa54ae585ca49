/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * askers.h - limits the cost of requests of each user
 *
 * In the long run the requests of a user may take 1 % of a CPU, those of all users 2 %.
 * A user above the limit is served later, but never refused. Requests of root and of
 * the daemon's own user are not counted.
 */
#ifndef CPI_DAEMON_ASKERS_H
#define CPI_DAEMON_ASKERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/os/time_quota.h"

#define ASKERS_MAX         48 /* clients at a time, and thus users at a time */
#define ASKERS_MAX_OF_USER 16 /* clients of one user */

struct asker {
	uid_t uid;
	int nr_clients;
	bool has_job; /* the main thread is working on one of its requests */
	uint64_t used_ns;
	struct time_quota quota;
};

/* Zeroed at first. */
struct askers {
	struct asker asker[ASKERS_MAX];
	int nr;         /* known */
	int nr_clients; /* clients of all users */
	struct time_quota all;
};

/*
 * Returns the entry of a user. It is kept while the user has clients, and afterwards as
 * long as there is room. NULL: there is no room, because all entries have clients.
 */
struct asker *askers_get(struct askers *as, uid_t uid, uint64_t now_ns);

/* Whether a request of the user may be carried out now. */
bool askers_may(struct askers *as, struct asker *a, uint64_t now_ns);

/* Whether one more client may be accepted now. */
bool askers_may_accept(struct askers *as, uint64_t now_ns);

/* Adds the cost of a request. */
void askers_spend(struct askers *as, struct asker *a, uint64_t ns);

#endif
