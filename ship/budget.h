/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * budget.h - keeps what is shipped of a day within a number of bytes
 *
 * The budget is of each CPU and day (UTC). What is left of a day's bytes is shared
 * evenly over what is left of the day: the sum of an hour gets its share, and of its
 * samples one in so many is kept that they are expected to fit (sums.h). The number
 * depends on how many samples the sum has, and on what earlier ones took, but not on
 * the draws, so estimates stay unbiased. When a process begins, the newest epochs are
 * shipped with all that they have, so that a new machine is seen soon; half of the
 * day's bytes may be used for that.
 *
 * All bytes of requests and answers count, also for questions, but for names, code and
 * captures, which a store gets once of each image and not of each machine.
 */
#ifndef CPI_SHIP_BUDGET_H
#define CPI_SHIP_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "db/clickhouse/store.h"
#include "ship/rows.h"

struct ship_budget {
	uint64_t begun_ns;          /* when the process began */
	uint64_t begun_mono_ns;     /* the same by a clock that is never set */
	uint64_t day;               /* since 1970: whose bytes `spent` are */
	double spent;               /* measured, or planned */
	double per_whole, per_kept; /* bytes for each sample, as measured */
	double batch;               /* bytes of a batch besides its rows */
	/* Of the batch. */
	double reserved;                    /* for whole epochs that are due */
	double planned, planned_of_day;     /* for rows: of all, and of `day` */
	bool has_whole, has_sums, has_read; /* has_read: the store was asked */
	uint64_t sums_ns;                   /* the length of sums; 0: none were due */
};

void ship_budget_init(struct ship_budget *b);

/*
 * Asks the store what it has of the day of at_ns, unless that is known: the bytes of
 * another day, or those that an earlier process sent, are not. Between transactions.
 */
int ship_budget_ask(struct ship_budget *b, const struct ship_how *how, uint32_t host,
		    uint64_t at_ns, struct ch_store *store);

/* Before epochs are found. */
void ship_budget_begin(struct ship_budget *b);

/*
 * How an epoch that is due is to be shipped: sums_ns is 0 if alone, with all that it
 * has. Without a budget, how is the answer.
 */
struct ship_how ship_budget_of(struct ship_budget *b, const struct ship_how *how,
			       const struct ship_epoch *e);

/* Before the rows of an epoch, or of a sum, are read: sets one_in of a sum. */
void ship_budget_plan(struct ship_budget *b, const struct ship_how *how,
		      struct ship_epoch *e);

/*
 * After a batch, or a look that found none: what its rows took, and the rest. Names,
 * code and captures are not in it. A batch that was not committed counts, but says
 * nothing of how much samples take.
 */
void ship_budget_note(struct ship_budget *b, bool is_committed, uint64_t rows,
		      uint64_t others);

/*
 * How long to wait when nothing is due: while epochs are shipped alone, a minute. Until
 * an epoch was due, sums are supposed to be of an hour.
 */
uint64_t ship_budget_every_ns(const struct ship_budget *b, const struct ship_how *how);

/* The length of sums that a machine's budget is enough for, if it is not set. */
uint64_t ship_budget_length(const struct ship_how *how, uint32_t nr_cpus);

#endif
