/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * I-cache and ITLB (SOSP'97 section 6.3): an instruction did not miss if all
 * instructions executed just before it are in the same cache line, or page.
 *
 * One rule is added to the paper's, because caches are larger now. A miss is ruled out
 * if the instruction runs at least AGAIN times per call of the procedure, and the code
 * of the procedure that runs at least a tenth as often (NEARLY) fits into the cache and
 * contains no call. A call may bring in other code. Then the miss remains a suspect,
 * with a lower likelihood than if the code did not fit.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/blame/blame_case.h"
#include "base/search.h"

#define LINE        64
#define PAGE        4096
#define FILL_CYCLES 400.0 /* from the farthest memory */
#define CACHE_LINES 256.0 /* half of the smallest that cores have */
#define TLB_PAGES   64.0
#define MAX_BEFORE  8
#define AGAIN       8.0 /* executions per call, from which on code counts as repeated */
#define NEARLY      0.1 /* code that runs at least this share as often counts as well */
#define LATE        0.6 /* factor for an instruction that is not its line's first */

static int by_runs(const void *a, const void *b, void *of)
{
	const double *runs = of;
	const double x = runs[*(const int *)a], y = runs[*(const int *)b];

	return x < y ? 1 : x > y ? -1 : 0;
}

static bool has_call(const struct cfg *cfg, int b)
{
	const struct cfg_block *block = &cfg->block[b];

	for (int i = block->first_insn; i < block->first_insn + block->nr_insns; i++)
		if (cfg->insn[i].kind & (INSN_CALL | INSN_SYSCALL))
			return true;
	return false;
}

/*
 * Sets sum[k] to the number of lines or pages in the first k + 1 blocks of the order
 * (by executions). If several blocks share a line or page, it counts only for the first
 * of them. place has the place of each block in the order; -1: the block never runs.
 * cfg->block is sorted by address.
 */
static void count_granules(const struct cfg *cfg, const int *place, uint64_t granule,
			   double *sum, int nr)
{
	uint64_t counted = UINT64_MAX;
	int first = -1;

	for (int b = 0; b < cfg->exit; b++) {
		const uint64_t begin = (cfg->block[b].start + cfg->bias) / granule;
		const uint64_t end = (cfg->block[b].end - 1 + cfg->bias) / granule;

		if (place[b] < 0)
			continue;
		if (begin == counted && first <= place[b]) {
			sum[place[b]] += (double)(end - begin);
		} else {
			if (begin == counted)
				sum[first]--;
			sum[place[b]] += (double)(end - begin + 1);
		}
		if (end != counted || place[b] < first)
			first = place[b];
		counted = end;
	}
	for (int k = 1; k < nr; k++)
		sum[k] += sum[k - 1];
}

int blame_footprints_init(struct blame_footprints *f, const struct blame_input *in,
			  struct arena *arena)
{
	const struct cfg *cfg = in->cfg;
	const double *runs = in->freq->block;
	int *order = arena_array(arena, cfg->nr_blocks, sizeof(*order));
	int *place = arena_array(arena, cfg->nr_blocks, sizeof(*place));

	f->runs = arena_array(arena, cfg->nr_blocks, sizeof(*f->runs));
	f->lines = arena_array(arena, cfg->nr_blocks, sizeof(*f->lines));
	f->pages = arena_array(arena, cfg->nr_blocks, sizeof(*f->pages));
	f->calls = arena_array(arena, cfg->nr_blocks, sizeof(*f->calls));
	if (!order || !place || !f->runs || !f->lines || !f->pages || !f->calls)
		return -ENOMEM;
	f->nr = 0;
	for (int b = 0; b < cfg->exit; b++) {
		place[b] = -1;
		if (runs[b] > 0)
			order[f->nr++] = b;
	}
	qsort_r(order, (size_t)f->nr, sizeof(*order), by_runs, (void *)runs);
	for (int k = 0; k < f->nr; k++) {
		place[order[k]] = k;
		f->runs[k] = runs[order[k]];
		f->calls[k] = has_call(cfg, order[k]) || (k && f->calls[k - 1]);
	}
	count_granules(cfg, place, LINE, f->lines, f->nr);
	count_granules(cfg, place, PAGE, f->pages, f->nr);
	return 0;
}

/* The last block with at least NEARLY * runs executions, or -1. */
static int last_of(const struct blame_footprints *f, double runs)
{
	return (int)SEARCH(i, f->nr, f->runs[i] < NEARLY * runs) - 1;
}

struct blame_overflow blame_overflows(const struct blame_footprints *f, double runs)
{
	const int last = last_of(f, runs);

	return (struct blame_overflow){ last >= 0 && f->lines[last] > 4 * CACHE_LINES,
					last >= 0 && f->pages[last] > 4 * TLB_PAGES };
}

/* Whether it runs again soon, and no call brings in other code before. */
static bool stays(const struct blame_case *c)
{
	const int last = last_of(&c->scene->footprints, c->frequency);
	const double once = c->in->freq->block[c->in->cfg->exit];

	return c->frequency >= AGAIN * once && last >= 0 &&
	       !c->scene->footprints.calls[last];
}

/* Whether the first byte of a and the last byte of b are in different granules. */
static bool parts(const struct insn *a, const struct insn *b, uint64_t granule)
{
	return a->address / granule != (b->address + b->size - 1) / granule;
}

/* Whether insn can be the first instruction fetched from its granule. */
static bool may_be_fetched(const struct blame_case *c, int insn, uint64_t granule)
{
	int before[MAX_BEFORE];
	bool outside;
	int nr = blame_before(c->paths, insn, before, MAX_BEFORE, &outside);

	for (int i = 0; i < nr && !outside; i++)
		outside = parts(blame_case_insn(c, before[i]), blame_case_insn(c, insn),
				granule);
	return outside;
}

/* The member of the group that most likely waited; weight 0 if none can have. */
static struct blame_witness find_fetched(const struct blame_case *c, uint64_t granule)
{
	struct blame_witness found = { -1, 0 };

	for (int i = 0; i < c->nr_group; i++)
		if (c->group[i].weight > found.weight &&
		    may_be_fetched(c, c->group[i].insn, granule))
			found = c->group[i];
	if (found.weight < BLAME_NEXT && c->next >= 0 &&
	    may_be_fetched(c, c->next, granule))
		found = (struct blame_witness){ c->next, BLAME_NEXT };
	return found;
}

/* The first instruction of the block in the granule. */
static int first_in_granule(const struct blame_case *c, uint64_t granule)
{
	int insn = c->insn;

	while (insn > c->in->cfg->block[c->block].first_insn &&
	       !parts(blame_case_insn(c, insn - 1), blame_case_insn(c, c->insn),
		      granule))
		insn--;
	return insn;
}

static void accuse(struct blame_case *c, enum blame_reason reason, uint64_t granule,
		   double likely, bool fits)
{
	struct blame_witness w = find_fetched(c, granule);

	/* Code that arrives late arrives in pieces, so any instruction may wait. */
	if (!w.weight && !fits)
		w = (struct blame_witness){ first_in_granule(c, granule), LATE };
	if (!w.weight)
		blame_acquit(c, reason,
			     "the instructions before it are on the same line or page");
	else if (fits && stays(c))
		blame_acquit(c, reason, "it runs again before other code can evict it");
	else
		blame_accuse(c, reason, w.insn, likely * w.weight, FILL_CYCLES);
}

void blame_fetch(struct blame_case *c)
{
	const struct blame_footprints *f = &c->scene->footprints;
	const int last = last_of(f, c->frequency);
	const bool in_cache = last < 0 || f->lines[last] <= CACHE_LINES;
	const bool in_tlb = last < 0 || f->pages[last] <= TLB_PAGES;

	accuse(c, BLAME_ICACHE, LINE, in_cache ? 0.2 : 0.8, in_cache);
	accuse(c, BLAME_ITLB, PAGE, in_tlb ? 0.12 : 0.5, in_tlb);
}
