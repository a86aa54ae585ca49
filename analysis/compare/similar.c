/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * similar.c - compares procedures by their mnemonics
 *
 * A procedure becomes a sorted list of hashes, one for each run of RUN mnemonics. One
 * merge compares two lists, in linear time. Hashes of runs keep the order of nearby
 * instructions, and still match if a compiler moves whole blocks.
 */
#include "config.h"

#include "analysis/compare/similar.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"

#define MAX_BYTES (1u << 20)
#define RUN       3

struct similar {
	size_t nr;
	uint64_t run[]; /* hashes, ascending */
};

static int ascending(const void *va, const void *vb)
{
	const uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return (a > b) - (a < b);
}

/*
 * LLVM's opcodes also distinguish forms of operands: "andl" of eax and a number differs
 * from that of ecx. So the printed mnemonic is used.
 */
static uint64_t mnemonic_of(struct isa *isa, const struct insn *insn)
{
	char text[ISA_TEXT_SIZE];

	isa_text(isa, insn, text);
	return hash_bytes(0, text, strcspn(text, " \t"));
}

/* Zeros stand for instructions before the first one. */
static void add_runs(struct similar *s, struct isa *isa, const uint8_t *code,
		     uint64_t size)
{
	uint64_t last[RUN] = { 0 };
	struct insn insn;

	for (uint64_t at = 0; at < size; at += insn.size) {
		if (isa_decode(isa, code + at, size - at, at, &insn))
			break;
		if (insn.kind & INSN_NOP)
			continue;
		for (int i = 0; i + 1 < RUN; i++)
			last[i] = last[i + 1];
		last[RUN - 1] = mnemonic_of(isa, &insn);
		s->run[s->nr++] = hash_bytes(0, last, sizeof(last));
	}
	qsort(s->run, s->nr, sizeof(s->run[0]), ascending);
}

int similar_new(struct image *im, struct isa *isa, uint64_t start, uint64_t end,
		struct similar **out)
{
	const uint64_t size = end - start;
	struct similar *s;
	uint8_t *code;
	int err;

	if (size > MAX_BYTES)
		return -CPI_ELIMIT;
	code = malloc(size + 1);
	s = calloc(1, sizeof(*s) + size * sizeof(s->run[0]));
	err = code && s ? image_read(im, start, code, size) : -ENOMEM;
	if (!err) {
		add_runs(s, isa, code, size);
		*out = s;
		s = NULL; /* the caller's now */
	}
	free(code);
	free(s);
	return err;
}

void similar_free(struct similar *s)
{
	free(s);
}

/* How many runs both have; a run that each has twice counts twice. */
static size_t common_runs(const struct similar *a, const struct similar *b)
{
	size_t i = 0, k = 0, both = 0;

	while (i < a->nr && k < b->nr) {
		if (a->run[i] == b->run[k]) {
			both++;
			i++;
			k++;
		} else if (a->run[i] < b->run[k]) {
			i++;
		} else {
			k++;
		}
	}
	return both;
}

double similar_score(const struct similar *a, const struct similar *b)
{
	return a->nr + b->nr ? 2.0 * common_runs(a, b) / (a->nr + b->nr) : 0;
}

double similar_part(const struct similar *part, const struct similar *whole)
{
	if (!part->nr || part->nr < whole->nr / 8)
		return 0;
	return (double)common_runs(part, whole) / part->nr;
}

struct similar *similar_join(const struct similar *a, const struct similar *b)
{
	struct similar *s = calloc(1, sizeof(*s) + (a->nr + b->nr) * sizeof(s->run[0]));

	if (!s)
		return NULL;
	memcpy(s->run, a->run, a->nr * sizeof(s->run[0]));
	memcpy(s->run + a->nr, b->run, b->nr * sizeof(s->run[0]));
	s->nr = a->nr + b->nr;
	qsort(s->run, s->nr, sizeof(s->run[0]), ascending);
	return s;
}
