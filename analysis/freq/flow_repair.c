/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unknowns are the branch probabilities p and the sources s at the doors.
 * flow_spread() makes a flow from any p and s, so conservation needs no constraint. The
 * cost, twice the negative log likelihood, is
 *
 *	Σ outcomes × 2 Σ p0 log(p0 / p)		multinomial, by block
 *	Σ (log(s / s0) / DOOR_SD)²		by door
 *	Σ ρ(log(seen / f) / seen_sd)		by block that was seen
 *	Σ 2 SHAPE log(1 + f unseen / SHAPE)	by block that was not seen
 *
 * with ρ(z) = HEAVY² log(1 + z² / HEAVY²), so that a block whose frequency seems far
 * off because it stalls does not drag the flow along. The last term is the likelihood
 * of not being seen, where unseen is the expected number of sightings at frequency 1,
 * if sightings scatter more than Poisson's (negative binomial).
 * Fisher scoring lowers the cost. In units u of their own deviations, changes of p and
 * s change the flow by Gᵀ L u: L puts them into the flow behind the branch or door, G
 * and Gᵀ are chain_values() and chain_visits(). So
 *
 *	(I + Lᵀ G W Gᵀ L) u = u0 + Lᵀ G W (seen - f, to first order)
 *
 * which conjugate gradients solve without storing a matrix. The same matrix is the
 * inverse of u's covariance, so draws from it give the flow's deviation.
 *
 * Compared with min-cost network flow (CGO'10, LLVM's profi): its costs are linear in
 * the counts. So the cheapest flow puts a whole surplus on one path, and a branch with
 * 100 counted outcomes weighs no more than one that was never seen.
 */
#include "config.h"

#include "analysis/freq/flow_repair.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "analysis/windows/window_weights.h"

#define DOOR_SD   3.0
#define HEAVY     2.0
#define SHAPE     1.0
#define ROUNDS    100
#define HALVINGS  6
#define STEP_MAX  1.5
#define ENOUGH    1e-4 /* of the cost, relative */
#define GRADIENTS 60
#define RESIDUAL  1e-2 /* relative, of conjugate gradients */
#define P_MIN     1e-12
#define SCALES    100 /* that a new flow is tried with */
#define WAYS      0.2 /* deviation of log p, added to the sampling error of windows */

struct repair_solver {
	const struct flow_repair_input *in;
	const struct cfg *cfg;
	struct flow *flow;
	int nr_blocks, nr_edges, nr; /* nr: unknowns, edges and then blocks as doors */
	double *p, *source, *source0, *block, *edge;
	double *root;   /* by edge: √p */
	double *unit;   /* by unknown: flow per unit of it */
	double *weight; /* by block: W */
	double *u, *right, *residual, *direction, *product; /* by unknown */
	double *flow_u;                                     /* by block: Gᵀ L u */
	double *old_p, *old_source;
	double cost;
};

static double *new_doubles(struct arena *arena, int nr)
{
	return arena_array(arena, nr, sizeof(double));
}

static int new_solver(const struct flow_repair_input *in, struct arena *arena,
		      struct repair_solver *s)
{
	double **blocks[] = { &s->source, &s->source0, &s->block,
			      &s->weight, &s->flow_u,  &s->old_source };
	double **edges[] = { &s->p, &s->edge, &s->root, &s->old_p };
	double **unknowns[] = { &s->unit,     &s->u,         &s->right,
				&s->residual, &s->direction, &s->product };

	*s = (struct repair_solver){ .in = in, .flow = in->flow, .cfg = in->flow->cfg };
	s->nr_blocks = s->cfg->nr_blocks;
	s->nr_edges = s->cfg->nr_edges;
	s->nr = s->nr_edges + s->nr_blocks;
	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
		if (!(*blocks[i] = new_doubles(arena, s->nr_blocks)))
			return -ENOMEM;
	for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++)
		if (!(*edges[i] = new_doubles(arena, s->nr_edges)))
			return -ENOMEM;
	for (size_t i = 0; i < sizeof(unknowns) / sizeof(*unknowns); i++)
		if (!(*unknowns[i] = new_doubles(arena, s->nr)))
			return -ENOMEM;
	return 0;
}

