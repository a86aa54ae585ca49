/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * due.h - chooses which epochs, or which sums of epochs, are one batch
 *
 * The epochs come by run, and in a run in the order of their last flush.
 *
 * I1  No epoch is passed over if a later one of its run is in the batch: the cursor of
 *     the run, the last flush in the store, would go beyond it.
 * I2  Retention may later merge epochs of a run into one. If a shipment has only some
 *     of the epochs that may be merged with each other, all its epochs are of one hour
 *     (ship_sums_cut()). Then the merged epoch has all flushes of the shipment.
 */
#ifndef CPI_SHIP_DUE_H
#define CPI_SHIP_DUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ship/rows.h"

#define SHIP_MAX_EPOCHS 512 /* shipments of one batch */
/* Epochs that are looked at for one batch. They are more than one sum may have, and
 * more than a batch: if epochs of a run must wait, those of other runs may follow. */
#define SHIP_MAX_DUE (4 * SHIP_MAX_EPOCHS)

/* It is empty if all members but max are 0. */
struct ship_due {
	struct ship_epoch epoch[SHIP_MAX_EPOCHS]; /* each one a shipment */
	size_t nr, max;
	int64_t busy_run;    /* the rest of this run waits; none if 0 */
	size_t nr_looked_at; /* epochs */
	bool is_last;        /* the epoch looked at last is part of the last shipment */
};

/*
 * Adds e, the next epoch, or leaves it to a later batch. If it takes over the memory of
 * e, it zeroes e. is_busy: the epoch is open, or retention works on it.
 */
int ship_due_take(struct ship_due *d, const struct ship_how *how, struct ship_epoch *e,
		  bool is_busy);

/* After the last epoch: removes sums to which an epoch may still be added. */
void ship_due_end(struct ship_due *d);

#endif
