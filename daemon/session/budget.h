/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * budget.h - chooses the rate that keeps the cost of sampling within the budget
 *
 * These functions only decide; session_budget.c measures the cost and changes the rate.
 * Costs are shares of CPU time: 0.005 is 0.5 %.
 *
 * I1  Above the budget the rate is lowered at once, so that a tenth of the budget stays
 *     unspent, but at most to a quarter in one step.
 * I2  If less than seven tenths were spent in a number of successive checks, the rate
 *     is raised by at most a quarter, and only so far that the budget is not used up.
 * I3  Raises that had to be taken back double that number, up to 64; 256 checks
 *     without a lowering halve it.
 */
#ifndef CPI_DAEMON_BUDGET_H
#define CPI_DAEMON_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

/* The part of the budget for the first rate; the rest is for the daemon's own time. */
#define BUDGET_AT_START 0.8

/* The number of measured costs in the median, and the least number for a result. */
#define BUDGET_COSTS     11
#define BUDGET_MIN_COSTS 5
/*
 * The first tries have no pauses in proportion to their time. A try fails if something
 * else interrupts it, which is frequent on a busy machine.
 */
#define BUDGET_EAGER_TRIES 40

/* The cost of sampling, in shares. */
struct budget_cost {
	double by_rate; /* samples whose number follows the rate */
	double fixed;   /* samples of events with a period of their own */
	double daemon;
};

struct budget {
	double share; /* the budget */
	double min_hz, max_hz;
	unsigned int calm;     /* successive checks that would allow a raise */
	unsigned int patience; /* number of these that is needed for a raise */
	unsigned int quiet;    /* checks since the last lowering */
	bool raised;           /* since then */
	double cost_ns[BUDGET_COSTS];
	size_t nr_costs; /* ever noted */
	size_t nr_tries; /* to measure one, with those that failed */
};

struct budget budget_init(double share, double min_hz, double max_hz);

double budget_total(const struct budget_cost *c);

/*
 * One check: the next rate, for the cost c at the rate hz; hz itself if the rate stays.
 */
double budget_decide(struct budget *b, double hz, const struct budget_cost *c);

/* Notes the measured cost of a sample; 0 for a try that failed. */
void budget_note(struct budget *b, double cost_ns);

/* Whether there are too few measured costs, so that the next try should come soon. */
bool budget_is_learning(const struct budget *b);

/* The median of the last costs. 0, or -ENODATA: there are too few. */
int budget_sample_cost(const struct budget *b, double *cost_ns);

#endif
