/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storesums.h - time of a store's hosts, added up by the engine
 *
 * Nothing is loaded but sums, so the number of epochs has no bound. Sums of days and
 * hours stand for rows where they are the same (daysums.h) and hosts are not told
 * apart. If the rest is more than STORESUMS_MAX_ROWS, the finest thinned samples are
 * read that have no more rows. A sum is of one
 * event that measures time, and leaves out the idle loop. Samples that are lost, or of
 * no image, are not in it.
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
	 * Times, as query_asked_times() takes them; whole epochs that overlap them are
	 * taken. NULL: the day that ends with the newest epoch, but for epochs that end
	 * more than ten minutes from now: the clock of their machine is ahead.
	 */
	const char *times;
	const char *event; /* NULL: the one with the most time; ticks only if alone */
	bool by_host, by_cluster, by_release, by_machine; /* what tells sums apart */
	bool by_image, by_offset;
	bool any_event; /* event may be one that measures no time */
	bool exact;     /* read all rows, however many there are */
};

/* Texts are "" where they do not tell sums apart. */
struct storesums_sum {
	const char *host, *cluster, *release, *machine;
	uint64_t image, offset; /* 0 likewise */
	uint64_t n;             /* samples that were read */
	double amount;          /* what they stand for, in the event's unit */
	double ns; /* the same as time; 0 for an event that measures none */
};

/* The epochs that were added up. */
struct storesums_scope {
	uint64_t nr_hosts, nr_epochs;
	uint64_t nr_with_event; /* hosts that have the event */
	uint64_t from_ns, to_ns;
	uint64_t received, lost; /* of all events */
	/*
	 * Above 1 the sums are estimates from thinned samples: of so many one was read,
	 * drawn at random. A sum of n that were read has a standard error of sqrt(n).
	 */
	uint64_t thinned;
	char event[64];
};

typedef int (*storesums_fn)(void *ctx, const struct storesums_sum *sum);

/*
 * Calls fn for each sum, in no order; texts end with the call. A non-zero return stops
 * and is returned. 0; -EINVAL for times that are none, or an event that measures no
 * time; -ENOENT if there is no such epoch; or an error of store.h. All are logged.
 */
int storesums_read(struct ch_store *s, const struct storesums_ask *ask, storesums_fn fn,
		   void *ctx, struct storesums_scope *scope);

/* What the store knows nr images as: ids that ascend. */
typedef int (*storesums_image_fn)(void *ctx, uint64_t image, const char *name);
int storesums_images(struct ch_store *s, const uint64_t *image, size_t nr,
		     storesums_image_fn fn, void *ctx);

/* Captured symbols of nr images, whose ids ascend: in the order of images and starts.
 */
struct storesums_symbol {
	uint64_t image, start, size;
	const char *name;
};

typedef int (*storesums_symbol_fn)(void *ctx, const struct storesums_symbol *symbol);
int storesums_symbols(struct ch_store *s, const uint64_t *image, size_t nr,
		      storesums_symbol_fn fn, void *ctx);

#endif
