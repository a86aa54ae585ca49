/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * askers.h - the users that ask for something, and what their requests may cost
 *
 * A user's requests may take 1 % of a CPU in the long run, those of all users 2 %. A
 * user above that is served later, never refused. Root and the daemon's own user are
 * no askers: nothing of theirs is counted.
 */
#ifndef CPI_DAEMON_ASKERS_H
#define CPI_DAEMON_ASKERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/os/time_quota.h"

#define ASKERS_MAX         48 /* clients of users at a time; so many users at most */
#define ASKERS_MAX_OF_USER 16 /* clients of one user */

struct asker {
	uid_t uid;
	int nr_clients;
	bool has_job; /* the main thread has one of its requests */
	uint64_t used_ns;
	struct time_quota quota;
};

/* Zeroed at first. */
struct askers {
	struct asker asker[ASKERS_MAX];
	int nr;         /* known */
	int nr_clients; /* of all of them */
	struct time_quota all;
};

/*
 * Of this user, who is remembered while it has clients, and for as long as there is
 * room afterwards. NULL: all there are have clients.
 */
struct asker *askers_get(struct askers *as, uid_t uid, uint64_t now_ns);

/* Whether something that costs may be done for it now. */
bool askers_may(struct askers *as, struct asker *a, uint64_t now_ns);

/* Whether another user's client may be accepted now, whoever that is. */
bool askers_may_accept(struct askers *as, uint64_t now_ns);

/* It cost so much. */
void askers_spend(struct askers *as, struct asker *a, uint64_t ns);

#endif
