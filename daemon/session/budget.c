/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * budget.c - decides the rate that keeps the cost of sampling within the budget
 *
 * The cost of samples is proportional to the rate. The daemon's own time is assumed to
 * be independent of it, because much of this time is spent on mapping records. So a
 * lowering may go further than needed, but it reaches a safe rate in one step; later
 * raises correct it.
 *
 * Between seven tenths of the budget and the budget itself the rate does not change,
 * and no change by itself leads out of this band: after a lowering or a raise at most
 * nine tenths are spent. So a constant load causes at most one lowering, and a load
 * that comes and goes causes fewer and fewer changes (I3).
 */
#include "config.h"

#include "daemon/session/budget.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* the part of the budget to spend after a lowering or a raise */
#define AIM          0.9
#define RAISE_BELOW  0.7
#define MAX_RAISE    1.25
#define MAX_LOWERING 0.25
#define MIN_PATIENCE 4
#define MAX_PATIENCE 64
#define LONG_QUIET   256

#define NEAR 1.25 /* a rate of windows stays if the better one is so near */
#define NS   1e9  /* of a second */

struct budget budget_init(double share, double min_hz, double max_hz)
{
	return (struct budget){ .share = share,
				.min_hz = min_hz,
				.max_hz = max_hz,
				.patience = MIN_PATIENCE };
}

double budget_total(const struct budget_cost *c)
{
	return c->by_rate + c->fixed + c->windows + c->daemon;
}

static double within(double v, double min, double max)
{
	return v < min ? min : v > max ? max : v;
}

/* Returns the factor for the rate that makes the cost AIM of the budget. */
static double aim(const struct budget *b, const struct budget_cost *c)
{
	double left = AIM * b->share - (budget_total(c) - c->by_rate);

	if (left <= 0)
		return 0;
	return left < c->by_rate * MAX_RAISE ? left / c->by_rate : MAX_RAISE;
}

static double lower(struct budget *b, double hz, const struct budget_cost *c)
{
	double to = within(hz * within(aim(b, c), MAX_LOWERING, 1), b->min_hz, hz);

	b->calm = 0;
	b->quiet = 0;
	if (b->raised && b->patience < MAX_PATIENCE)
		b->patience *= 2;
	b->raised = false;
	return to;
}

static double raise(struct budget *b, double hz, const struct budget_cost *c)
{
	double to = within(hz * within(aim(b, c), 1, MAX_RAISE), hz, b->max_hz);

	if (to <= hz || ++b->calm < b->patience)
		return hz;
	b->calm = 0;
	b->raised = true;
	return to;
}

double budget_decide(struct budget *b, double hz, const struct budget_cost *c)
{
	double total = budget_total(c);

	if (++b->quiet % LONG_QUIET == 0 && b->patience > MIN_PATIENCE)
		b->patience /= 2;
	if (c->by_rate <= 0 && total > b->share)
		return hz; /* no sample's number depends on the rate */
	if (total > b->share)
		return hz > b->min_hz ? lower(b, hz, c) : hz;
	if (total < RAISE_BELOW * b->share)
		return raise(b, hz, c);
	b->calm = 0;
	return hz;
}

/* The rate of windows that the budget pays for if nothing else changes. */
static double affordable(const struct budget *b, const struct budget_windows *w,
			 const struct budget_cost *c)
{
	const double left = AIM * b->share - (budget_total(c) - c->windows);

	return c->windows > 0 ? w->hz * left / c->windows : w->max_hz;
}

bool budget_samples_first(double hz, const struct budget_cost *c)
{
	return hz > BUDGET_FEW_HZ && c->by_rate > 0;
}

double budget_windows_hz(const struct budget *b, const struct budget_windows *w,
			 const struct budget_cost *c)
{
	const double least_hz = w->max_hz < BUDGET_LEAST_WINDOWS_HZ
					? w->max_hz
					: BUDGET_LEAST_WINDOWS_HZ;
	const double total = budget_total(c);
	double most_hz, to;

	if (!(w->window_ns > 0))
		return w->hz;
	most_hz = within(BUDGET_WINDOWS * b->share * NS / w->window_ns, least_hz,
			 w->max_hz);
	to = within(affordable(b, w, c), least_hz, most_hz);
	if (total > b->share && !w->samples_first)
		return to < w->hz ? to : w->hz;
	if (most_hz < w->hz)
		to = most_hz;
	else if (!w->may_raise || total >= RAISE_BELOW * b->share)
		to = w->hz;
	return to * NEAR > w->hz && to < w->hz * NEAR ? w->hz : to;
}

void budget_note(struct budget *b, double cost_ns)
{
	b->nr_tries++;
	if (cost_ns > 0)
		b->cost_ns[b->nr_costs++ % BUDGET_COSTS] = cost_ns;
}

bool budget_is_learning(const struct budget *b)
{
	return b->nr_costs <= BUDGET_MIN_COSTS && b->nr_tries <= BUDGET_EAGER_TRIES;
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int budget_sample_cost(const struct budget *b, double *cost_ns)
{
	size_t nr = b->nr_costs < BUDGET_COSTS ? b->nr_costs : BUDGET_COSTS;
	double sorted[BUDGET_COSTS];

	if (nr < BUDGET_MIN_COSTS)
		return -ENODATA;
	memcpy(sorted, b->cost_ns, nr * sizeof(sorted[0]));
	qsort(sorted, nr, sizeof(sorted[0]), compare_double);
	*cost_ns = (sorted[(nr - 1) / 2] + sorted[nr / 2]) / 2;
	return 0;
}
