/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wrapping.h - a count of 32 bits that wraps, kept in 64
 *
 * The kernel's side counts some things in 32 bits. Differences of such a count are
 * right modulo 2^32, so the sum of the differences is the count, if it is read at least
 * once in 2^32 of what is counted.
 */
#ifndef CPI_DAEMON_WRAPPING_H
#define CPI_DAEMON_WRAPPING_H

#include <stdint.h>

/* Starts as { 0 }. */
struct wrapping {
	uint32_t last; /* as it was read */
	uint64_t sum;
};

/* Takes in what the source says now. Returns the whole count. */
static inline uint64_t wrapping_follow(struct wrapping *w, uint32_t now)
{
	w->sum += (uint32_t)(now - w->last);
	w->last = now;
	return w->sum;
}

#endif
