/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wallclock.c - the wall clock time for the database
 *
 * While the clock is wrong, the time continues by the clock that counts since boot.
 */
#include "config.h"

#include "daemon/store/wallclock.h"

#include "base/log.h"
#include "db/store/store.h"

int wallclock_init(struct wallclock *w, const struct clock *clock, struct db *db)
{
	uint64_t newest_ns;
	int err = store_newest(db, WALLCLOCK_MIN_NS, WALLCLOCK_MAX_NS, &newest_ns);

	if (!err)
		*w = (struct wallclock){ .clock = clock,
					 .real_ns = newest_ns,
					 .boot_ns = clock_boot_ns(clock) };
	return err;
}

static void note(struct wallclock *w, bool absurd)
{
	char text[TIME_TEXT_SIZE];

	if (absurd && !w->absurd)
		log_warn("clock: it is before 2020 or after 2200: stored times go on "
			 "from %s until the clock is set",
			 time_format(w->real_ns, text));
	else if (!absurd && w->absurd)
		log_info("clock: it was set");
	w->absurd = absurd;
}

uint64_t wallclock_now(struct wallclock *w)
{
	const uint64_t real_ns = clock_real_ns(w->clock);
	const uint64_t boot_ns = clock_boot_ns(w->clock);
	const bool absurd = real_ns < WALLCLOCK_MIN_NS || real_ns > WALLCLOCK_MAX_NS;

	note(w, absurd);
	w->real_ns = absurd ? w->real_ns + (boot_ns - w->boot_ns) : real_ns;
	w->boot_ns = boot_ns;
	return w->real_ns;
}
