/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A direct call is executed as often as its block, a direct jump out as often as its
 * edge. The targets of indirect calls and jumps are those that windows saw: of the runs
 * that end at the call, each target gets its share.
 *
 * Procedures are also entered from other images and by unknown calls. So only a share
 * of a procedure's entries counts: those that windows saw coming from procedures that
 * were added.
 */
#include "config.h"

#include "analysis/explain/callgraph.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/math/callscale.h"
#include "analysis/windows/block_counts.h"
#include "base/err.h"

#define SCALE 0.35 /* deviation of the logarithm of a procedure's factor */
#define ENTRIES                                                              \
	4 /* windows that must see a procedure entered before calls scale it \
	   */

struct procedure {
	uint64_t start;
	int number; /* in the order that they were added */
	double samples;
	double entries;    /* executions */
	double seen;       /* windows that saw such entries */
	double passed;     /* WINDOW_WEIGHTS_UNIT: how often windows saw the procedure
			      entered */
	double from_known; /* ... from procedures that were added */
	double factor;
};

/* A call, or a jump that leaves. */
struct site {
	int caller;
	uint64_t target;
	double calls;  /* executions */
	double passed; /* WINDOW_WEIGHTS_UNIT: how often windows saw it go there */
};

struct callgraph {
	struct buf procedures, sites;
	bool sorted;
};

static struct procedure *procedures(const struct callgraph *g)
{
	return (struct procedure *)g->procedures.data;
}

static size_t nr_procedures(const struct callgraph *g)
{
	return g->procedures.len / sizeof(struct procedure);
}

struct callgraph *callgraph_new(void)
{
	return calloc(1, sizeof(struct callgraph));
}

void callgraph_free(struct callgraph *g)
{
	if (!g)
		return;
	buf_fini(&g->procedures);
	buf_fini(&g->sites);
	free(g);
}

/* One procedure while it is added. */
struct callgraph_adder {
	struct callgraph *graph;
	const struct cfg *cfg;
	const struct freq *freq;
	const struct explain_windows *windows;
	int caller;
	double *ended; /* by instruction: how many runs ended there */
	double inside; /* jumps to the entry from inside */
};

/* The instruction at an image offset, and its block, or -1. */
static int insn_at(const struct cfg *cfg, uint64_t offset, int *block)
{
	const int b = cfg_block_at(cfg, offset);
	const struct cfg_block *found = &cfg->block[b < 0 ? cfg->exit : b];

	for (int i = found->first_insn; i < found->first_insn + found->nr_insns; i++) {
		if (cfg->insn[i].address - cfg->bias == offset) {
			*block = b;
			return i;
		}
	}
	return -1;
}

/* Calls add for the edges of a set that come from the procedure. */
static void each_edge(struct callgraph_adder *a, struct edges *set,
		      void (*add)(struct callgraph_adder *a, const struct edge *e))
{
	const struct cfg *cfg = a->cfg;
	size_t nr;
	const struct edge *e = edges_sorted(set, &nr);

	for (int part = 0; part < cfg->nr_parts; part++) {
		const uint64_t end = cfg->block[cfg->part[part + 1] - 1].end;
		size_t i = edges_first_from(e, nr, cfg->block[cfg->part[part]].start);

		for (; i < nr && e[i].from < end; i++)
			add(a, &e[i]);
	}
}

static void add_end(struct callgraph_adder *a, const struct edge *run)
{
	int block, i = insn_at(a->cfg, run->to, &block);

	if (i >= 0)
		a->ended[i] += (double)run->n;
}

static void add_site(struct callgraph_adder *a, uint64_t target, double calls,
		     double passed)
{
	const struct site site = { a->caller, target, calls, passed };

	buf_put(&a->graph->sites, &site, sizeof(site));
}

