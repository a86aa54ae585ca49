/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * discriminator.h - what LLVM packs into a line table's discriminator
 *
 * Three numbers behind one another (llvm/IR/DebugInfoMetadata.h): the base, which tells
 * apart what is on one line; how many copies of the line run as one, of an unrolled or
 * vectorised loop; and a copy's own number. Each is one bit 1 for 0; or a bit 0, five
 * bits, and where bit 6 is set seven more.
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
