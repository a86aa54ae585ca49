/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * retention.h - a thread that rolls up and removes what is old, beside the session
 *
 * It has a connection of its own, and works half of the time at most: others write and
 * sample meanwhile.
 */
#ifndef CPI_DAEMON_RETENTION_H
#define CPI_DAEMON_RETENTION_H

#include <stdint.h>

#include "base/buf.h"
#include "base/times.h"
#include "db/retain/retain.h"

struct retention;

/*
 * Begins to keep the database at db_path to the policy. After privileges were dropped:
 * a thread has its own. What is old is so by the clock. 0, -errno or -CPI_E…, logged.
 */
int retention_start(const char *db_path, const struct retain_policy *policy,
		    const struct clock *clock, struct retention **out);

/* Ends what is under way at the next slice, which is soon. Accepts NULL. */
void retention_stop(struct retention *k);

/* Something was stored: there may be something to do. Accepts NULL. */
void retention_wake(struct retention *k);

/* Appends lines for session_status(). */
void retention_status(struct retention *k, struct buf *out);

#endif
