/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * budget.h - keeps what is shipped of a day within a number of bytes
 *
 * The budget is of each CPU and day (UTC). The bytes that are left of a day are shared
 * evenly over the rest of the day. The sum of an hour gets its share, and one in N of
 * its samples is kept (sums.h). N is chosen so that these are likely to fit. It depends
 * on how many samples the sum has, and on the bytes that earlier sums took, but not on
 * the draws, so estimates stay unbiased. When cpi-ship starts, the newest epochs are
 * shipped with all that they have, so that a new machine is seen soon; half of the
 * day's bytes may be used for that.
 *
 * All bytes of requests and answers count, those of queries included. Names, code and
 * captures do not count, because a store gets them once for each image, not once for
 * each machine.
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
 * Asks the store how much it has of the day of at_ns, unless this is known. It is not
 * known at first, when an earlier process may have sent a part, and for another day.
 * Call it when no transaction is open.
 */
int ship_budget_ask(struct ship_budget *b, const struct ship_how *how, uint32_t host,
		    uint64_t at_ns, struct ch_store *store);

/* Before epochs are found. */
void ship_budget_begin(struct ship_budget *b);

/*
 * Returns how a due epoch is to be shipped; sums_ns 0: alone, with all that it has.
 * Without a budget of bytes returns *how.
 */
struct ship_how ship_budget_of(struct ship_budget *b, const struct ship_how *how,
			       const struct ship_epoch *e);

/* Before the rows of an epoch, or of a sum, are read: sets one_in of a sum. */
void ship_budget_plan(struct ship_budget *b, const struct ship_how *how,
		      struct ship_epoch *e);

/*
 * Call it after each batch, and after a search that found nothing due. rows: the bytes
 * of the batch's rows; others: all other bytes, without names, code and captures. Bytes
 * of a batch that was not committed are spent as well, but are not used to estimate how
 * much a sample takes.
 */
void ship_budget_note(struct ship_budget *b, bool is_committed, uint64_t rows,
		      uint64_t others);

/*
 * How long to wait when nothing is due: a minute while epochs are shipped alone, else a
 * part of the length of sums. This length is taken to be an hour until the first epoch
 * was due.
 */
uint64_t ship_budget_every_ns(const struct ship_budget *b, const struct ship_how *how);

/*
 * Returns how->sums_ns if it is set, or if there is no budget of bytes; else the
 * shortest length of sums for which the budget is enough.
 */
uint64_t ship_budget_length(const struct ship_how *how, uint32_t nr_cpus);

#endif
