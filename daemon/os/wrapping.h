/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wrapping.h - a count of 32 bits that wraps, kept in 64
 *
 * The kernel's side counts some things in 32 bits. The difference of two readings
 * is correct modulo 2^32. So the sum of the differences is the full count if the
 * counter is read before it advances by 2^32.
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
