/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keeper.h - a thread that rolls up and removes what is old, beside the session
 *
 * It has a connection of its own, and works half of the time at most: others write and
 * sample meanwhile.
 */
#ifndef CPI_DAEMON_KEEPER_H
#define CPI_DAEMON_KEEPER_H

#include <stdint.h>

#include "base/buf.h"
#include "db/retain.h"

struct keeper;

/*
 * Begins to keep the database at db_path to the policy. After privileges were dropped:
 * a thread has its own. 0, -errno or -CPI_E…, logged.
 */
int keeper_start(const char *db_path, const struct retain_policy *policy,
		 struct keeper **out);

/* Ends what is under way at the next slice, which is soon. Accepts NULL. */
void keeper_stop(struct keeper *k);

/* Something was stored: there may be something to do. Accepts NULL. */
void keeper_wake(struct keeper *k);

/* CPU time of the thread; 0 for NULL. */
uint64_t keeper_cpu_ns(const struct keeper *k);

/* Appends lines for session_status(). */
void keeper_status(struct keeper *k, struct buf *out);

#endif