/* L u, as a source. */
static void spread_changes(const struct repair_solver *s, const double *u,
			   double *source)
{
	const struct cfg *cfg = s->cfg;

	for (int b = 0; b < s->nr_blocks; b++)
		source[b] = s->unit[s->nr_edges + b] * u[s->nr_edges + b];
	for (int b = 0; b < cfg->exit; b++) {
		int first = cfg->block[b].first_out, end = first + cfg->block[b].nr_out;
		double mean = 0;

		for (int e = first; e < end; e++)
			mean += s->root[e] * u[e];
		for (int e = first; e < end; e++)
			if (!s->flow->cut[e])
				source[cfg->edge[e].to] +=
					s->unit[e] * (u[e] - s->root[e] * mean);
	}
}

/* Lᵀ v. */
static void collect_changes(const struct repair_solver *s, const double *v, double *u)
{
	const struct cfg *cfg = s->cfg;

	for (int b = 0; b < s->nr_blocks; b++)
		u[s->nr_edges + b] = s->unit[s->nr_edges + b] * v[b];
	for (int b = 0; b < cfg->exit; b++) {
		int first = cfg->block[b].first_out, end = first + cfg->block[b].nr_out;
		double mean = 0;

		for (int e = first; e < end; e++) {
			u[e] = s->flow->cut[e] ? 0 : s->unit[e] * v[cfg->edge[e].to];
			mean += s->root[e] * u[e];
		}
		for (int e = first; e < end; e++)
			u[e] -= s->root[e] * mean;
	}
}

/* Computes Gᵀ L u, by block. */
static void change_flow(const struct repair_solver *s, const double *u, double *flow)
{
	spread_changes(s, u, flow);
	chain_visits(s->flow->chain, flow, flow);
	flow[s->cfg->exit] = 0;
}

/* Lᵀ G v; v is lost. */
static void gather_changes(const struct repair_solver *s, double *v, double *u)
{
	chain_values(s->flow->chain, v, v);
	v[s->cfg->exit] = 0;
	collect_changes(s, v, u);
}

static void multiply_matrix(const struct repair_solver *s, const double *u, double *out)
{
	change_flow(s, u, s->flow_u);
	for (int b = 0; b < s->nr_blocks; b++)
		s->flow_u[b] *= s->weight[b];
	gather_changes(s, s->flow_u, out);
	for (int i = 0; i < s->nr; i++)
		out[i] += u[i];
}

