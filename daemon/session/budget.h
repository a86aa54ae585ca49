/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * budget.h - chooses the rate that keeps the cost of sampling within the budget
 *
 * These functions only decide; session_budget.c measures the cost and changes the rate.
 * Costs are shares of CPU time: 0.005 is 0.5 %.
 *
 * I1  If the cost is above the budget, the rate is lowered at once, so that a tenth of
 *     the budget stays unspent. One step never goes below a quarter of the present
 *     rate.
 * I2  If less than seven tenths of the budget were spent in enough successive checks
 *     (`patience`), the rate is raised by at most a quarter, so that at most nine
 *     tenths are spent.
 * I3  A lowering after a raise doubles `patience`, up to 64. Each 256 checks without a
 *     lowering halve it.
 * I4  Samples that come more often than BUDGET_FEW_HZ give way first: a report loses
 *     little by them. Then windows do, because they cost most for what they add: above
 *     the budget their rate is lowered to what all else leaves of it, but not below
 *     BUDGET_LEAST_WINDOWS_HZ. Other rates are lowered only when that is reached, or
 *     if the first windows have not come within minutes (session_windows.c).
 */
#ifndef CPI_DAEMON_BUDGET_H
#define CPI_DAEMON_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The first rate is chosen so that its samples cost this part of the budget. The rest
 * is for the daemon's own time.
 */
#define BUDGET_AT_START 0.8

/* The part of the budget for the interrupts of windows, if their rate is not fixed. */
#define BUDGET_WINDOWS          0.1
#define BUDGET_LEAST_WINDOWS_HZ 5.0

/* Above this rate samples give way before windows. */
#define BUDGET_FEW_HZ 100.0

/* The number of measured costs in the median, and the least number for a result. */
#define BUDGET_COSTS     11
#define BUDGET_MIN_COSTS 5
/*
 * After each attempt to measure the cost of a sample there is a pause, in proportion to
 * the time that the attempt took. Until enough costs are known, but for at most this
 * many attempts, the pause is short instead. An attempt fails if something else
 * interrupts it, which is frequent on a busy machine.
 */
#define BUDGET_EAGER_TRIES 40

/* The cost of sampling, in shares. */
struct budget_cost {
	double by_rate; /* samples whose number follows the rate */
	double fixed;   /* samples of events with a period of their own */
	double windows; /* interrupts, and all work on them, at the present rate */
	double daemon;  /* other work */
};

/* The rate of windows. */
struct budget_windows {
	double hz, max_hz; /* the present one; the full one */
	double window_ns;  /* what a window takes in the interrupt; 0: not known */
	bool may_raise;
	bool samples_first; /* samples give way first, at this check */
};

struct budget {
	double share; /* the budget */
	double min_hz, max_hz;
	unsigned int calm;     /* successive checks that would allow a raise */
	unsigned int patience; /* number of calm checks that a raise needs */
	unsigned int quiet;    /* checks since the last lowering */
	bool raised;           /* the rate was raised since the last lowering */
	double cost_ns[BUDGET_COSTS];
	size_t nr_costs; /* all costs noted so far */
	size_t nr_tries; /* attempts to measure a cost, with failed ones */
};

struct budget budget_init(double share, double min_hz, double max_hz);

double budget_total(const struct budget_cost *c);

/*
 * Makes one check. Returns the next rate, given the cost c at the rate hz; hz if the
 * rate stays.
 */
double budget_decide(struct budget *b, double hz, const struct budget_cost *c);

/* Notes the measured cost of a sample; 0 for an attempt that failed. */
void budget_note(struct budget *b, double cost_ns);

/* Whether too few costs are known, so that the next attempt should come soon. */
bool budget_is_learning(const struct budget *b);

/* Whether samples at the rate hz, which cost c, give way before windows. */
bool budget_samples_first(double hz, const struct budget_cost *c);

/*
 * Returns the next rate of windows (I4). Their interrupts take at most BUDGET_WINDOWS
 * of the budget, and the rate is at least BUDGET_LEAST_WINDOWS_HZ, and at most
 * w->max_hz. It is raised only if w->may_raise, and if less than seven tenths of the
 * budget are spent. w->hz if another rate would be within a quarter of it, unless the
 * budget is exceeded.
 */
double budget_windows_hz(const struct budget *b, const struct budget_windows *w,
			 const struct budget_cost *c);

/* Gets the median of the last costs. Returns 0, or -ENODATA if there are too few. */
int budget_sample_cost(const struct budget *b, double *cost_ns);

#endif
