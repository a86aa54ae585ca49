/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples cost in proportion to the rate. What the daemon takes is assumed not to,
 * for much of it is the work of following processes: a rate that is lowered falls
 * to where it is safe in one step, and what was too much is raised again later.
 *
 * Between the share at which the rate is raised and the budget itself nothing
 * happens, and no change leads out of that band by itself: after a lowering nine
 * tenths are spent at most, after a raise less than nine. So a load that stays as
 * it is sees one change, and one that comes and goes sees fewer and fewer (I3).
 */
#include "config.h"

#include "daemon/session/budget.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AIM          0.9 /* of the budget, after a lowering or a raise */
#define RAISE_BELOW  0.7
#define MAX_RAISE    1.25
#define MAX_LOWERING 0.25
#define MIN_PATIENCE 4
#define MAX_PATIENCE 64
#define LONG_QUIET   256

struct budget budget_init(double share, double min_hz, double max_hz)
{
	return (struct budget){ .share = share,
				.min_hz = min_hz,
				.max_hz = max_hz,
				.patience = MIN_PATIENCE };
}

double budget_total(const struct budget_cost *c)
{
	return c->by_rate + c->fixed + c->daemon;
}

static double within(double v, double min, double max)
{
	return v < min ? min : v > max ? max : v;
}

/* By what the rate is to be multiplied, so that AIM of the budget is spent. */
static double aim(const struct budget *b, const struct budget_cost *c)
{
	double left = AIM * b->share - c->fixed - c->daemon;

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
		return hz; /* the rate has no part in it */
	if (total > b->share)
		return hz > b->min_hz ? lower(b, hz, c) : hz;
	if (total < RAISE_BELOW * b->share)
		return raise(b, hz, c);
	b->calm = 0;
	return hz;
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