static double dot(const double *a, const double *b, int nr)
{
	double sum = 0;

	for (int i = 0; i < nr; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Conjugate gradients: finds the u that multiply_matrix() turns into right. */
static void solve_gradients(const struct repair_solver *s)
{
	double size = dot(s->right, s->right, s->nr), now = size;

	memset(s->u, 0, s->nr * sizeof(*s->u));
	memcpy(s->residual, s->right, s->nr * sizeof(*s->u));
	memcpy(s->direction, s->right, s->nr * sizeof(*s->u));
	for (int i = 0; i < GRADIENTS && now > RESIDUAL * RESIDUAL * size; i++) {
		double along, before = now;

		multiply_matrix(s, s->direction, s->product);
		along = now / dot(s->direction, s->product, s->nr);
		for (int k = 0; k < s->nr; k++) {
			s->u[k] += along * s->direction[k];
			s->residual[k] -= along * s->product[k];
		}
		now = dot(s->residual, s->residual, s->nr);
		for (int k = 0; k < s->nr; k++)
			s->direction[k] =
				s->residual[k] + now / before * s->direction[k];
	}
}

static bool is_seen(const struct repair_solver *s, int b)
{
	return s->in->seen[b] > 0 && s->block[b] > 0;
}

/* How often block b should have been seen at its current flow, though it never was. */
static double missing(const struct repair_solver *s, int b)
{
	return s->in->unseen ? s->in->unseen[b] * s->block[b] : 0;
}

/* The distance of the flow from the seen frequency, in deviations. */
static double distance(const struct repair_solver *s, int b)
{
	return log(s->in->seen[b] / s->block[b]) / s->in->seen_sd[b];
}

static double sum_cost(const struct repair_solver *s)
{
	const struct cfg *cfg = s->cfg;
	double cost = 0;

	for (int e = 0; e < s->nr_edges; e++) {
		double p0 = s->in->probability[e];
		int from = cfg->edge[e].from;

		if (cfg->block[from].nr_out > 1 && isfinite(s->in->outcomes[from]))
			cost += 2 * s->in->outcomes[from] * p0 * log(p0 / s->p[e]);
	}
	for (int b = 0; b < cfg->exit; b++) {
		if (s->source0[b] > 0) {
			double z = log(s->source[b] / s->source0[b]) / DOOR_SD;

			cost += z * z;
		}
		if (is_seen(s, b)) {
			double z = distance(s, b) / HEAVY;

			cost += HEAVY * HEAVY * log1p(z * z);
		}
		cost += 2 * SHAPE * log1p(missing(s, b) / SHAPE);
	}
	return cost;
}

static void update_flow(struct repair_solver *s)
{
	flow_factor(s->flow, s->p);
	flow_spread(s->flow, s->p, s->source, s->block, s->edge);
	s->cost = sum_cost(s);
}

/* The cost of the blocks (seen and not seen), if the flow were multiplied by `by`. */
static double cost_at(const struct repair_solver *s, double by)
{
	double cost = 0;

	for (int b = 0; b < s->cfg->exit; b++) {
		if (is_seen(s, b)) {
			const double far = distance(s, b) - log(by) / s->in->seen_sd[b];

			cost += HEAVY * HEAVY * log1p(far * far / (HEAVY * HEAVY));
		}
		cost += 2 * SHAPE * log1p(by * missing(s, b) / SHAPE);
	}
	return cost;
}

/*
 * The factor by which the whole new flow is multiplied. Each seen block asks for a
 * factor, seen / f. Those from the least (at most 1) to the largest are tried, and the
 * one of least cost is taken. The mean of their logarithms will not do: the way to a
 * block may look impossible, and one such block would raise the flow by any power of
 * ten.
 */
static double first_scale(const struct repair_solver *s)
{
	double low = 0, high = -INFINITY, best = 1, least = INFINITY;

	for (int b = 0; b < s->cfg->exit; b++) {
		if (is_seen(s, b)) {
			const double asked = log(s->in->seen[b] / s->block[b]);

			low = fmin(low, asked);
			high = fmax(high, asked);
		}
	}
	for (int i = 0; i <= SCALES && low <= high; i++) {
		const double by = exp(low + (high - low) * i / SCALES);
		const double cost = cost_at(s, by);

		if (cost < least) {
			least = cost;
			best = by;
		}
	}
	return best;
}

/* Doors start with their seen frequencies, and a common factor. */
static void begin_flow(struct repair_solver *s)
{
	const struct flow_repair_input *in = s->in;
	double least = INFINITY, scale;

	for (int b = 0; b < s->cfg->exit; b++)
		if (in->seen[b] > 0 && in->seen[b] < least)
			least = in->seen[b];
	for (int b = 0; b < s->cfg->exit; b++)
		if (s->flow->door[b])
			s->source[b] = in->seen[b] > 0   ? in->seen[b]
				       : isfinite(least) ? least
							 : 1;
	memcpy(s->p, in->probability, s->nr_edges * sizeof(*s->p));
	update_flow(s);
	scale = first_scale(s);
	for (int b = 0; b < s->cfg->exit; b++)
		s->source0[b] = s->source[b] *= scale;
	update_flow(s);
}

/* Sets the units of the unknowns, the weights of seen blocks, and the right side. */
static void linearise(struct repair_solver *s)
{
	const struct cfg *cfg = s->cfg;

	for (int b = 0; b < cfg->exit; b++) {
		double z = is_seen(s, b) ? distance(s, b) : 0;
		double sd = s->in->seen_sd[b] * s->block[b];

		s->weight[b] = 0;
		if (is_seen(s, b))
			s->weight[b] = 1 / (1 + z * z / (HEAVY * HEAVY)) / (sd * sd);
		s->flow_u[b] = s->weight[b] * z * sd;
		if (missing(s, b) > 0) {
			const double slope =
				s->in->unseen[b] / (1 + missing(s, b) / SHAPE);

			s->weight[b] += slope / s->block[b];
			s->flow_u[b] -= slope;
		}
	}
	s->flow_u[cfg->exit] = 0;
	for (int e = 0; e < s->nr_edges; e++) {
		int from = cfg->edge[e].from;
		double n = s->in->outcomes[from];

		s->root[e] = sqrt(s->p[e]);
		s->unit[e] = 0;
		if (cfg->block[from].nr_out > 1)
			s->unit[e] = s->block[from] * s->root[e] / sqrt(n);
	}
	for (int b = 0; b < s->nr_blocks; b++)
		s->unit[s->nr_edges + b] = s->source[b] * DOOR_SD;
	gather_changes(s, s->flow_u, s->right);
	for (int e = 0; e < s->nr_edges; e++) {
		double n = s->in->outcomes[cfg->edge[e].from];

		if (s->unit[e] > 0)
			s->right[e] += (s->in->probability[e] - s->p[e]) * sqrt(n) /
				       s->root[e];
	}
	for (int b = 0; b < cfg->exit; b++)
		if (s->source[b] > 0)
			s->right[s->nr_edges + b] +=
				log(s->source0[b] / s->source[b]) / DOOR_SD;
}

/* The relative change of edge e's probability by u. */
static double change_of(const struct repair_solver *s, const double *u, int e,
			double mean)
{
	double n = s->in->outcomes[s->cfg->edge[e].from];

	return s->unit[e] > 0 ? (u[e] - s->root[e] * mean) / (s->root[e] * sqrt(n)) : 0;
}

static double mean_of(const struct repair_solver *s, const double *u, int b)
{
	const struct cfg_block *block = &s->cfg->block[b];
	double mean = 0;

	for (int i = 0; i < block->nr_out; i++)
		mean += s->root[block->first_out + i] * u[block->first_out + i];
	return mean;
}

static double limited(double step)
{
	return fmin(fmax(step, -STEP_MAX), STEP_MAX);
}

static void move_flow(struct repair_solver *s, double part)
{
	const struct cfg *cfg = s->cfg;

	for (int b = 0; b < cfg->exit; b++) {
		int first = cfg->block[b].first_out, end = first + cfg->block[b].nr_out;
		double mean = mean_of(s, s->u, b), sum = 0;

		for (int e = first; e < end; e++) {
			double step = limited(part * change_of(s, s->u, e, mean));

			s->p[e] = fmax(s->old_p[e] * exp(step), P_MIN);
			sum += s->p[e];
		}
		for (int e = first; e < end; e++)
			s->p[e] /= sum;
		s->source[b] = s->old_source[b] *
			       exp(limited(part * DOOR_SD * s->u[s->nr_edges + b]));
	}
}

/* Takes one step that lowers the cost; false if no step lowers it. */
static bool lower_cost(struct repair_solver *s)
{
	double cost = s->cost, part = 1;

	linearise(s);
	solve_gradients(s);
	memcpy(s->old_p, s->p, s->nr_edges * sizeof(*s->p));
	memcpy(s->old_source, s->source, s->nr_blocks * sizeof(*s->source));
	for (int i = 0; i < HALVINGS; i++, part /= 2) {
		move_flow(s, part);
		update_flow(s);
		if (s->cost < cost)
			return cost - s->cost > ENOUGH * (1 + cost);
	}
	memcpy(s->p, s->old_p, s->nr_edges * sizeof(*s->p));
	memcpy(s->source, s->old_source, s->nr_blocks * sizeof(*s->source));
	update_flow(s);
	return false;
}

/* Nearly normal: the sum of 12 uniform numbers, the same in each run. */
static double normal(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		*state ^= *state >> 12;
		*state ^= *state << 25;
		*state ^= *state >> 27;
		sum += (double)(*state * 0x2545f4914f6cdd1dULL >> 11) * 0x1p-53;
	}
	return sum;
}

/* The deviation of unknown i in its unit; more than 1 for directions from windows. */
static double noise_of(const struct repair_solver *s, int i)
{
	double n;

	if (!s->in->error || i >= s->nr_edges)
		return 1;
	n = s->in->outcomes[s->cfg->edge[i].from];
	return isfinite(n) ? sqrt(1 + n * WAYS * WAYS) : 1;
}

/*
 * Draws u with the covariance (I + Lᵀ G W Gᵀ L)⁻¹. flow_u becomes the relative change
 * of each block that follows from u, without the common factor.
 */
static void draw_flow(struct repair_solver *s, int number, uint64_t *state)
{
	double common = 0, mass = 0;

	for (int b = 0; b < s->nr_blocks; b++) {
		s->flow_u[b] = normal(state) * sqrt(s->weight[b]);
		if (s->in->error && s->in->error[b])
			s->flow_u[b] +=
				s->weight[b] * s->block[b] * s->in->error[b][number];
	}
	gather_changes(s, s->flow_u, s->right);
	for (int i = 0; i < s->nr; i++)
		s->right[i] += normal(state) * noise_of(s, i);
	solve_gradients(s);
	change_flow(s, s->u, s->flow_u);
	for (int b = 0; b < s->cfg->exit; b++) {
		s->flow_u[b] = s->block[b] > 0 ? s->flow_u[b] / s->block[b] : 0;
		common += s->in->mass[b] * s->flow_u[b];
		mass += s->in->mass[b];
	}
	for (int b = 0; b < s->cfg->exit && mass > 0; b++)
		s->flow_u[b] -= common / mass;
}

static void find_deviations(struct repair_solver *s, struct flow_repair *out)
{
	const struct cfg *cfg = s->cfg;
	uint64_t state = 0x9e3779b97f4a7c15ULL;

	linearise(s);
	for (int i = 0; i < WINDOW_WEIGHTS_DRAWS; i++) {
		draw_flow(s, i, &state);
		for (int b = 0; b < cfg->exit; b++) {
			int first = cfg->block[b].first_out;
			double mean = mean_of(s, s->u, b);

			out->block_sd[b] +=
				s->flow_u[b] * s->flow_u[b] / WINDOW_WEIGHTS_DRAWS;
			for (int e = first; e < first + cfg->block[b].nr_out; e++) {
				double d = s->flow_u[b] + change_of(s, s->u, e, mean);

				out->edge_sd[e] += d * d / WINDOW_WEIGHTS_DRAWS;
			}
		}
	}
	for (int b = 0; b < s->nr_blocks; b++)
		out->block_sd[b] = sqrt(out->block_sd[b]);
	for (int e = 0; e < s->nr_edges; e++)
		out->edge_sd[e] = sqrt(out->edge_sd[e]);
}

int flow_repair_solve(const struct flow_repair_input *in, struct arena *arena,
		      struct flow_repair *out)
{
	struct flow_repair r = { 0 };
	struct repair_solver s;
	double moved = 0, seen = 0;
	int err;

	err = new_solver(in, arena, &s);
	r.block_sd = new_doubles(arena, in->flow->cfg->nr_blocks);
	r.edge_sd = new_doubles(arena, in->flow->cfg->nr_edges);
	if (err || !r.block_sd || !r.edge_sd)
		return -ENOMEM;
	begin_flow(&s);
	while (r.rounds < ROUNDS && lower_cost(&s))
		r.rounds++;
	for (int b = 0; b < s.cfg->exit; b++)
		if (!isfinite(s.block[b]))
			return -ERANGE;
	find_deviations(&s, &r);
	for (int b = 0; b < s.cfg->exit; b++) {
		if (!is_seen(&s, b))
			continue;
		moved += fabs(in->seen[b] - s.block[b]);
		seen += in->seen[b];
	}
	r.moved = seen > 0 ? moved / seen : 0;
	r.block = s.block;
	r.edge = s.edge;
	*out = r;
	return 0;
}

void flow_repair_dump(const struct flow_repair_input *in, const struct flow_repair *r,
		      struct buf *out)
{
	const struct cfg *cfg = in->flow->cfg;

	buf_printf(out, "repair: %d rounds, moved %.3g\n", r->rounds, r->moved);
	for (int b = 0; b < cfg->nr_blocks; b++)
		buf_printf(out, "repair: block %d seen %.6g frequency %.6g ± %.2g%s\n",
			   b, in->seen[b], r->block[b], r->block_sd[b],
			   in->flow->door[b] ? " door" : "");
	for (int e = 0; e < cfg->nr_edges; e++)
		buf_printf(out, "repair: edge %d -> %d %.6g of %.6g ± %.2g%s\n",
			   cfg->edge[e].from, cfg->edge[e].to, r->edge[e],
			   in->probability[e], r->edge_sd[e],
			   in->flow->cut[e] ? " cut" : "");
}
