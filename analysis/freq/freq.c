/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The passes of SOSP'97 section 6.1, in their order; the paper's local propagation is
 * followed by the global solver that its section 6.1.4 announces.
 *
 * Confidence comes from the solver; the paper has a heuristic over issue points
 * (6.1.5). The solver knows the cost of moving the flow, and this cost includes the
 * numbers of samples and outcomes and the spread of ratios.
 */
#include "config.h"

#include "analysis/freq/freq.h"

#include <errno.h>
#include <math.h>

#include "analysis/cfg/equiv.h"
#include "analysis/freq/branchprob.h"
#include "analysis/freq/estimate.h"
#include "analysis/freq/estimate_windows.h"
#include "analysis/freq/flow.h"
#include "analysis/freq/flow_repair.h"
#include "analysis/freq/propagate.h"
#include "base/err.h"

#define SD_HIGH   0.1 /* of log f: an error of 15 % is 1.5 deviations */
#define SD_MEDIUM 0.3
#define SD_NONE   3.0 /* of log f without any information */
#define ANCHORS   50  /* least samples of retired instructions to fix the scale */
#define STALL     1.0 /* slope of log f by the share of the most sampled instruction */

/* The results of passes for later passes. */
struct passes {
	const struct freq_input *in;
	struct arena *arena;
	struct buf *debug; /* or NULL */
	struct equiv eq;
	int *first_block; /* by class, or -1: edges only */
	struct estimate *est;
	struct guess *guess;
	struct branchprob bp;
	struct flow flow;
	struct flow_repair flowing;
	double scale;
	bool sampled, anchored, retired;
};

static bool is_amount(double x)
{
	return x >= 0 && isfinite(x);
}

static int check_input(struct passes *p)
{
	const struct freq_input *in = p->in;

	if (!is_amount(in->period_cycles) || !in->period_cycles)
		return -EINVAL;
	for (int i = 0; i < in->cfg->nr_insns; i++) {
		if (!is_amount(in->samples[i]))
			return -EINVAL;
		if (in->retired && !is_amount(in->retired->n[i]))
			return -EINVAL;
		p->sampled |= in->samples[i] > 0;
	}
	p->sampled |= in->windows != NULL;
	return 0;
}

static int find_first_blocks(struct passes *p)
{
	p->first_block = arena_array(p->arena, p->eq.nr, sizeof(*p->first_block));
	if (!p->first_block)
		return -ENOMEM;
	for (int c = 0; c < p->eq.nr; c++)
		p->first_block[c] = -1;
	for (int b = p->in->cfg->exit - 1; b >= 0; b--)
		p->first_block[p->eq.block[b]] = b;
	return 0;
}

/*
 * CGO'10 section 4.1: of all events, retired instructions are the best measure of
 * executions. So classes get their frequency from them, as if each instruction took a
 * cycle.
 */
static int take_retired(struct passes *p)
{
	const struct freq_retired *retired = p->in->retired;
	const struct cfg *cfg = p->in->cfg;
	double *by_class = arena_array(p->arena, p->eq.nr, sizeof(*by_class));
	double sum = 0;

	if (!by_class)
		return -ENOMEM;
	for (int b = 0; b < cfg->exit; b++) {
		const struct cfg_block *block = &cfg->block[b];

		for (int i = 0; i < block->nr_insns; i++)
			by_class[p->eq.block[b]] += retired->n[block->first_insn + i];
	}
	for (int c = 0; c < p->eq.nr; c++)
		sum += by_class[c];
	if (!(retired->period > 0) || !(sum > 0))
		return 0;
	for (int c = 0; c < p->eq.nr; c++)
		if (p->est[c].rule != ESTIMATE_NONE)
			estimate_retired(by_class[c] / retired->period,
					 retired->period / p->in->period_cycles,
					 &p->est[c]);
	p->retired = p->sampled = true;
	p->anchored = sum >= ANCHORS * retired->period;
	return 0;
}

static int guess_classes(struct passes *p)
{
	const struct estimate *est = p->est;

	p->guess = arena_array(p->arena, p->eq.nr, sizeof(*p->guess));
	if (!p->guess)
		return -ENOMEM;
	for (int c = 0; c < p->eq.nr; c++)
		p->guess[c] = (struct guess){ .known = est[c].rule != ESTIMATE_NONE,
					      .frequency = est[c].frequency,
					      .sd = est[c].sd };
	return propagate(p->in->cfg, &p->eq, p->arena, p->guess);
}

