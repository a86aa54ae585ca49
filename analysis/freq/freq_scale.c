/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The intervals of frequencies: the error of the scale, as scale.h finds it, and that
 * of the shape, as freq_estimate() does. Both are of logarithms and independent of each
 * other, so their squares add up, on each side.
 *
 * An edge between two loops, or into or out of one, has the factor of the code outside:
 * how often a loop is entered says nothing of its rounds. So after scaling, the edges
 * into a loop's head no longer add up to the executions of the head: those from outside
 * have another factor.
 */
#include "config.h"

#include "analysis/freq/freq.h"

#include <errno.h>
#include <math.h>

#define NARROW  1.645 /* deviations from the middle of a 90 % interval to its end */
#define HIGH_SD 0.1   /* of the scale, for a high confidence in it */

static struct freq_interval widen(double likely, const struct freq_interval *factor,
				  double sd)
{
	const double shape = NARROW * sd;
	struct freq_interval r = { 0, likely, INFINITY };

	if (factor->low > 0)
		r.low = likely * exp(-hypot(log(factor->likely / factor->low), shape));
	if (isfinite(factor->high))
		r.high = likely * exp(hypot(log(factor->high / factor->likely), shape));
	return r;
}

static void scale_one(double *n, const struct freq_interval *factor, double sd,
		      struct freq_interval *range)
{
	*n *= factor->likely;
	*range = widen(*n, factor, sd);
}

/* Confidence in the scale, by the block that ran most. */
static enum confidence confidence_in(const struct freq *f, const struct cfg *cfg,
				     const struct freq_interval *factor)
{
	int most = 0;

	for (int b = 1; b < cfg->exit; b++)
		if (f->block[b] > f->block[most])
			most = b;
	if (!freq_interval_known(&factor[most]))
		return CONFIDENCE_LOW;
	return log(factor[most].high / factor[most].low) < 2 * NARROW * HIGH_SD
		       ? CONFIDENCE_HIGH
		       : CONFIDENCE_MEDIUM;
}

int freq_take_scale(struct freq *f, const struct cfg *cfg, const struct scale *scale,
		    struct arena *arena)
{
	struct freq_interval *block =
		arena_array(arena, cfg->nr_blocks, sizeof(*block));
	struct freq_interval *edge = arena_array(arena, cfg->nr_edges, sizeof(*edge));

	if (!block || !edge)
		return -ENOMEM;
	f->scale = confidence_in(f, cfg, scale->block);
	for (int b = 0; b < cfg->nr_blocks; b++)
		scale_one(&f->block[b], &scale->block[b],
			  scale->block_measured[b] ? 0 : f->block_sd[b], &block[b]);
	for (int e = 0; e < cfg->nr_edges; e++)
		scale_one(&f->edge[e], &scale->edge[e],
			  scale->edge_measured[e] ? 0 : f->edge_sd[e], &edge[e]);
	f->block_range = block;
	f->edge_range = edge;
	return 0;
}

int freq_keep_scale(struct freq *f, const struct cfg *cfg, double sd,
		    struct arena *arena)
{
	const struct freq_interval factor = { exp(-NARROW * sd), 1, exp(NARROW * sd) };

	f->anchored = true;
	f->block_range = arena_array(arena, cfg->nr_blocks, sizeof(*f->block_range));
	f->edge_range = arena_array(arena, cfg->nr_edges, sizeof(*f->edge_range));
	if (!f->block_range || !f->edge_range)
		return -ENOMEM;
	for (int b = 0; b < cfg->nr_blocks; b++)
		scale_one(&f->block[b], &factor, f->block_sd[b], &f->block_range[b]);
	for (int e = 0; e < cfg->nr_edges; e++)
		scale_one(&f->edge[e], &factor, f->edge_sd[e], &f->edge_range[e]);
	return 0;
}
