/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * budget.h - the rate that keeps sampling within what it may cost
 *
 * Decides, from what sampling was measured to cost; who measures, and who changes
 * the rate, is session_budget.c. Costs are shares of CPU time: 0.005 is 0.5 %.
 *
 * I1  Above the budget the rate is lowered at once, to what leaves a tenth of it
 *     unspent, but to no less than a quarter in one step.
 * I2  It is raised, by at most a quarter, when less than seven tenths were spent
 *     for a number of checks on end, and to what again spends less than all.
 * I3  Raises that had to be taken back double that number, up to 64; 256 checks
 *     without a lowering halve it.
 */
#ifndef CPI_DAEMON_BUDGET_H
#define CPI_DAEMON_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

/* Of the budget, what the first rate is chosen for: the daemon takes the rest. */
#define BUDGET_AT_START 0.8

/* How many costs of single samples are looked at, and how many it takes. */
#define BUDGET_COSTS     11
#define BUDGET_MIN_COSTS 5
/*
 * So many tries come without a pause in proportion to what they took. A try fails where
 * something else interrupts it, which on a busy machine is most of the time.
 */
#define BUDGET_EAGER_TRIES 40

/* What sampling costs, in shares. */
struct budget_cost {
	double by_rate; /* samples whose number follows the rate */
	double fixed;   /* samples of events with a period of their own */
	double daemon;
};

struct budget {
	double share; /* the budget */
	double min_hz, max_hz;
	unsigned int calm;     /* checks on end that would allow a raise */
	unsigned int patience; /* as many make one */
	unsigned int quiet;    /* checks since the last lowering */
	bool raised;           /* since then */
	double cost_ns[BUDGET_COSTS];
	size_t nr_costs; /* ever noted */
	size_t nr_tries; /* to measure one, with those that failed */
};

struct budget budget_init(double share, double min_hz, double max_hz);

double budget_total(const struct budget_cost *c);

/*
 * The rate to go on with, which is hz itself when nothing is to be changed. For
 * one check of c, at the rate hz.
 */
double budget_decide(struct budget *b, double hz, const struct budget_cost *c);

/* Notes what a sample has cost its CPU, or with a cost of 0 that a try found nothing.
 */
void budget_note(struct budget *b, double cost_ns);

/* Whether so little is known of a sample's cost that the next try should come soon. */
bool budget_is_learning(const struct budget *b);

/* The median of the costs that were noted last. 0, or -ENODATA: too few yet. */
int budget_sample_cost(const struct budget *b, double *cost_ns);

#endif