/*
 * A class is one measurement, however many blocks it has. For a class that was never
 * seen, only that fact is used. Scanners have hundreds of such classes in sequence; if
 * each were estimated at half an execution, they would raise the flow by powers of ten,
 * and code that seldom runs would look frequent enough to be inlined.
 */
static int repair(struct passes *p)
{
	int nr = p->in->cfg->nr_blocks, err;
	double *seen = arena_array(p->arena, nr, sizeof(*seen));
	double *sd = arena_array(p->arena, nr, sizeof(*sd));
	double *mass = arena_array(p->arena, nr, sizeof(*mass));
	const double **error = arena_array(p->arena, nr, sizeof(*error));
	double *unseen = arena_array(p->arena, nr, sizeof(*unseen));
	struct flow_repair_input in = { .flow = &p->flow,
					.probability = p->bp.probability,
					.outcomes = p->bp.outcomes,
					.seen = seen,
					.seen_sd = sd,
					.mass = mass,
					.error = p->in->windows ? error : NULL,
					.unseen = unseen };

	if (!seen || !sd || !mass || !error || !unseen)
		return -ENOMEM;
	for (int b = 0; b < nr; b++)
		sd[b] = 1;
	for (int c = 0; c < p->eq.nr; c++) {
		if (p->first_block[c] < 0 || p->est[c].rule == ESTIMATE_NONE)
			continue;
		seen[p->first_block[c]] = p->est[c].at_most ? 0 : p->est[c].frequency;
		unseen[p->first_block[c]] = p->est[c].unseen;
		sd[p->first_block[c]] = p->est[c].sd;
		mass[p->first_block[c]] = p->est[c].at_most ? 0 : p->est[c].samples;
		error[p->first_block[c]] = p->est[c].error;
	}
	err = flow_repair_solve(&in, p->arena, &p->flowing);
	if (!err && p->debug)
		flow_repair_dump(&in, &p->flowing, p->debug);
	return err;
}

/* Returns -CPI_ELIMIT or -ERANGE if no flow can be found. */
static int fit_flow(struct passes *p)
{
	int err;

	if (!p->sampled)
		return -ERANGE;
	err = flow_build(p->in->cfg, p->arena, &p->flow);
	return err ? err : repair(p);
}

/* Without a flow each block and edge gets the guess of its class. */
static int do_without_flow(struct passes *p)
{
	const struct cfg *cfg = p->in->cfg;
	struct flow_repair *r = &p->flowing;

	r->block = arena_array(p->arena, cfg->nr_blocks, sizeof(*r->block));
	r->edge = arena_array(p->arena, cfg->nr_edges, sizeof(*r->edge));
	r->block_sd = arena_array(p->arena, cfg->nr_blocks, sizeof(*r->block_sd));
	r->edge_sd = arena_array(p->arena, cfg->nr_edges, sizeof(*r->edge_sd));
	if (!r->block || !r->edge || !r->block_sd || !r->edge_sd)
		return -ENOMEM;
	for (int b = 0; b < cfg->nr_blocks; b++) {
		const struct guess *g = &p->guess[p->eq.block[b]];

		r->block[b] = g->known ? g->frequency : 0;
		r->block_sd[b] = g->known ? g->sd : SD_NONE;
	}
	for (int e = 0; e < cfg->nr_edges; e++) {
		const struct guess *g = &p->guess[p->eq.edge[e]];
		int from = cfg->edge[e].from;

		r->edge[e] =
			g->known ? g->frequency : r->block[from] * p->bp.probability[e];
		r->edge_sd[e] = g->known ? g->sd : SD_NONE;
	}
	return 0;
}

/* The share of the procedure's samples that its most sampled instruction has. */
static double share_of_top(const struct freq_input *in)
{
	double top = 0, sum = 1; /* 1 lowers the share if there are few samples */

	for (int i = 0; i < in->cfg->nr_insns; i++) {
		top = fmax(top, in->samples[i]);
		sum += in->samples[i];
	}
	return top / sum;
}

