/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storesums.h - time of a store's hosts, added up by the engine
 *
 * Only sums are read, so the number of epochs is not limited. Sums of days and hours
 * replace rows if they are exact (daysums.h) and the sums are not by host. If the
 * remaining rows are more than STORESUMS_MAX_ROWS, a random part is read instead: the
 * largest one (thinned level) with at most so many rows. A sum is of one event that
 * measures time. It does not include the idle loop, lost samples, and samples without
 * an image.
 */
#ifndef CPI_DB_STORESUMS_H
#define CPI_DB_STORESUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/clickhouse/storechoice.h"

#define STORESUMS_MAX_ROWS 1000000

struct storesums_ask {
	struct store_choice choice;
	/*
	 * An interval, as for query_asked_times(). All epochs that overlap it, and
	 * began at most 25 hours before it, are included. NULL: the day that ends with
	 * the newest epoch. Epochs that end more than ten minutes in the future are
	 * ignored for this, because the clock of their machine is wrong.
	 */
	const char *times;
	uint64_t from_ns, to_ns; /* unless to_ns is 0: this interval, not times */
	const char *event; /* NULL: the one with the most time; ticks only if alone */
	bool by_host, by_cluster, by_release,
		by_machine; /* one sum for each of these */
	bool by_image, by_offset;
	bool any_event; /* event may be one that does not measure time */
	bool may_lack;  /* without the event there are no sums, and no error */
	bool exact;     /* read all rows, however many there are */
};

/* A text is "" if the sums are not by it. */
struct storesums_sum {
	const char *host, *cluster, *release, *machine;
	uint64_t image, offset; /* 0 if the sums are not by them */
	uint64_t n;             /* samples that were read */
	double amount;          /* samples × period, in the event's unit */
	double ns; /* the same as time; 0 for an event that does not measure time */
};

/* The epochs that were added up. */
struct storesums_scope {
	uint64_t nr_hosts, nr_epochs;
	uint64_t nr_with_event; /* hosts that have the event */
	uint64_t from_ns, to_ns;
	/* For a further request: the interval of this one, until its newest epoch. */
	uint64_t asked_from_ns, asked_to_ns;
	uint64_t received, lost; /* of all events */
	/*
	 * If above 1, the sums are estimates: one of so many samples, drawn at random,
	 * was read. A sum of n samples that were read has a standard error of sqrt(n).
	 */
	uint64_t thinned;
	/* Epochs that were shipped as sums; of some only one of one_in samples. */
	uint64_t nr_sums, one_in;
	uint64_t nr_thinned; /* of these, those that lack samples: one_in above 1 */
	char event[64];
};

typedef int (*storesums_fn)(void *ctx, const struct storesums_sum *sum);

/*
 * Calls fn for each sum, in no particular order; texts are valid during the call. A
 * non-zero return of fn stops and is returned. Otherwise returns 0; -EINVAL for an
 * invalid interval, or an event that does not measure time; -ENOENT if there is no such
 * epoch; or an error of store.h. All are logged.
 */
int storesums_read(struct ch_store *s, const struct storesums_ask *ask, storesums_fn fn,
		   void *ctx, struct storesums_scope *scope);

/* Reads the names of nr images, whose ids ascend. */
typedef int (*storesums_image_fn)(void *ctx, uint64_t image, const char *name);
int storesums_images(struct ch_store *s, const uint64_t *image, size_t nr,
		     storesums_image_fn fn, void *ctx);

/*
 * Reads the captured symbols of nr images, whose ids ascend, in the order of images and
 * starts.
 */
struct storesums_symbol {
	uint64_t image, start, size;
	const char *name;
};

typedef int (*storesums_symbol_fn)(void *ctx, const struct storesums_symbol *symbol);
int storesums_symbols(struct ch_store *s, const uint64_t *image, size_t nr,
		      storesums_symbol_fn fn, void *ctx);

#endif
