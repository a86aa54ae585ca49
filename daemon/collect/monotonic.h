/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * monotonic.h - counts that stand still while the kernel goes on counting
 *
 * For collectors whose samples wait in the kernel, where more arrive whenever one
 * looks.
 *
 * I1  Right after a sweep, the counts are those of what was handed out, so that
 *     nothing is pending: samples that came meanwhile are the next sweep's.
 * I2  Until anything is taken, or a cycle begins, they are the same each time, though
 *     sampling goes on: sums of their parts agree.
 */
#ifndef CPI_DAEMON_MONOTONIC_H
#define CPI_DAEMON_MONOTONIC_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/entry.h"
#include "daemon/collect/collector.h"

/* All zero at first. */
struct monotonic {
	bool swept;     /* since the last cycle began (I1) */
	uint32_t known; /* a bit per event: counts[] are up to date (I2) */
	struct collector_counts counts[CPI_MAX_EVENTS];
};

void monotonic_begin_cycle(struct monotonic *s);
void monotonic_note_taken(struct monotonic *s); /* samples left the kernel */
void monotonic_end_sweep(struct monotonic *s);

/* May s->counts[event] be given out as they are? */
bool monotonic_knows(const struct monotonic *s, int event);

/*
 * Puts counts that were read just now into s->counts[event]: received is of what
 * was handed out or lost, pending of what is still in the kernel, event_count of
 * both, at one sample per period.
 */
void monotonic_put(struct monotonic *s, int event,
		   const struct collector_counts *counts, uint64_t period);

#endif
