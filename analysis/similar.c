/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/similar.h"

#include <errno.h>
#include <stdlib.h>

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

/* The end of the code stands for what is behind the last instructions. */
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
		last[RUN - 1] = 1 + insn.opcode;
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

double similar_score(const struct similar *a, const struct similar *b)
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
	return a->nr + b->nr ? 2.0 * both / (a->nr + b->nr) : 0;
}
