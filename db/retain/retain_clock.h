/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * retain_clock.h - the time by which retention decides that epochs are old
 *
 * A wrong clock must not remove data that cannot be collected again. So retention uses
 * the time of the newest flush, plus the time since then. A clock behind that time is
 * accepted at once, because then less is removed. A clock that is ahead by more than
 * RETAIN_CLOCK_SLACK_NS is accepted after a wait of a quarter of the difference, but at
 * least RETAIN_CLOCK_MIN_NS and at most RETAIN_CLOCK_MAX_NS. Flushes that were written
 * after the jump count as waiting, for the time that they cover. So a restart does not
 * begin the wait again.
 *
 * Suspending the machine is not a jump, because boot_ns (CLOCK_BOOTTIME) goes on.
 * Switching it off is a jump, so the wait applies.
 */
#ifndef CPI_DB_RETAIN_CLOCK_H
#define CPI_DB_RETAIN_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "db/core/db.h"

#define RETAIN_CLOCK_SLACK_NS 3600000000000ULL        /* 1 h */
#define RETAIN_CLOCK_MIN_NS   3600000000000ULL        /* 1 h */
#define RETAIN_CLOCK_MAX_NS   (72 * 3600000000000ULL) /* 3 d */

struct retain_clock {
	uint64_t believed_ns; /* real time at boot_ns; 0: there is no flush */
	uint64_t boot_ns;
	/*
	 * Of the flushes after a jump that is not accepted yet: the end of the newest,
	 * and the time that all cover.
	 */
	uint64_t newest_ns, credit_ns;
	/* while the clock is ahead */
	bool ahead;
	uint64_t ahead_since_ns; /* by boot_ns */
	uint64_t offset_ns;      /* of the clock to boot_ns */
	uint64_t wait_ns;        /* remaining wait; 0: the clock is accepted */
};

/* Initialises c from the times of the database's flushes. 0 or an error of SQLite. */
int retain_clock_read(struct retain_clock *c, struct db *db, uint64_t boot_ns);

/*
 * The believed time, never later than real_ns. Call this every few minutes. A call
 * accepts a clock that is ahead by less than the slack; so small steps and drift do not
 * add up to a jump.
 */
uint64_t retain_clock_now(struct retain_clock *c, uint64_t real_ns, uint64_t boot_ns);

#endif