static void add_branch(struct callgraph_adder *a, const struct edge *branch)
{
	const struct cfg *cfg = a->cfg;
	const double n = (double)branch->n;
	int block, i = insn_at(cfg, branch->from, &block);

	if (i < 0 || !(cfg->insn[i].kind & (INSN_CALL | INSN_JUMP)))
		return;
	if (!(cfg->insn[i].kind & INSN_CALL) && cfg_block_at(cfg, branch->to) >= 0)
		a->inside += branch->to == cfg->block[0].start ? n : 0;
	else if (cfg->insn[i].target)
		add_site(a, branch->to, 0, n);
	else
		add_site(a, branch->to,
			 a->freq->block[block] * n / fmax(n, a->ended[i]), n);
}

static void add_direct_calls(struct callgraph_adder *a)
{
	const struct cfg *cfg = a->cfg;

	for (int b = 0; b < cfg->exit; b++) {
		const struct cfg_block *block = &cfg->block[b];

		for (int i = block->first_insn; i < block->first_insn + block->nr_insns;
		     i++) {
			if (cfg->insn[i].kind & INSN_CALL && cfg->insn[i].target)
				add_site(a, cfg->insn[i].target - cfg->bias,
					 a->freq->block[b], 0);
		}
	}
}

static void add_direct_jumps(struct callgraph_adder *a)
{
	const struct cfg *cfg = a->cfg;

	for (int e = 0; e < cfg->nr_edges; e++) {
		const struct cfg_block *from = &cfg->block[cfg->edge[e].from];
		const struct insn *last =
			&cfg->insn[from->first_insn + from->nr_insns - 1];

		if (cfg->edge[e].kind == EDGE_LEAVE && last->kind & INSN_JUMP &&
		    last->target)
			add_site(a, last->target - cfg->bias, a->freq->edge[e], 0);
	}
}

static double entries(const struct cfg *cfg, const struct freq *f)
{
	double sum = f->block[0];

	for (int i = 0; i < cfg->block[0].nr_in; i++)
		sum -= f->edge[cfg->in[cfg->block[0].first_in + i]];
	return isfinite(sum) ? fmax(sum, 0) : 0;
}

static int add_procedure(struct callgraph_adder *a, const struct explained *x,
			 struct arena *arena)
{
	const struct explain_windows *w = a->windows;
	const struct cfg *cfg = a->cfg;
	struct procedure p = { .start = cfg->block[0].start,
			       .entries = entries(cfg, a->freq),
			       .factor = 1 };
	struct block_counts passed;
	int err = block_counts_build(cfg, w->branches, w->runs, arena, &passed);

	a->ended = arena_array(arena, cfg->nr_insns, sizeof(*a->ended));
	if (!err && !a->ended)
		err = -ENOMEM;
	if (err)
		return err;
	for (int i = 0; i < cfg->nr_insns; i++)
		p.samples += x->samples[i];
	each_edge(a, w->runs, add_end);
	each_edge(a, w->branches, add_branch);
	add_direct_calls(a);
	add_direct_jumps(a);
	p.passed = passed.block[0] - a->inside;
	if (p.passed > 0)
		p.seen = window_weights_worth(w->weights, w->image, p.start) *
			 p.passed / passed.block[0];
	buf_put(&a->graph->procedures, &p, sizeof(p));
	return a->graph->procedures.err ? a->graph->procedures.err
					: a->graph->sites.err;
}

int callgraph_add(struct callgraph *g, const struct explained *x,
		  const struct explain_windows *windows)
{
	struct callgraph_adder a = { .graph = g,
				     .cfg = x->cfg,
				     .freq = x->freq,
				     .windows = windows,
				     .caller = nr_procedures(g) };
	struct arena arena;
	int err;

	if (!x->freq->windows || x->freq->counted)
		return 0;
	if (nr_procedures(g) == INT_MAX)
		return -CPI_ELIMIT;
	arena_init(&arena, 0);
	err = add_procedure(&a, x, &arena);
	arena_fini(&arena);
	return err;
}

static int compare_starts(const void *va, const void *vb)
{
	const struct procedure *a = va, *b = vb;

	return (a->start > b->start) - (a->start < b->start);
}

