/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hwrecord.h - a hardware record of one sampled instruction, the same for all hardware
 *
 * ProfileMe's record (MICRO'97 section 4.1.3) for today's CPUs. AMD's IBS, Arm's SPE,
 * and perf's fields of Intel's PEBS report different facts in different formats.
 * Decoders fill in this struct, and analyses read nothing else.
 *
 * I1  A fact that the hardware does not report is unknown; it is neither false nor 0.
 * I2  Bits beyond known are 0 in is; values beyond has are 0.
 *
 * Records have events and latencies of instructions, never shares of time: IBS and SPE
 * choose instructions at dispatch.
 */
#ifndef CPI_DECODE_HWRECORD_H
#define CPI_DECODE_HWRECORD_H

#include <stdbool.h>
#include <stdint.h>

/* Facts that are true or false. */
#define HW_FLAGS(X)                                                    \
	X(RETIRED, "retired")     /* otherwise it was discarded */     \
	X(EXCEPTION, "exception") /* it raised an exception */         \
	X(LOAD, "load")                                                \
	X(STORE, "store")                                              \
	X(PREFETCH, "prefetch") /* a software prefetch */              \
	X(LOCKED, "locked")     /* atomic or exclusive */              \
	X(MISALIGNED, "misaligned")                                    \
	X(UNCACHED, "uncached")                                        \
	X(BRANCH, "branch")                                            \
	X(CONDITIONAL, "conditional")                                  \
	X(INDIRECT, "indirect")                                        \
	X(RETURN, "return")                                            \
	X(TAKEN, "taken")                                              \
	X(MISPREDICTED, "mispredicted")                                \
	X(FETCHED, "fetched") /* the fetch was completed */            \
	X(OP_CACHE_MISS, "op-cache-miss")                              \
	X(L1I_MISS, "l1i-miss")                                        \
	X(ITLB_MISS, "itlb-miss") /* in the first level of the TLB */  \
	X(ITLB_WALK, "itlb-walk") /* in the last level, too */         \
	X(L1D_MISS, "l1d-miss")                                        \
	X(L2_MISS, "l2-miss")                                          \
	X(LLC_MISS, "llc-miss")                                        \
	X(DTLB_MISS, "dtlb-miss")                                      \
	X(DTLB_WALK, "dtlb-walk")                                      \
	X(REMOTE, "remote")     /* data from another socket or node */ \
	X(MODIFIED, "modified") /* data that another cache has modified */

enum hw_flag {
#define HW_FLAG_ENUM(name, text) HW_##name,
	HW_FLAGS(HW_FLAG_ENUM)
#undef HW_FLAG_ENUM
		HW_NR_FLAGS
};

/* Facts with a value. Latencies come last; their unit is cycles of the core's clock. */
#define HW_VALUES(X)                                                               \
	X(PC, "pc")                                                                \
	X(TARGET, "target")             /* target address of a branch */           \
	X(DATA_ADDRESS, "data-address") /* virtual */                              \
	X(DATA_PHYSICAL, "data-physical")                                          \
	X(DATA_BYTES, "data-bytes")   /* size of the access */                     \
	X(DATA_SOURCE, "data-source") /* enum hw_data_source */                    \
	X(CONTEXT, "context")         /* the kernel's value of CONTEXTIDR */       \
	X(TIMESTAMP, "timestamp")     /* the hardware's own clock */               \
	X(FETCH, "fetch")             /* from the begin to the end of the fetch */ \
	X(FETCH_TRANSLATION, "fetch-translation")                                  \
	X(DISPATCH_TO_ISSUE, "dispatch-to-issue")                                  \
	X(TRANSLATION, "translation") /* of the data address */                    \
	X(MEMORY, "memory") /* from miss to fill, or a load's memory latency */    \
	X(DISPATCH_TO_COMPLETE, "dispatch-to-complete")                            \
	X(COMPLETE_TO_RETIRE, "complete-to-retire")                                \
	X(DISPATCH_TO_RETIRE, "dispatch-to-retire")                                \
	X(RETIRE_TO_RETIRE,                                                        \
	  "retire-to-retire") /* since the previous instruction retired */

enum hw_value {
#define HW_VALUE_ENUM(name, text) HW_##name,
	HW_VALUES(HW_VALUE_ENUM)
#undef HW_VALUE_ENUM
		HW_NR_VALUES,
	HW_FIRST_LATENCY = HW_FETCH
};

_Static_assert(HW_NR_FLAGS <= 32 && HW_NR_VALUES <= 32, "bits of a word");

/* Where data came from, from near to far. */
#define HW_DATA_SOURCES(X)                                                          \
	X(L1, "L1")                                                                 \
	X(FILL_BUFFER, "fill buffer") /* another access had already missed on it */ \
	X(L2, "L2")                                                                 \
	X(LOCAL_CACHE, "local cache") /* L3, or another core's nearby */            \
	X(NEAR_CACHE, "near cache")   /* another cluster's, on the same node */     \
	X(FAR_CACHE, "far cache")     /* another node's */                          \
	X(RAM, "RAM")                                                               \
	X(FAR_RAM, "far RAM")   /* another node's */                                \
	X(SLOW_RAM, "slow RAM") /* persistent memory, CXL, extension memory */      \
	X(PEER, "peer")         /* memory of another kind of processor */           \
	X(IO, "I/O")

enum hw_data_source {
#define HW_DATA_SOURCE_ENUM(name, text) HW_FROM_##name,
	HW_DATA_SOURCES(HW_DATA_SOURCE_ENUM)
#undef HW_DATA_SOURCE_ENUM
		HW_NR_DATA_SOURCES
};

struct hw_record {
	uint32_t known; /* bits by enum hw_flag */
	uint32_t is;
	uint32_t has; /* bits by enum hw_value */
	uint64_t value[HW_NR_VALUES];
};

static inline bool hw_knows(const struct hw_record *r, enum hw_flag flag)
{
	return r->known >> flag & 1;
}

/* Whether the flag is known, and true. */
static inline bool hw_is(const struct hw_record *r, enum hw_flag flag)
{
	return r->is >> flag & 1;
}

static inline bool hw_has(const struct hw_record *r, enum hw_value value)
{
	return r->has >> value & 1;
}

static inline void hw_tell(struct hw_record *r, enum hw_flag flag, bool is)
{
	r->known |= 1u << flag;
	r->is = (r->is & ~(1u << flag)) | (uint32_t)is << flag;
}

static inline void hw_set(struct hw_record *r, enum hw_value value, uint64_t v)
{
	r->has |= 1u << value;
	r->value[value] = v;
}

static inline bool hw_is_latency(enum hw_value value)
{
	return value >= HW_FIRST_LATENCY && value < HW_NR_VALUES;
}

#endif
