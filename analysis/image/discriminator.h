/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * discriminator.h - what LLVM packs into a line table's discriminator
 *
 * Three numbers in sequence (llvm/IR/DebugInfoMetadata.h): the base, which tells code
 * on one line apart; the number of copies of the line that an unrolled or vectorised
 * loop runs as one; and the number of this copy. The number 0 is a single bit, 1. Any
 * other number is a bit 0, its five low bits, and a bit that tells whether its seven
 * high bits follow.
 */
#ifndef CPI_ANALYSIS_DISCRIMINATOR_H
#define CPI_ANALYSIS_DISCRIMINATOR_H

static inline unsigned int discriminator_first(unsigned int d)
{
	if (d & 1)
		return 0;
	d >>= 1;
	return d & 0x20 ? (d >> 1 & 0xfe0) | (d & 0x1f) : d & 0x1f;
}

static inline unsigned int discriminator_rest(unsigned int d)
{
	if (d & 1)
		return d >> 1;
	return d >> (d & 0x40 ? 14 : 7);
}

static inline unsigned int discriminator_base(unsigned int d)
{
	return discriminator_first(d);
}

static inline unsigned int discriminator_copies(unsigned int d)
{
	const unsigned int copies = discriminator_first(discriminator_rest(d));

	return copies ? copies : 1;
}

#endif
