/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two sources of measured time become weights by offset: the time from one retirement
 * to the next, of sampled instructions, and the cycles of runs between taken branches.
 * A run's cycles are divided equally among its instructions. Runs are sorted by their
 * start, so code is decoded once for all runs that begin at one place.
 */
#include "config.h"

#include "analysis/freq/precise.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/loglin.h"
#include "base/search.h"

#define RUN_MAX        (64u << 10) /* bytes; longer runs are not recorded either */
#define MAX_INSN_BYTES 16

bool precise_counts_instructions(const char *event)
{
	static const char *const names[] = { "instructions", "inst_retired" };
	const char *slash = strchr(event, '/'); /* "cpu_core/instructions/ppp" */
	const char *name = slash ? slash + 1 : event;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const size_t size = strlen(names[i]);

		if (!strncasecmp(name, names[i], size) &&
		    (!name[size] || strchr(":.,/", name[size])))
			return true;
	}
	return false;
}

static int add_weight(struct profile *out, uint64_t offset, uint64_t weight)
{
	return weight ? profile_add_weight(out, WEIGHT_EXECUTION, offset, weight) : 0;
}

/* ---- latencies ---- */

static int latency_of(const struct records_row *row, uint64_t *weight)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < row->nr; i++) {
		const struct records_cell *c = &row->cell[i];
		uint64_t w;

		if (c->series != RECORDS_LATENCY + RECORD_TIME_RETIRE_TO_RETIRE ||
		    c->value >= LOGLIN_BINS)
			continue;
		/* WEIGHT_UNIT is even: the middle of a bin is exact. */
		w = (uint64_t)(loglin_middle(c->value) * WEIGHT_UNIT);
		if (__builtin_mul_overflow(w, c->n, &w) ||
		    __builtin_add_overflow(sum, w, &sum))
			return -EOVERFLOW;
	}
	*weight = sum;
	return 0;
}

int precise_add_latencies(const struct records *r, struct profile *out)
{
	struct records_row *row = records_sorted(r);
	const size_t nr = records_nr(r);
	uint64_t weight = 0;
	int err = row || !nr ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !err; i++) {
		err = latency_of(&row[i], &weight);
		if (!err)
			err = add_weight(out, row[i].offset, weight);
	}
	free(row);
	return err;
}

/* ---- runs ---- */

static bool has_time(const struct edge *run)
{
	return run->cycles && run->to >= run->from && run->to - run->from <= RUN_MAX;
}

uint64_t precise_run_cycles(struct edges *runs)
{
	uint64_t sum = 0;
	size_t nr;
	const struct edge *e = edges_sorted(runs, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (has_time(&e[i]) && __builtin_add_overflow(sum, e[i].cycles, &sum))
			return UINT64_MAX;
	}
	return sum;
}

/* The instructions from the target of a jump on. */
struct stretch {
	struct image *im;
	struct isa *isa;
	uint8_t code[RUN_MAX + MAX_INSN_BYTES];
	uint32_t start[RUN_MAX + 1]; /* of each, from the first */
	size_t nr;
};

/* Decodes up to size bytes, or up to bytes that are not code. */
static void decode(struct stretch *s, uint64_t from, uint64_t size)
{
	size_t length = size + MAX_INSN_BYTES;
	struct insn insn;

	s->nr = 0;
	if (!s->im || !s->isa)
		return;
	while (length > size && image_read(s->im, from, s->code, length))
		length--;
	for (size_t at = 0; length > size && at <= size; at += insn.size) {
		if (isa_decode(s->isa, s->code + at, length - at,
			       image_address(s->im, from + at), &insn) ||
		    insn.kind & INSN_BAD)
			return;
		s->start[s->nr++] = at;
	}
}

/* The number of instructions in a run of size bytes; 0 if no instruction ends there. */
static size_t nr_insns(const struct stretch *s, uint32_t size)
{
	const size_t low = SEARCH(i, s->nr, s->start[i] >= size);

	return low < s->nr && s->start[low] == size ? low + 1 : 0;
}

static int add_run(const struct stretch *s, const struct edge *run, struct profile *out)
{
	const size_t nr = nr_insns(s, run->to - run->from);
	uint64_t weight;
	int err = 0;

	if (__builtin_mul_overflow(run->cycles, (uint64_t)WEIGHT_UNIT, &weight))
		return -EOVERFLOW;
	if (!nr)
		return add_weight(out, run->to, weight);
	for (size_t i = 0; i < nr && !err; i++)
		err = add_weight(out, run->from + s->start[i],
				 weight / nr + (i < weight % nr));
	return err;
}

/*
 * The number of runs that begin where the first one does, and the longest one's size.
 */
static size_t same_begin(const struct edge *e, size_t nr, uint64_t *longest)
{
	size_t i = 0;

	*longest = 0;
	for (; i < nr && e[i].from == e[0].from; i++) {
		if (has_time(&e[i]))
			*longest = e[i].to - e[i].from;
	}
	return i;
}

int precise_add_runs(struct edges *runs, struct image *im, struct isa *isa,
		     struct profile *out)
{
	struct stretch *s = malloc(sizeof(*s));
	size_t nr, group;
	const struct edge *e = edges_sorted(runs, &nr);
	uint64_t longest;
	int err = 0;

	if (!s)
		return -ENOMEM;
	s->im = im;
	s->isa = isa;
	for (size_t first = 0; first < nr && !err; first += group) {
		group = same_begin(e + first, nr - first, &longest);
		decode(s, e[first].from, longest);
		for (size_t i = first; i < first + group && !err; i++) {
			if (has_time(&e[i]))
				err = add_run(s, &e[i], out);
		}
	}
	free(s);
	return err;
}