static struct procedure *find_procedure(const struct callgraph *g, uint64_t start)
{
	const struct procedure key = { .start = start };

	return g->sorted ? bsearch(&key, procedures(g), nr_procedures(g), sizeof(key),
				   compare_starts)
			 : NULL;
}

/*
 * Gathers the sites that lead to a procedure, with the numbers of the sorted
 * procedures.
 */
static size_t gather_calls(struct callgraph *g, const int *number,
			   struct callscale_call *call)
{
	const struct site *site = (const struct site *)g->sites.data;
	size_t nr = 0;

	for (size_t i = 0; i < g->sites.len / sizeof(*site); i++) {
		struct procedure *to = find_procedure(g, site[i].target);

		if (!to)
			continue;
		to->from_known += site[i].passed;
		if (site[i].calls > 0 && isfinite(site[i].calls))
			call[nr++] = (struct callscale_call){ number[site[i].caller],
							      to - procedures(g),
							      site[i].calls };
	}
	return nr;
}

static struct callscale_procedure scaled_of(const struct procedure *p)
{
	const double share = p->passed > 0 ? fmin(p->from_known / p->passed, 1) : 0;

	return (struct callscale_procedure){ p->samples, p->entries * share,
					     p->seen * share, 0 };
}

static int solve_factors(struct callgraph *g, struct arena *arena)
{
	const size_t nr = nr_procedures(g);
	struct callscale_procedure *scaled = arena_array(arena, nr, sizeof(*scaled));
	struct callscale_call *call =
		arena_array(arena, g->sites.len / sizeof(struct site), sizeof(*call));
	int *number = arena_array(arena, nr, sizeof(*number)), err;
	double *log_factor;
	size_t nr_calls;

	if (!scaled || !call || !number)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		procedures(g)[i].number = i;
	qsort(procedures(g), nr, sizeof(struct procedure), compare_starts);
	g->sorted = true;
	for (size_t i = 0; i < nr; i++)
		number[procedures(g)[i].number] = i;
	nr_calls = gather_calls(g, number, call);
	for (size_t i = 0; i < nr; i++)
		scaled[i] = scaled_of(&procedures(g)[i]);
	err = callscale_find(&(struct callscale_prior){ SCALE, ENTRIES, false }, scaled,
			     nr, call, nr_calls, arena, &log_factor);
	for (size_t i = 0; i < nr && !err; i++)
		procedures(g)[i].factor = exp(log_factor[i]);
	return err;
}

int callgraph_solve(struct callgraph *g)
{
	struct arena arena;
	int err;

	if (!nr_procedures(g))
		return 0;
	arena_init(&arena, 0);
	err = solve_factors(g, &arena);
	arena_fini(&arena);
	return err;
}

double callgraph_factor(const struct callgraph *g, uint64_t start)
{
	const struct procedure *p = g ? find_procedure(g, start) : NULL;

	return p ? p->factor : 1;
}

int callgraph_put(const struct callgraph *g, struct buf *out)
{
	for (size_t i = 0; i < nr_procedures(g); i++) {
		const struct procedure *p = &procedures(g)[i];
		const struct callgraph_kept kept = { p->start, p->factor };

		buf_put(out, &kept, sizeof(kept));
	}
	return out->err;
}

int callgraph_get(const struct callgraph_kept *kept, size_t nr, struct callgraph **out)
{
	struct callgraph *g = callgraph_new();
	int err = g ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !err; i++) {
		const struct procedure p = { .start = kept[i].start,
					     .factor = kept[i].factor };

		if (!isfinite(p.factor) || !(p.factor > 0) ||
		    (i && p.start < kept[i - 1].start))
			err = -CPI_ECORRUPT;
		else
			buf_put(&g->procedures, &p, sizeof(p));
	}
	if (!err)
		err = g->procedures.err;
	if (err) {
		callgraph_free(g);
		return err;
	}
	g->sorted = nr > 0; /* bsearch() wants an array */
	*out = g;
	return 0;
}
