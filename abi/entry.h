/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entry.h - one aggregated sample, as kernel and user space exchange it
 *
 * Sixteen bytes, so that four entries fill one 64-byte cache line (SOSP'97
 * section 4.2.1: "each bucket can store four entries"):
 *
 *   word 0   bits  0..56  pc, sign-extended from bit 56 when read
 *            bits 57..61  event, an index into the collector's event list
 *            bits 62..63  outcome of the conditional jump at pc
 *   word 1   bits  0..21  tgid (PID_MAX_LIMIT is 2^22)
 *            bits 22..31  generation: distinguishes processes that used the same
 *                         tgid: a number of the process map, the low bits of the
 *                         exec id (kmod.h), or 0 if it is not collected
 *            bits 32..63  count; 0 means that the slot is empty
 *
 * Everything but the count is the key.
 */
#ifndef CPI_ABI_ENTRY_H
#define CPI_ABI_ENTRY_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define CPI_PC_BITS         57
#define CPI_EVENT_BITS      5
#define CPI_OUTCOME_BITS    2
#define CPI_TGID_BITS       22
#define CPI_GENERATION_BITS 10
#define CPI_COUNT_SHIFT     32

#define CPI_MAX_EVENTS     (1u << CPI_EVENT_BITS)
#define CPI_MAX_TGID       ((1u << CPI_TGID_BITS) - 1)
#define CPI_MAX_GENERATION ((1u << CPI_GENERATION_BITS) - 1)
#define CPI_MAX_COUNT      0xffffffffu

/* What a sample on a conditional jump says about the jump. */
enum cpi_outcome {
	CPI_OUTCOME_NONE = 0, /* not a conditional jump */
	CPI_OUTCOME_TAKEN = 1,
	CPI_OUTCOME_NOT_TAKEN = 2,
	CPI_OUTCOME_UNREADABLE = 3, /* the code or a register could not be read */
};

struct cpi_entry {
	uint64_t word0;
	uint64_t word1;
};

_Static_assert(sizeof(struct cpi_entry) == 16, "an entry is 16 bytes");
_Static_assert(CPI_PC_BITS + CPI_EVENT_BITS + CPI_OUTCOME_BITS == 64, "word 0 is full");
_Static_assert(CPI_TGID_BITS + CPI_GENERATION_BITS == CPI_COUNT_SHIFT,
	       "word 1 is full");

static inline uint64_t cpi_entry_word0(uint64_t pc, unsigned int event,
				       unsigned int outcome)
{
	return (pc & ((1ULL << CPI_PC_BITS) - 1)) | (uint64_t)event << CPI_PC_BITS |
	       (uint64_t)outcome << (CPI_PC_BITS + CPI_EVENT_BITS);
}

/* Word 1 with count 0: the part that belongs to the key. */
static inline uint64_t cpi_entry_who(uint32_t tgid, unsigned int generation)
{
	return (tgid & CPI_MAX_TGID) | (uint64_t)generation << CPI_TGID_BITS;
}

static inline uint64_t cpi_entry_pc(const struct cpi_entry *e)
{
	const int unused = 64 - CPI_PC_BITS;

	return (uint64_t)((int64_t)(e->word0 << unused) >> unused);
}

static inline unsigned int cpi_entry_event(const struct cpi_entry *e)
{
	return e->word0 >> CPI_PC_BITS & (CPI_MAX_EVENTS - 1);
}

static inline enum cpi_outcome cpi_entry_outcome(const struct cpi_entry *e)
{
	return (enum cpi_outcome)(e->word0 >> (CPI_PC_BITS + CPI_EVENT_BITS));
}

static inline uint32_t cpi_entry_tgid(const struct cpi_entry *e)
{
	return e->word1 & CPI_MAX_TGID;
}

static inline unsigned int cpi_entry_generation(const struct cpi_entry *e)
{
	return e->word1 >> CPI_TGID_BITS & CPI_MAX_GENERATION;
}

static inline uint32_t cpi_entry_count(const struct cpi_entry *e)
{
	return (uint32_t)(e->word1 >> CPI_COUNT_SHIFT);
}

#endif
