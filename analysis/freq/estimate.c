/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SOSP'97 section 6.1.3, rule by rule:
 *
 * - Few samples (under FEW for each issue point): ΣS / ΣM.
 * - An issue point i that waits for instruction j has the ratio of the sums over
 *   j + 1 … i, because a stall between the two shortens i's own wait.
 * - Ratios within WIDTH of the least one are a cluster. It is discarded, and the next
 *   one is tried, if it has less than a SHARE of the issue points, or if its mean makes
 *   another instruction stall for more than MAX_STALL cycles.
 *
 * Where we differ: In the paper the largest ratio of a cluster may be 1.5 times
 * the smallest. Ours depends on the sampling error, from 1.1 (as in the paper's
 * Figure 7) to 1.5. On out-of-order CPUs clusters are not used. Instructions in
 * the shadow of a long stall have no samples at all, and the values of M depend
 * on the code around a block. So all instructions of a class count, and the
 * cycles of the class are a weighted geometric mean of ΣM and of ESTIMATE_ISSUE ×
 * instructions, in which ΣM has the smaller weight (MODEL). On measured programs
 * either of the two alone was further off.
 */
#include "config.h"

#include "analysis/freq/estimate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define FEW       16.0 /* samples for each issue point */
#define WIDTH_MIN 1.1
#define WIDTH_MAX 1.5
#define ERRORS    2.5 /* deviations between members of one cluster */
#define SHARE     0.25
#define MAX_STALL 1000.0 /* cycles */
#define MODEL     0.25   /* the weight of M in the mean */

/* The uncertainty of a class's stalls, as deviations of log F. */
#define SD_SUM     1.0
#define SD_CLUSTER 0.3

struct ratio_point {
	double ratio, samples;
	int insn;
};

struct members {
	int *first, *block; /* blocks by class: first[c] … first[c + 1] */
	struct ratio_point *point;
};

static int sort_blocks(const struct cfg *cfg, const struct equiv *eq,
		       struct arena *arena, struct members *m)
{
	m->first = arena_array(arena, eq->nr + 2, sizeof(*m->first));
	m->block = arena_array(arena, cfg->nr_blocks, sizeof(*m->block));
	m->point = arena_array(arena, cfg->nr_insns, sizeof(*m->point));
	if (!m->first || !m->block || !m->point)
		return -ENOMEM;
	for (int b = 0; b < cfg->nr_blocks; b++)
		m->first[eq->block[b] + 2]++;
	for (int c = 0; c < eq->nr; c++)
		m->first[c + 2] += m->first[c + 1];
	for (int b = 0; b < cfg->nr_blocks; b++)
		m->block[m->first[eq->block[b] + 1]++] = b;
	return 0;
}

static double ratio_of(const struct freq_input *in, int first, int i)
{
	double samples = in->samples[i], cycles = in->min_cycles[i];
	int on = in->depends_on ? in->depends_on[i] : -1;

	if (on >= first && on < i)
		for (int k = i - 1; k > on; k--) {
			samples += in->samples[k];
			cycles += in->min_cycles[k];
		}
	return samples / cycles;
}

static void add_block(const struct freq_input *in, const struct cfg_block *block,
		      struct estimate *e, struct ratio_point *point)
{
	e->insns += block->nr_insns;
	for (int i = block->first_insn; i < block->first_insn + block->nr_insns; i++) {
		e->samples += in->samples[i];
		e->cycles += in->min_cycles[i];
		if (in->min_cycles[i] > 0)
			point[e->points++] = (struct ratio_point){
				ratio_of(in, block->first_insn, i), in->samples[i], i
			};
	}
}

static int by_ratio(const void *a, const void *b)
{
	const struct ratio_point *x = a, *y = b;

	if (x->ratio != y->ratio)
		return x->ratio < y->ratio ? -1 : 1;
	return x->insn - y->insn;
}

static double mean_ratio(const struct ratio_point *p, int nr)
{
	double sum = 0;

	for (int i = 0; i < nr; i++)
		sum += p[i].ratio;
	return sum / nr;
}

