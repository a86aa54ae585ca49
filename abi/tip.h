/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tip.h - the sample record of time-proportional instruction profiling
 *
 * For cores that implement MICRO'21 section 3.1 (no core on the market does): the
 * registers at a sample, and the format of a file of samples. A record is 2 + b words
 * of 64 bits, little-endian; b is the commit width:
 *
 *   word 0   the cycle
 *   word 1   flags
 *            bits  0..15  valid: which of the addresses are
 *            bits 16..19  oldest: the address of the oldest instruction
 *            bit  20      stalled: nothing commits
 *            bit  21      front-end: the reorder buffer was empty; the oldest is the
 *                         first instruction that came after that
 *            bit  22      exception    } the oldest caused this, and therefore the
 *            bit  23      flush        } reorder buffer has no younger instruction
 *            bit  24      mispredicted }
 *            bits 25..63  0
 *   word 2…  the addresses
 *
 *   stalled  one of the next four  to which instructions the sample belongs
 *      0            none           1/n each of the n valid ones, which commit
 *      1            none           the oldest's, at the head of the buffer
 *      1            any one        the oldest's
 *
 * A file has a header, the name of the program, and items: records, instructions of the
 * trace, and an end item with the number of records.
 */
#ifndef CPI_ABI_TIP_H
#define CPI_ABI_TIP_H

#include <endian.h>
#include <stdint.h>

#define CPI_TIP_MAX_BANKS 16
#define CPI_TIP_WORDS     2 /* before the addresses */

#define CPI_TIP_VALID        0xffffULL
#define CPI_TIP_OLDEST_SHIFT 16
#define CPI_TIP_STALLED      (1ULL << 20)
#define CPI_TIP_FRONT_END    (1ULL << 21)
#define CPI_TIP_EXCEPTION    (1ULL << 22)
#define CPI_TIP_FLUSH        (1ULL << 23)
#define CPI_TIP_MISPREDICTED (1ULL << 24)
#define CPI_TIP_FLAGS        ((1ULL << 25) - 1)

/* What the cycle was used for. The numbers are also used in the database. */
enum cpi_tip_state {
	CPI_TIP_COMMITS = 0,
	CPI_TIP_STALLS = 1,
	CPI_TIP_DRAINED = 2,
	CPI_TIP_MISPREDICTS = 3,
	CPI_TIP_FLUSHES = 4,
	CPI_TIP_EXCEPTS = 5,
};

struct cpi_tip_sample {
	uint64_t cycle;
	enum cpi_tip_state state;
	unsigned int n; /* the number of instructions that share the sample */
	uint64_t address[CPI_TIP_MAX_BANKS]; /* of these instructions, the oldest first
					      */
};

struct cpi_tip_header {
	uint32_t magic, version;
	uint64_t interval;  /* cycles that a sample stands for */
	uint32_t banks;     /* b; 1 to CPI_TIP_MAX_BANKS */
	uint32_t name_size; /* of the name that follows, without NUL; at most 255 */
};

#define CPI_TIP_MAGIC   0x50495443u /* "CTIP" */
#define CPI_TIP_VERSION 1u

struct cpi_tip_item {
	uint32_t type; /* enum cpi_tip_type */
	uint32_t size; /* bytes that follow; at most CPI_TIP_MAX_ITEM */
};

#define CPI_TIP_MAX_ITEM 512u

enum cpi_tip_type {
	CPI_TIP_RECORD = 1,
	CPI_TIP_CODE = 2, /* address, 64 bits; flags, 64 bits; text */
	CPI_TIP_END = 3,  /* the number of records, 64 bits */
};

#define CPI_TIP_BEGINS 1u /* the instruction is the first of a function */

/* Writes words[CPI_TIP_WORDS + banks]; the oldest is in bank 0. s->n is up to banks. */
static inline void cpi_tip_encode(const struct cpi_tip_sample *s, unsigned int banks,
				  uint64_t *words)
{
	static const uint64_t flags[] = {
		0,
		CPI_TIP_STALLED,
		CPI_TIP_STALLED | CPI_TIP_FRONT_END,
		CPI_TIP_STALLED | CPI_TIP_MISPREDICTED,
		CPI_TIP_STALLED | CPI_TIP_FLUSH,
		CPI_TIP_STALLED | CPI_TIP_EXCEPTION,
	};
	const uint64_t valid = (1ULL << s->n) - 1;

	words[0] = htole64(s->cycle);
	words[1] = htole64(flags[s->state] | valid);
	for (unsigned int i = 0; i < banks; i++)
		words[CPI_TIP_WORDS + i] = i < s->n ? htole64(s->address[i]) : 0;
}

/*
 * Returns the state that the flags stand for; -1 if they contradict each other.
 */
static inline int cpi_tip_state_of(uint64_t flags)
{
	const uint64_t why = flags & (CPI_TIP_FRONT_END | CPI_TIP_EXCEPTION |
				      CPI_TIP_FLUSH | CPI_TIP_MISPREDICTED);

	if (!(flags & CPI_TIP_STALLED))
		return why ? -1 : CPI_TIP_COMMITS;
	switch (why) {
	case 0:
		return CPI_TIP_STALLS;
	case CPI_TIP_FRONT_END:
		return CPI_TIP_DRAINED;
	case CPI_TIP_MISPREDICTED:
		return CPI_TIP_MISPREDICTS;
	case CPI_TIP_FLUSH:
		return CPI_TIP_FLUSHES;
	case CPI_TIP_EXCEPTION:
		return CPI_TIP_EXCEPTS;
	}
	return -1;
}

/*
 * Decodes any words. Returns 0, or -1 if they are not a valid record; then *out is
 * untouched.
 */
static inline int cpi_tip_decode(const uint64_t *words, unsigned int banks,
				 struct cpi_tip_sample *out)
{
	const uint64_t flags = le64toh(words[1]);
	const unsigned int oldest = flags >> CPI_TIP_OLDEST_SHIFT & 0xf;
	struct cpi_tip_sample s = { .cycle = le64toh(words[0]) };
	const int state = cpi_tip_state_of(flags);

	if (state < 0 || flags & ~CPI_TIP_FLAGS || oldest >= banks ||
	    (flags & CPI_TIP_VALID) >> banks || !(flags >> oldest & 1))
		return -1;
	s.state = (enum cpi_tip_state)state;
	for (unsigned int i = 0; i < banks; i++) {
		const unsigned int bank = (oldest + i) % banks;

		if (flags >> bank & 1)
			s.address[s.n++] = le64toh(words[CPI_TIP_WORDS + bank]);
	}
	if (s.state != CPI_TIP_COMMITS)
		s.n = 1;
	*out = s;
	return 0;
}

#endif
