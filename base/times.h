/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * times.h - clocks, and moments and durations as people write them
 */
#ifndef CPI_BASE_TIMES_H
#define CPI_BASE_TIMES_H

#include <stddef.h>
#include <stdint.h>

#define NSEC_PER_SEC  1000000000ULL
#define NSEC_PER_MSEC 1000000ULL

/* CLOCK_MONOTONIC: what samples, batches and intervals are measured with. */
uint64_t time_mono_ns(void);

/* CLOCK_REALTIME: what epochs are named by. It may step. */
uint64_t time_real_ns(void);

/* Writes "2026-11-20T10:15:03Z" (UTC) into out, which it returns. */
#define TIME_TEXT_SIZE 24
char *time_format(uint64_t real_ns, char out[TIME_TEXT_SIZE]);

/*
 * Reads a moment in UTC: YYYY[-MM[-DD[THH[:MM[:SS]]]]][Z]. What is left out
 * makes it an interval: [*from_ns, *to_ns) is the whole day for a date.
 * Returns 0 or -EINVAL, then both are untouched.
 */
int time_parse(const char *text, uint64_t *from_ns, uint64_t *to_ns);

/*
 * Reads a time that counts from now_ns, in UTC, too: "today", "yesterday", and
 * "-2h" (with a unit), which is from then to now. 0 or -EINVAL; then both are
 * untouched.
 */
int time_parse_relative(const char *text, uint64_t now_ns, uint64_t *from_ns,
			uint64_t *to_ns);

/* Reads "500ms", "10s", "5m", "1h", "7d", or seconds without a unit. 0 or -EINVAL. */
int time_parse_duration(const char *text, uint64_t *ns);

#endif
