/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * due.h - chooses which epochs, or which sums of epochs, are one batch
 *
 * The epochs come by run, and in a run in the order of their last flush.
 *
 * I1  No epoch is passed over if a later one of its run is in the batch: the cursor of
 *     the run, the last flush in the store, would go beyond it.
 * I2  Of a run's epochs that retention may still merge into one, a shipment has epochs
 *     of one hour only, or all of them (ship_sums_cut()).
 */
#ifndef CPI_SHIP_DUE_H
#define CPI_SHIP_DUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ship/rows.h"

#define SHIP_MAX_EPOCHS 512 /* shipments of one batch */
/* Epochs that are looked at: more than a sum may have. Beyond those that wait there may
 * be ones of other runs. */
#define SHIP_MAX_DUE (4 * SHIP_MAX_EPOCHS)

/* Zeroed, but for max, it is empty. */
struct ship_due {
	struct ship_epoch epoch[SHIP_MAX_EPOCHS]; /* each one a shipment */
	size_t nr, max;
	int64_t busy_run;    /* the rest of this run waits; none if 0 */
	size_t nr_looked_at; /* epochs */
	bool is_last;        /* the newest epoch is part of the last shipment */
};

/*
 * Takes the next epoch, and what belongs to e; or leaves it to a later batch. is_busy:
 * it is open, or retention works on it.
 */
int ship_due_take(struct ship_due *d, const struct ship_how *how, struct ship_epoch *e,
		  bool is_busy);

/* After the last epoch: removes sums to which an epoch may still come. */
void ship_due_end(struct ship_due *d);

#endif
