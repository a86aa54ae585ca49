/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spe_bits.h - what bits of SPE's payloads mean
 */
#ifndef CPI_DECODE_SPE_BITS_H
#define CPI_DECODE_SPE_BITS_H

#include <stdbool.h>
#include <stdint.h>

#define SPE_BIT(payload, bit) ((unsigned int)((payload) >> (bit)&1))

/* Bits of an events packet. */
enum {
	SPE_EV_EXCEPTION = 0,
	SPE_EV_RETIRED = 1,
	SPE_EV_L1D_ACCESS = 2,
	SPE_EV_L1D_REFILL = 3,
	SPE_EV_TLB_ACCESS = 4,
	SPE_EV_TLB_WALK = 5,
	SPE_EV_NOT_TAKEN = 6,
	SPE_EV_MISPREDICTED = 7,
	SPE_EV_LLC_ACCESS = 8,
	SPE_EV_LLC_MISS = 9,
	SPE_EV_REMOTE = 10,
	SPE_EV_MISALIGNED = 11,
	SPE_EV_TRANSACTION = 16,
	SPE_EV_PARTIAL_PREDICATE = 17,
	SPE_EV_EMPTY_PREDICATE = 18,
	SPE_EV_L2D_ACCESS = 19,
	SPE_EV_L2D_MISS = 20,
	SPE_EV_MODIFIED = 21,
	SPE_EV_FILL_BUFFER = 22,
	SPE_EV_SNOOPED = 23,
	SPE_EV_STREAMING = 24,
	SPE_EV_SMCU = 25
};

#define SPE_ADDRESS_MASK 0xffffffffffffffULL /* above it are flags, or a tag */

/* The exception level of a PC or a target. */
static inline unsigned int spe_level(uint64_t address)
{
	return address >> 61 & 3;
}

/*
 * Whether a load or store has the extended format (atomic, exclusive, acquire,
 * release).
 */
static inline bool spe_is_extended_access(uint64_t operation)
{
	return (operation & 0xe2) == 0x02;
}

#endif
