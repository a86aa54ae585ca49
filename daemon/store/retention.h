/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * retention.h - a thread that rolls up and removes old epochs while the session runs
 *
 * The thread has its own connection to the database. It works at most half of the time,
 * so that the session can write in between.
 */
#ifndef CPI_DAEMON_RETENTION_H
#define CPI_DAEMON_RETENTION_H

#include <stdint.h>

#include "base/buf.h"
#include "base/times.h"
#include "db/retain/retain.h"

struct retention;

/*
 * Starts to apply the policy to the database at db_path. Call it after privileges were
 * dropped, because each thread has its own. Ages are measured by clock. Returns 0,
 * -errno or -CPI_E… (logged).
 */
int retention_start(const char *db_path, const struct retain_policy *policy,
		    const struct clock *clock, struct retention **out);

/* Stops the thread after its current slice of work, which is short. Accepts NULL. */
void retention_stop(struct retention *k);

/* Wakes the thread, because something was stored. Accepts NULL. */
void retention_wake(struct retention *k);

/* Appends lines "name value" for session_status(). */
void retention_status(struct retention *k, struct buf *out);

#endif