static double width(const struct ratio_point *least)
{
	double errors = 1 + ERRORS * sqrt(2 / fmax(least->samples, 1));

	return fmin(fmax(errors, WIDTH_MIN), WIDTH_MAX);
}

static bool is_reasonable(const struct ratio_point *all, const struct estimate *e,
			  double f)
{
	if (e->used < SHARE * e->points)
		return false;
	for (int i = 0; i < e->points; i++)
		if (all[i].samples / f > MAX_STALL)
			return false;
	return true;
}

/* Looks for the lowest reasonable cluster; first is where it starts. */
static bool find_cluster(const struct ratio_point *all, struct estimate *e, int *first)
{
	for (int i = 0; i < e->points; i++) {
		double f;

		if (!all[i].ratio)
			continue;
		for (e->used = 0; i + e->used < e->points; e->used++)
			if (all[i + e->used].ratio > all[i].ratio * width(&all[i]))
				break;
		f = mean_ratio(&all[i], e->used);
		if (!is_reasonable(all, e, f))
			continue;
		e->rule = ESTIMATE_CLUSTER;
		e->frequency = f;
		*first = i;
		return true;
	}
	e->used = 0;
	return false;
}

static void take_sum(struct estimate *e)
{
	e->rule = ESTIMATE_SUM;
	e->at_most = !e->samples;
	e->unseen = e->samples ? 0 : e->cycles;
	e->frequency = (e->samples + 0.3) / e->cycles;
	e->sd = sqrt(SD_SUM * SD_SUM + 1 / (e->samples + 0.5));
}

static void estimate_class(struct ratio_point *all, bool in_order, struct estimate *e,
			   bool *chosen)
{
	double samples = 0;
	int first;

	if (!e->cycles)
		return;
	if (!in_order)
		e->cycles = pow(e->cycles, MODEL) *
			    pow(ESTIMATE_ISSUE * e->insns, 1 - MODEL);
	qsort(all, e->points, sizeof(*all), by_ratio);
	if (in_order && e->samples >= FEW * e->points && find_cluster(all, e, &first)) {
		for (int i = first; i < first + e->used; i++) {
			samples += all[i].samples;
			if (chosen)
				chosen[all[i].insn] = true;
		}
		e->sd = sqrt(SD_CLUSTER * SD_CLUSTER / e->used + 1 / (samples + 1));
		return;
	}
	take_sum(e);
}

void estimate_retired(double samples, double worth, struct estimate *e)
{
	e->samples = samples;
	e->cycles = e->insns;
	take_sum(e);
	e->rule = ESTIMATE_RETIRED;
	e->samples *= worth;
	e->frequency *= worth;
}

int estimate_classes(const struct freq_input *in, const struct equiv *eq,
		     struct arena *arena, struct estimate **out, bool *chosen)
{
	struct estimate *est = arena_array(arena, eq->nr, sizeof(*est));
	struct members m;

	if (!est || sort_blocks(in->cfg, eq, arena, &m))
		return -ENOMEM;
	for (int c = 0; c < eq->nr; c++) {
		for (int i = m.first[c]; i < m.first[c + 1]; i++)
			add_block(in, &in->cfg->block[m.block[i]], &est[c], m.point);
		estimate_class(m.point, in->in_order, &est[c], chosen);
	}
	*out = est;
	return 0;
}

void estimate_dump(const struct estimate *est, int nr, struct buf *out)
{
	static const char *const rule[] = {
		[ESTIMATE_NONE] = "none",       [ESTIMATE_SUM] = "sum",
		[ESTIMATE_CLUSTER] = "cluster", [ESTIMATE_WINDOWS] = "fused",
		[ESTIMATE_RETIRED] = "retired",
	};

	for (int c = 0; c < nr; c++)
		buf_printf(out,
			   "estimate: class %d samples %.6g cycles %.6g "
			   "points %d used %d %s %.6g ± %.2g\n",
			   c, est[c].samples, est[c].cycles, est[c].points, est[c].used,
			   rule[est[c].rule], est[c].frequency, est[c].sd);
}
