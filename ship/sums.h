/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums.h - epochs that are shipped as their sum, or as a random part of it
 *
 * A store of very many machines needs neither each minute of each machine, nor each
 * sample. With --sums, consecutive epochs of a run that have no label and begin in the
 * same interval are one shipment: their samples are added up by offset, without
 * contexts, call stacks, branches, windows, accesses and weights of hardware samples.
 *
 * With --thin=N, each sample is kept with a probability of 1/N. In the store, what is
 * kept of a stream with the period P is a stream with the period N * P: each sample has
 * N times the weight, and reports need no other rule. Losses are thinned in the same
 * way, so that received = stored + losses holds in each stream. Flushes, and the row of
 * table epoch, keep the machine's numbers. N may differ from sum to sum (budget.h).
 */
#ifndef CPI_SHIP_SUMS_H
#define CPI_SHIP_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "db/core/db.h"
#include "ship/rows.h"

#define SHIP_MAX_THIN    10000
#define SHIP_MAX_MEMBERS 1440 /* epochs of one sum */

/* For the connection h: makes ship_sums_weigh() possible. */
int ship_sums_prepare(sqlite3 *h);

/*
 * For an epoch or a sum: in each later statement, table stream has the periods that the
 * streams have in the store.
 */
int ship_sums_weigh(sqlite3 *h, const struct ship_epoch *e);

/* Makes e, as it was read from the database, the first epoch of a sum. */
int ship_sums_begin(const struct ship_how *how, struct ship_epoch *e);

/* Whether e belongs to the same sum as last, which precedes it in the order of flushes.
 */
bool ship_sums_joins(const struct ship_how *how, const struct ship_epoch *last,
		     const struct ship_epoch *e);

/* Adds e to the sum. */
int ship_sums_join(struct ship_epoch *last, const struct ship_epoch *e);

/*
 * Cuts a sum that ends before an epoch that begins at from_ns. If more epochs of the
 * sum's last hour may come, retention may later merge them with members of the sum into
 * one epoch. That epoch must have all of a shipment or nothing of it (address.h, I3).
 * So this removes the members of that hour, which become a sum of their own. If the
 * clock was set back by hours, only the first hour stays. Returns whether members were
 * removed.
 */
bool ship_sums_cut(struct ship_epoch *last, uint64_t from_ns);

/*
 * As ship_rows_read(), of a sum. Also notes in e the images and streams that the rows
 * refer to. Members with a damaged profile are marked, and their samples are not in the
 * rows and numbers of the sum. -CPI_ECORRUPT if that leaves nothing.
 */
int ship_sums_read(struct db *db, struct ship_epoch *e, struct ship_rows *out);

#endif
