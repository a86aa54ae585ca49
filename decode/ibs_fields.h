/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ibs_fields.h - the bits of IBS's registers
 *
 * From the PPRs of families 17h, 19h and 1Ah, MSRC001_1030 to MSRC001_103C.
 */
#ifndef CPI_DECODE_IBS_FIELDS_H
#define CPI_DECODE_IBS_FIELDS_H

#include <stdbool.h>

#include "decode/ibs.h"

/* name, register, lowest bit, number of bits */
#define IBS_FIELDS(X)                                 \
	X(FETCH_MAX_COUNT, FETCH_CTL, 0, 16)          \
	X(FETCH_COUNT, FETCH_CTL, 16, 16)             \
	X(FETCH_LATENCY, FETCH_CTL, 32, 16)           \
	X(FETCH_ENABLE, FETCH_CTL, 48, 1)             \
	X(FETCH_VALID, FETCH_CTL, 49, 1)              \
	X(FETCH_COMPLETE, FETCH_CTL, 50, 1)           \
	X(IC_MISS, FETCH_CTL, 51, 1)                  \
	X(FETCH_PHYSICAL_VALID, FETCH_CTL, 52, 1)     \
	X(FETCH_PAGE_SIZE, FETCH_CTL, 53, 2)          \
	X(FETCH_L1TLB_MISS, FETCH_CTL, 55, 1)         \
	X(FETCH_L2TLB_MISS, FETCH_CTL, 56, 1)         \
	X(FETCH_RANDOM, FETCH_CTL, 57, 1)             \
	X(FETCH_L2_MISS, FETCH_CTL, 58, 1)            \
	X(FETCH_L3_MISS_ONLY, FETCH_CTL, 59, 1)       \
	X(OP_CACHE_MISS, FETCH_CTL, 60, 1)            \
	X(FETCH_L3_MISS, FETCH_CTL, 61, 1)            \
	X(ITLB_REFILL_LATENCY, FETCH_EXTENDED, 0, 16) \
	X(OP_MAX_COUNT, OP_CTL, 0, 16)                \
	X(OP_L3_MISS_ONLY, OP_CTL, 16, 1)             \
	X(OP_ENABLE, OP_CTL, 17, 1)                   \
	X(OP_VALID, OP_CTL, 18, 1)                    \
	X(OP_COUNTS_OPS, OP_CTL, 19, 1)               \
	X(OP_MAX_COUNT_HIGH, OP_CTL, 20, 7)           \
	X(OP_COUNT, OP_CTL, 32, 27)                   \
	X(LOAD_LATENCY_THRESHOLD, OP_CTL, 59, 4)      \
	X(LOAD_LATENCY_ENABLE, OP_CTL, 63, 1)         \
	X(COMPLETE_TO_RETIRE, OP_DATA, 0, 16)         \
	X(TAG_TO_RETIRE, OP_DATA, 16, 16)             \
	X(RETURN, OP_DATA, 34, 1)                     \
	X(BRANCH_TAKEN, OP_DATA, 35, 1)               \
	X(BRANCH_MISPREDICTED, OP_DATA, 36, 1)        \
	X(BRANCH_RETIRED, OP_DATA, 37, 1)             \
	X(RIP_INVALID, OP_DATA, 38, 1)                \
	X(BRANCH_FUSED, OP_DATA, 39, 1)               \
	X(MICROCODE, OP_DATA, 40, 1)                  \
	X(SOURCE_LOW, OP_DATA2, 0, 3)                 \
	X(REMOTE_NODE, OP_DATA2, 4, 1)                \
	X(CACHE_HIT_STATE, OP_DATA2, 5, 1)            \
	X(SOURCE_HIGH, OP_DATA2, 6, 2)                \
	X(LOAD, OP_DATA3, 0, 1)                       \
	X(STORE, OP_DATA3, 1, 1)                      \
	X(L1TLB_MISS, OP_DATA3, 2, 1)                 \
	X(L2TLB_MISS, OP_DATA3, 3, 1)                 \
	X(L1TLB_HIT_2M, OP_DATA3, 4, 1)               \
	X(L1TLB_HIT_1G, OP_DATA3, 5, 1)               \
	X(L2TLB_HIT_2M, OP_DATA3, 6, 1)               \
	X(DC_MISS, OP_DATA3, 7, 1)                    \
	X(MISALIGNED, OP_DATA3, 8, 1)                 \
	X(WRITE_COMBINING, OP_DATA3, 13, 1)           \
	X(UNCACHEABLE, OP_DATA3, 14, 1)               \
	X(LOCKED, OP_DATA3, 15, 1)                    \
	X(MISS_WITHOUT_BUFFER, OP_DATA3, 16, 1)       \
	X(LINEAR_VALID, OP_DATA3, 17, 1)              \
	X(PHYSICAL_VALID, OP_DATA3, 18, 1)            \
	X(L2TLB_HIT_1G, OP_DATA3, 19, 1)              \
	X(L2_MISS, OP_DATA3, 20, 1)                   \
	X(PREFETCH, OP_DATA3, 21, 1)                  \
	X(MEMORY_WIDTH, OP_DATA3, 22, 4)              \
	X(OPEN_REQUESTS, OP_DATA3, 26, 6)             \
	X(DC_MISS_LATENCY, OP_DATA3, 32, 16)          \
	X(TLB_REFILL_LATENCY, OP_DATA3, 48, 16)

enum ibs_field {
#define IBS_FIELD_ENUM(name, in, low, bits) IBS_F_##name,
	IBS_FIELDS(IBS_FIELD_ENUM)
#undef IBS_FIELD_ENUM
};

unsigned int ibs_get(const struct ibs_sample *s, enum ibs_field field);

static inline bool ibs_has(const struct ibs_machine *machine, enum ibs_cap cap)
{
	return machine->caps & cap;
}

/* The code of the data source; it has more bits since Zen 4. */
unsigned int ibs_source(const struct ibs_sample *s, const struct ibs_machine *machine);

/* Errata 1238 and 1347: IC_MISS is meaningless, and page sizes have other codes. */
bool ibs_has_fetch_errata(const struct ibs_machine *machine);

/* Erratum 1293: L2_MISS, OPEN_REQUESTS and OP_DATA2 are meaningless. */
bool ibs_has_miss_erratum(const struct ibs_sample *s,
			  const struct ibs_machine *machine);

#endif
