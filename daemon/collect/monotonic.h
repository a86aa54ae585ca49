/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * monotonic.h - consistent counts while the kernel goes on counting
 *
 * For collectors whose samples are counted in the kernel, where more may arrive at any
 * time.
 *
 * I1  After a sweep, until the next cycle begins, the counts are those of the samples
 *     that were handed out or lost, and nothing is pending. Samples that are still in
 *     the kernel belong to the next sweep.
 * I2  Counts are cached. While samples arrive in the kernel, the cached counts of an
 *     event stay the same. They are discarded when the daemon takes samples from the
 *     kernel, when a sweep ends, and when a new cycle begins (poll, snapshot, preview,
 *     drain, sometimes sweep). So repeated reads of one event within a step agree.
 */
#ifndef CPI_DAEMON_MONOTONIC_H
#define CPI_DAEMON_MONOTONIC_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/entry.h"
#include "daemon/collect/collector.h"

/* Starts as { 0 }. */
struct monotonic {
	bool swept;     /* a sweep has ended since the last cycle began (I1) */
	uint32_t known; /* a bit per event: counts[] is up to date (I2) */
	struct collector_counts counts[CPI_MAX_EVENTS];
};

void monotonic_begin_cycle(struct monotonic *s);
void monotonic_note_taken(struct monotonic *s); /* samples were taken from the kernel */
void monotonic_end_sweep(struct monotonic *s);

/* Whether s->counts[event] is up to date. */
bool monotonic_knows(const struct monotonic *s, int event);

/*
 * Stores counts that were read just now in s->counts[event]. In counts, received is the
 * number of samples that were handed out or lost, and pending that of samples that are
 * still in the kernel. event_count is the event's own count: event_count / period is
 * the expected sum of these two.
 */
void monotonic_put(struct monotonic *s, int event,
		   const struct collector_counts *counts, uint64_t period);

#endif
