/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storetables.h - how rows of a machine's database become rows of a store
 *
 * There is one record for each table whose rows are sent unchanged. Profiles are not:
 * their blobs become one row for each offset, so that the store can add them up.
 */
#ifndef CPI_DB_STORETABLES_H
#define CPI_DB_STORETABLES_H

#include <stddef.h>

/*
 * Counters of table profile: never renumber. The last and all higher ones are weights.
 */
enum { COUNTER_SAMPLES, COUNTER_NOT_TAKEN, COUNTER_TAKEN, COUNTER_WEIGHT };

struct storetable {
	const char *name;
	const char *columns; /* in the store, without the address */
	const char *types;   /* of these columns, as in rowbinary.h */
	/*
	 * Selects the same columns from a machine's database; it uses fleetid.h. ?1 is
	 * an epoch for tables of epochs; for others an image, stream or context.
	 */
	const char *select;
	/*
	 * SQL that adds up rows of several epochs, and the columns to group by; NULL if
	 * rows cannot be added up.
	 */
	const char *sums, *by;
	/* Inserts into a database: ?1 is the epoch, or ?1 and on are the columns. */
	const char *insert;
};

/* Tables of epochs: in the store, the address comes before the columns. */
extern const struct storetable storetables_epoch[];
extern const size_t storetables_nr_epoch;

/* The descriptions of images, streams and contexts, and names of containers. */
extern const struct storetable storetable_image, storetable_stream, storetable_context,
	storetable_container;

/* Names and code of images, other than captures. */
extern const struct storetable storetables_image[];
extern const size_t storetables_nr_image;

#endif
