/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wallclock.h - the time that is stored: the clock's, unless that is absurd
 *
 * Before 2020 or after 2200 no clock is right: one that was not set after boot, or set
 * to nonsense. What is stored then counts on from the newest time that was not absurd:
 * the clock's own, or that of the database's newest flush.
 */
#ifndef CPI_DAEMON_WALLCLOCK_H
#define CPI_DAEMON_WALLCLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/times.h"
#include "db/core/db.h"

#define WALLCLOCK_MIN_NS 1577836800000000000ULL /* 2020-01-01 */
#define WALLCLOCK_MAX_NS 7258118400000000000ULL /* 2200-01-01 */

struct wallclock {
	const struct clock *clock;
	uint64_t real_ns, boot_ns; /* the newest time, and when it was */
	bool absurd;               /* the clock is; it was said */
};

/*
 * Begins at the database's newest flush. The clock stays the caller's. 0 or what SQLite
 * reports.
 */
int wallclock_init(struct wallclock *w, const struct clock *clock, struct db *db);

/* Between the two limits, whatever the clock says. */
uint64_t wallclock_now(struct wallclock *w);

#endif
