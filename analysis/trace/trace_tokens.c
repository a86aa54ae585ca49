/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_tokens.c - 64 bytes for each cycle, little-endian
 *
 *	word 0	cycle (bits 0-43), state of the reorder buffer (44-47)
 *	word 1	four times flags of an instruction, 16 bits each
 *	2 to 5	their PCs
 *	6, 7	latencies, which are not needed here
 *
 * In a cycle that commits, the valid instructions are those that commit, the oldest
 * first. In any other cycle, the first one is the head of the reorder buffer.
 */
#include "config.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/trace/trace.h"
#include "base/err.h"

#define WORDS     8
#define SLOTS     4
#define CYCLE     ((1ULL << 44) - 1)
#define COMMITTED (1ULL << 44)
#define EXCEPTION (1ULL << 47)

enum { VALID = 1 << 1, MISPREDICTED = 1 << 10, FLUSHES = 1 << 11, EXCEPTS = 1 << 12 };

static bool begins(const char *head, size_t len)
{
	uint64_t word[WORDS];

	if (len < sizeof(word))
		return false;
	memcpy(word, head, sizeof(word));
	/* No text: the highest bits of the cycle, and those of all flags, are 0. */
	return !(le64toh(word[0]) >> 40 & 0xf) &&
	       !(le64toh(word[1]) & 0xe000e000e000e000);
}

static void *make_tokens(struct tip *t)
{
	struct tip **state = malloc(sizeof(*state));

	if (state)
		*state = t;
	return state;
}

static int add_token_record(void *state, char *data)
{
	struct tip *const *tip = state;
	uint64_t word[WORDS];
	struct tip_span s = { .nr = 1, .what = TIP_EMPTY };
	unsigned int excepts = 0;
	int err;

	memcpy(word, data, sizeof(word));
	s.cycle = le64toh(word[0]) & CYCLE;
	for (int i = 0; i < SLOTS; i++) {
		const unsigned int f = le64toh(word[1]) >> (16 * i) & 0xffff;
		struct tip_insn insn = { .pc = le64toh(word[2 + i]) };

		if (!(f & VALID))
			continue;
		insn.flags = (f & MISPREDICTED ? TIP_MISPREDICTED : 0) |
			     (f & FLUSHES ? TIP_FLUSHES : 0);
		excepts |= f & EXCEPTS;
		s.insn[s.n++] = insn;
	}
	if (le64toh(word[0]) & COMMITTED)
		s.what = TIP_COMMITS;
	else if (excepts || le64toh(word[0]) & EXCEPTION)
		s.what = TIP_EXCEPTS;
	else if (s.n)
		s.what = TIP_STALLS;
	if (s.what != TIP_COMMITS && s.n)
		s.n = 1;
	err = tip_add(*tip, &s);
	return err == -EINVAL ? -CPI_EFORMAT : err;
}

static int end_tokens(void *state)
{
	(void)state;
	return 0;
}

const struct trace_format trace_tokens = {
	.name = "tokens",
	.begins = begins,
	.make = make_tokens,
	.free = free,
	.record = WORDS * sizeof(uint64_t),
	.add = add_token_record,
	.end = end_tokens,
};
