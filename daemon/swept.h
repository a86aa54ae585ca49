/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * swept.h - counts that stand still while the kernel goes on counting
 *
 * For collectors whose samples wait in the kernel, where more arrive whenever one
 * looks.
 *
 * I1  Right after a sweep, the counts are those of what was handed out, so that
 *     nothing is pending: samples that came meanwhile are the next sweep's.
 * I2  Until anything is taken, or a cycle begins, they are the same each time, though
 *     sampling goes on: sums of their parts agree.
 */
#ifndef CPI_DAEMON_SWEPT_H
#define CPI_DAEMON_SWEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/entry.h"
#include "daemon/collector.h"

/* All zero at first. */
struct swept {
	bool swept;     /* since the last cycle began (I1) */
	uint32_t known; /* a bit per event: counts[] are up to date (I2) */
	struct collector_counts counts[CPI_MAX_EVENTS];
};

void swept_begin_cycle(struct swept *s);
void swept_note_taken(struct swept *s); /* samples left the kernel */
void swept_end_sweep(struct swept *s);

/* May s->counts[event] be given out as they are? */
bool swept_knows(const struct swept *s, int event);

/*
 * Puts counts that were read just now into s->counts[event]: received is of what
 * was handed out or lost, pending of what is still in the kernel, event_count of
 * both, at one sample per period.
 */
void swept_put(struct swept *s, int event, const struct collector_counts *counts,
	       uint64_t period);

#endif
