/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loglin.h - bins of equal relative width, for histograms that merge by addition
 *
 * Values below 32 have a bin each; above, each power of two is cut into 16 bins of
 * equal width. A value lies within 1/32 (3.1 %) of the middle of its bin. Values of
 * more than 32 bits are in the last bin.
 */
#ifndef CPI_BASE_LOGLIN_H
#define CPI_BASE_LOGLIN_H

#include <stdint.h>

#define LOGLIN_BITS 4
#define LOGLIN_BINS ((32 - LOGLIN_BITS + 1) << LOGLIN_BITS)

static inline unsigned int loglin_bin(uint64_t value)
{
	unsigned int shift;

	if (value > UINT32_MAX)
		value = UINT32_MAX;
	if (value < 1u << LOGLIN_BITS)
		return value;
	shift = 63 - LOGLIN_BITS - __builtin_clzll(value);
	return (shift << LOGLIN_BITS) + (value >> shift);
}

/* The least value of a bin < LOGLIN_BINS, and how many values it has. */
static inline uint64_t loglin_low(unsigned int bin)
{
	const unsigned int octave = bin >> LOGLIN_BITS;

	if (octave < 2)
		return bin;
	return (uint64_t)(bin - ((octave - 1) << LOGLIN_BITS)) << (octave - 1);
}

static inline uint64_t loglin_width(unsigned int bin)
{
	const unsigned int octave = bin >> LOGLIN_BITS;

	return octave < 2 ? 1 : 1ULL << (octave - 1);
}

static inline double loglin_middle(unsigned int bin)
{
	return loglin_low(bin) + (loglin_width(bin) - 1) / 2.0;
}

#endif
