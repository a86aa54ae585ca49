/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow_make.h - the flow of a CFG by elimination in a full matrix: the oracle
 */
#ifndef CPI_T_UNIT_FLOW_MAKE_H
#define CPI_T_UNIT_FLOW_MAKE_H

#include <math.h>

#include "t/unit/cfg_make.h"

#define FLOW_MAX 16 /* blocks */

/* The constants of flow_repair.c's cost. */
#define DOOR_SD 3.0
#define HEAVY   2.0
#define SHAPE   1.0

/* Solves a x = x for n unknowns; the solution replaces x. */
static inline void flow_make_solve(int n, double a[FLOW_MAX][FLOW_MAX], double *x)
{
	for (int k = 0; k < n; k++) {
		int pivot = k;

		for (int i = k; i < n; i++)
			if (fabs(a[i][k]) > fabs(a[pivot][k]))
				pivot = i;
		for (int j = 0; j < n; j++) {
			double t = a[k][j];

			a[k][j] = a[pivot][j];
			a[pivot][j] = t;
		}
		double t = x[k];

		x[k] = x[pivot];
		x[pivot] = t;
		for (int i = 0; i < n; i++) {
			double f = a[i][k] / a[k][k];

			if (i == k)
				continue;
			for (int j = k; j < n; j++)
				a[i][j] -= f * a[k][j];
			x[i] -= f * x[k];
		}
	}
	for (int k = 0; k < n; k++)
		x[k] /= a[k][k];
}

/* Executions of blocks and edges for source[b] entries at each block. */
static inline void flow_make(const struct cfg *cfg, const double *p,
			     const double *source, double *block, double *edge)
{
	double a[FLOW_MAX][FLOW_MAX] = { { 0 } };

	for (int b = 0; b < cfg->nr_blocks; b++) {
		a[b][b] = 1;
		block[b] = source[b];
	}
	for (int e = 0; e < cfg->nr_edges; e++)
		a[cfg->edge[e].to][cfg->edge[e].from] -= p[e];
	flow_make_solve(cfg->nr_blocks, a, block);
	for (int e = 0; e < cfg->nr_edges; e++)
		edge[e] = p[e] * block[cfg->edge[e].from];
}

static inline double flow_make_uniform(uint64_t *seed)
{
	return (double)(unit_random(seed) >> 11) * 0x1p-53;
}

/* Random probabilities, none under 1 %. */
static inline void flow_make_probabilities(const struct cfg *cfg, uint64_t *seed,
					   double *p)
{
	for (int b = 0; b < cfg->nr_blocks; b++) {
		int first = cfg->block[b].first_out, end = first + cfg->block[b].nr_out;
		double sum = 0;

		for (int e = first; e < end; e++)
			sum += p[e] = 0.02 + flow_make_uniform(seed);
		for (int e = first; e < end; e++)
			p[e] /= sum;
	}
}

#endif