/*
 * A flow has no scale of its own. Its scale is chosen so that all classes together take
 * the sampled time. The scale of the classes that stall least was less accurate,
 * because out of order these run in the shadow of others.
 *
 * That overestimates the executions of a procedure that stalls. A procedure stalls if
 * one instruction has most of its samples: that share alone, with the slope STALL,
 * explains a quarter of the variance of cycles per instruction between procedures.
 */
static void find_scale(struct passes *p)
{
	double time = 0, flowing = 0;

	for (int c = 0; c < p->eq.nr; c++) {
		const struct estimate *est = &p->est[c];

		if (p->first_block[c] < 0 || est->rule == ESTIMATE_NONE)
			continue;
		time += est->samples;
		flowing += p->flowing.block[p->first_block[c]] * est->cycles;
	}
	p->scale = flowing > 0 ? time / flowing : 1;
	if (!p->retired)
		p->scale *= exp(-STALL * share_of_top(p->in));
}

/* The confidence of a value whose logarithm has this deviation. */
static enum confidence confidence_of(const struct passes *p, double sd)
{
	if (!p->sampled || !(sd < SD_MEDIUM))
		return CONFIDENCE_LOW;
	return sd < SD_HIGH ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
}

static int make_result(struct passes *p, struct freq **out)
{
	const struct cfg *cfg = p->in->cfg;
	struct flow_repair *r = &p->flowing;
	struct freq *f = arena_alloc(p->arena, sizeof(*f));
	double unit = p->sampled ? p->scale * p->in->period_cycles : 0;

	if (!f)
		return -ENOMEM;
	*f = (struct freq){ .block = r->block,
			    .edge = r->edge,
			    .block_sd = r->block_sd,
			    .edge_sd = r->edge_sd,
			    .scale = p->anchored ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW,
			    .class = p->eq.block,
			    .edge_class = p->eq.edge,
			    .nr_classes = p->eq.nr,
			    .windows = p->in->windows != NULL,
			    .retired = p->retired,
			    .unmatched = r->moved };
	f->shape = arena_array(p->arena, cfg->nr_blocks, sizeof(*f->shape));
	f->edge_shape = arena_array(p->arena, cfg->nr_edges, sizeof(*f->edge_shape));
	if (!f->shape || !f->edge_shape)
		return -ENOMEM;
	for (int b = 0; b < cfg->nr_blocks; b++) {
		f->block[b] *= unit;
		f->shape[b] = confidence_of(p, r->block_sd[b]);
	}
	for (int e = 0; e < cfg->nr_edges; e++) {
		f->edge[e] *= unit;
		f->edge_shape[e] = confidence_of(p, r->edge_sd[e]);
	}
	*out = f;
	return 0;
}

static void dump_passes(const struct passes *p)
{
	equiv_dump(p->in->cfg, &p->eq, p->debug);
	estimate_dump(p->est, p->eq.nr, p->debug);
	propagate_dump(p->guess, p->eq.nr, p->debug);
	branchprob_dump(p->in->cfg, &p->bp, p->debug);
}

int freq_estimate(const struct freq_input *in, struct arena *arena, struct buf *debug,
		  struct freq **out)
{
	struct passes p = { .in = in, .arena = arena, .debug = debug };
	int err;

	err = check_input(&p);
	if (!err)
		err = equiv_build(in->cfg, arena, &p.eq);
	if (!err)
		err = find_first_blocks(&p);
	if (!err)
		err = estimate_classes(in, &p.eq, arena, &p.est);
	if (!err && in->windows)
		err = estimate_add_windows(in, &p.eq, arena, p.est);
	else if (!err && in->retired)
		err = take_retired(&p);
	if (!err)
		err = guess_classes(&p);
	if (!err)
		err = branchprob_build(in, &p.eq, p.guess, arena, &p.bp);
	if (err)
		return err;
	if (debug)
		dump_passes(&p);
	err = fit_flow(&p);
	if (err == -CPI_ELIMIT || err == -ERANGE)
		err = do_without_flow(&p);
	if (err)
		return err;
	if (in->windows)
		p.scale = 1; /* windows know it */
	else
		find_scale(&p);
	return make_result(&p, out);
}
