/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storetables.h - how rows of a machine's database are those of a store
 *
 * One record for each table whose rows travel as they are. Profiles do not: their blobs
 * become rows by offset, so that the store can add them up.
 */
#ifndef CPI_DB_STORETABLES_H
#define CPI_DB_STORETABLES_H

#include <stddef.h>

/* Counters of table profile: never renumber. From the last on they are weights. */
enum { COUNTER_SAMPLES, COUNTER_NOT_TAKEN, COUNTER_TAKEN, COUNTER_WEIGHT };

struct storetable {
	const char *name;
	const char *columns; /* in the store, but for the address */
	const char *types;   /* of these, as rowbinary.h */
	/*
	 * Of a machine's database, with fleetid.h: the same columns. ?1 is an epoch in
	 * tables of epochs; in the others an image, stream or context.
	 */
	const char *select;
	/*
	 * What adds up rows of several epochs, and by which columns; NULL if they
	 * cannot be added up.
	 */
	const char *sums, *by;
	/* Into a database, with ?1 as the epoch, or ?1 on for the columns. */
	const char *insert;
};

/* Rows of an epoch: the store has an address in front of the columns. */
extern const struct storetable storetables_epoch[];
extern const size_t storetables_nr_epoch;

/* What ids stand for. */
extern const struct storetable storetable_image, storetable_stream, storetable_context;

/* Names and code of images, beside captures. */
extern const struct storetable storetables_image[];
extern const size_t storetables_nr_image;

#endif
