/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * I-cache and ITLB (SOSP'97 section 6.3): an instruction in the cache line, or page,
 * of all that are executed just before it has not missed.
 *
 * One more acquittal, for there are larger caches now: what runs again and again, and
 * all that runs nearly as often in the procedure, fits into them. Calls may bring
 * others in, so they only make it less likely.
 */
#include "config.h"

#include "analysis/blame_case.h"

#define LINE        64
#define PAGE        4096
#define FILL_CYCLES 400.0      /* from the farthest memory */
#define CACHE_BYTES (16 << 10) /* half of the smallest that cores have */
#define TLB_BYTES   (64 << 12)
#define MAX_BEFORE  8
#define AGAIN       8.0 /* executions for each of the procedure's */
#define NEARLY      0.1 /* as often as the stalled instruction */
#define LATE        0.6 /* as likely, behind the first instruction of a line */

/* What runs between two executions of the block, in this procedure. */
struct footprint {
	double bytes;
	bool calls, repeats;
};

static struct footprint measure(const struct blame_case *c)
{
	const struct cfg *cfg = c->in->cfg;
	const double *runs = c->in->freq->block;
	struct footprint f = { .repeats = c->frequency >= AGAIN * runs[cfg->exit] };

	for (int b = 0; b < cfg->exit; b++) {
		if (runs[b] < NEARLY * c->frequency)
			continue;
		f.bytes += (double)(cfg->block[b].end - cfg->block[b].start);
		for (int i = 0; i < cfg->block[b].nr_insns && !f.calls; i++)
			f.calls = cfg->insn[cfg->block[b].first_insn + i].kind &
				  (INSN_CALL | INSN_SYSCALL);
	}
	return f;
}

static bool parts(const struct insn *a, const struct insn *b, uint64_t granule)
{
	return a->address / granule != (b->address + b->size - 1) / granule;
}

/* Whether it can be the first that is fetched from its granule. */
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

/* The likeliest of the group to have waited; 0 when none can have. */
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

/* The first instruction of the block's that is in the granule, too. */
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
	const struct footprint f = measure(c);
	struct blame_witness w = find_fetched(c, granule);

	/* What comes late comes in pieces: it shows at any of them. */
	if (!w.weight && !fits)
		w = (struct blame_witness){ first_in_granule(c, granule), LATE };
	if (!w.weight)
		blame_acquit(c, reason, "those before it are in the same place");
	else if (fits && f.repeats && !f.calls)
		blame_acquit(c, reason, "it runs again before others take its place");
	else
		blame_accuse(c, reason, w.insn, likely * w.weight, FILL_CYCLES);
}

void blame_fetch(struct blame_case *c)
{
	const struct footprint f = measure(c);
	const bool in_cache = f.bytes <= CACHE_BYTES, in_tlb = f.bytes <= TLB_BYTES;

	accuse(c, BLAME_ICACHE, LINE, in_cache ? 0.2 : 0.8, in_cache);
	accuse(c, BLAME_ITLB, PAGE, in_tlb ? 0.12 : 0.5, in_tlb);
}
