/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * times.h - clocks, and moments and durations as people write them
 */
#ifndef CPI_BASE_TIMES_H
#define CPI_BASE_TIMES_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC  1000000000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_HOUR (3600 * NSEC_PER_SEC)

/* Of a clock or a file; not before 1970. */
static inline uint64_t time_to_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * NSEC_PER_SEC + (uint64_t)t->tv_nsec;
}

/*
 * Any clock, such as the CPU time of this thread (CLOCK_THREAD_CPUTIME_ID), or of a
 * process (clock_getcpuclockid()); 0 for a clock that cannot be read.
 */
uint64_t time_clock_ns(clockid_t id);

/* CLOCK_MONOTONIC: what samples, batches and intervals are measured with. */
uint64_t time_mono_ns(void);

/* CLOCK_BOOTTIME: the same, but it goes on while the machine is suspended. */
uint64_t time_boot_ns(void);

/* CLOCK_REALTIME: what epochs are named by. It may step. */
uint64_t time_real_ns(void);

/*
 * The clock of code that acts at certain times. Its owner passes a struct clock, so
 * that a test can step through weeks: session, budget, sweeps, flushes, epochs and
 * retention do so. Times of samples and mappings come from the kernel; code that
 * compares with those calls time_mono_ns(). Any thread may call these.
 */
struct clock {
	uint64_t (*mono_ns)(const struct clock *c);
	uint64_t (*boot_ns)(const struct clock *c);
	uint64_t (*real_ns)(const struct clock *c);
};

/* The clocks of the machine. */
extern const struct clock clock_system;

static inline uint64_t clock_mono_ns(const struct clock *c)
{
	return c->mono_ns(c);
}

static inline uint64_t clock_boot_ns(const struct clock *c)
{
	return c->boot_ns(c);
}

static inline uint64_t clock_real_ns(const struct clock *c)
{
	return c->real_ns(c);
}

/*
 * From now on this program reads and writes moments in the local time zone (TZ) instead
 * of UTC. To be called before there are threads.
 */
void time_use_local(void);

/*
 * Writes "2026-11-20T10:15:03Z" (UTC) into out, which it returns; with local times
 * "2026-11-20T11:15:03+01:00".
 */
#define TIME_TEXT_SIZE 32
char *time_format(uint64_t real_ns, char out[TIME_TEXT_SIZE]);

/* The same without the date where that is also near_ns's: "10:15:03Z". */
char *time_format_near(uint64_t real_ns, uint64_t near_ns, char out[TIME_TEXT_SIZE]);

/*
 * Writes "25 s", "5 min", "2 min 10 s", "1 h 5 min" or "3 d 4 h" into out, which it
 * returns.
 */
#define DURATION_TEXT_SIZE 32
char *time_format_duration(uint64_t ns, char out[DURATION_TEXT_SIZE]);

/*
 * Reads a moment: YYYY[-MM[-DD[THH[:MM[:SS]]]]][ZONE]; a space may stand for the T.
 * ZONE is Z or, after a time of day, an offset from -12:00 to +14:00; without one it is
 * UTC, or the local zone. The result is the interval [*from_ns, *to_ns) of the last
 * field that is given: a date is its whole day. Years are 1970 to 2261, so that
 * nanoseconds fit into 63 bits. Returns 0, or -EINVAL; then both are untouched.
 */
int time_parse(const char *text, uint64_t *from_ns, uint64_t *to_ns);

/* The ZONE at the end of a time of day, in text; NULL: it has none. */
const char *time_zone(const char *text);

/*
 * Reads a time relative to now_ns: "now"; "today" or "yesterday", with or without a
 * time of day; "10:15[:30][ZONE]" of today; "-2h", which means the last two hours and
 * needs its unit; or "last hour", "last 2 hours", likewise with minute, day and week.
 * Returns 0, or -EINVAL; then both are untouched.
 */
int time_parse_relative(const char *text, uint64_t now_ns, uint64_t *from_ns,
			uint64_t *to_ns);

/*
 * Reads "500ms", "10s", "5m" or "5min", "1h", "7d", or seconds without a unit. At most
 * a hundred years, so that a sum with any clock's time does not wrap. Returns 0 or
 * -EINVAL.
 */
int time_parse_duration(const char *text, uint64_t *ns);

#endif
