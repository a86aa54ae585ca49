/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwindcodes.c - finds the run-time code to which registers or words of a stack
 * copy point
 */
#include "config.h"

#include "daemon/stacks/unwindcodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "daemon/os/arch.h"
#include "daemon/jit/jitimage.h"

#define MAX_LOOKUPS 512 /* of a sample; a process can make them slow */

struct code_search {
	struct unwindcodes *codes;
	struct jit *jit;
	const struct process *process;
	uint64_t when_ns;
	unsigned int nr_lookups;
	struct jit_tables last;    /* found */
	const struct range *range; /* that the process has mapped */
	size_t nr_ranges;
};

static bool is_in(uint64_t address, uint64_t start, uint64_t end)
{
	return address - start < end - start;
}

/* Whether there may be such code at an address. */
static bool may_hold(const struct code_search *s, uint64_t address)
{
	const size_t lo = SEARCH(i, s->nr_ranges, s->range[i].end > address);

	return lo < s->nr_ranges && s->range[lo].start <= address &&
	       jit_may_hold(s->range[lo].value);
}

/*
 * Removes all code that overlaps this code, and inserts this code in order of
 * addresses, unless it has no size or is too large. If the list is full, empties it
 * first.
 */
static void replace(struct unwindcodes *c, const struct jit_tables *code)
{
	const bool is_kept = code->size && code->end - code->start <= JITIMAGE_MAX_CODE;
	size_t from = 0, to;

	while (from < c->nr && c->code[from].end <= code->start)
		from++;
	for (to = from; to < c->nr && c->code[to].start < code->end;)
		to++;
	if (is_kept && from == to && c->nr == UNWINDCODES_MAX)
		from = to = c->nr = 0;
	memmove(c->code + from + is_kept, c->code + to,
		(c->nr - to) * sizeof(*c->code));
	c->nr = c->nr - (to - from) + is_kept;
	if (is_kept)
		c->code[from] = *code;
}

static void meet(struct code_search *s, uint64_t address)
{
	if (is_in(address, s->last.start, s->last.end) ||
	    s->nr_lookups == MAX_LOOKUPS || !may_hold(s, address))
		return;
	s->nr_lookups++;
	if (!jit_find_tables(s->jit, s->process, address, s->when_ns, &s->last))
		replace(s->codes, &s->last);
}

void unwindcodes_meet(struct unwindcodes *c, struct jit *j, const struct process *p,
		      const struct chain_sample *sample)
{
	struct code_search s = {
		.codes = c, .jit = j, .process = p, .when_ns = sample->time_ns
	};
	uint64_t word;

	if (!jit_has_tables(j, p, sample->time_ns)) {
		c->nr = 0; /* what was met may not be there any more */
		return;
	}
	if (!c->code)
		c->code = calloc(UNWINDCODES_MAX, sizeof(*c->code));
	if (!c->code)
		return;
	s.range = procmap_ranges(p, &s.nr_ranges);
	for (int i = 0; i < __builtin_popcountll(arch_native.user_mask); i++)
		meet(&s, sample->regs[i]);
	for (size_t at = 0; sample->stack_size - at >= sizeof(word);
	     at += sizeof(word)) {
		memcpy(&word, (const char *)sample->stack + at, sizeof(word));
		meet(&s, word);
	}
}

void unwindcodes_fini(struct unwindcodes *c)
{
	free(c->code);
	*c = (struct unwindcodes){ 0 };
}
