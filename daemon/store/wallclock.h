/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wallclock.h - the wall clock time for the database, unless the clock is clearly wrong
 *
 * A clock that shows a time before 2020 or after 2200 was not set after boot, or set
 * wrongly. Then stored times continue from the last plausible time, which came from the
 * clock itself or from the database's newest flush.
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
	/* the newest known time, and how long after boot it was */
	uint64_t real_ns, boot_ns;
	bool absurd; /* the clock is wrong, and that was logged */
};

/*
 * Begins with the time of the database's newest flush. w keeps a pointer to clock.
 * Returns 0, or the database's error.
 */
int wallclock_init(struct wallclock *w, const struct clock *clock, struct db *db);

/* Returns the time in ns since 1970. A clock outside of the two limits is not used. */
uint64_t wallclock_now(struct wallclock *w);

#endif
