/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup_group.h - the profiles of one image and context, merged over an hour or
 * a day
 */
#ifndef CPI_DB_ROLLUP_GROUP_H
#define CPI_DB_ROLLUP_GROUP_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "db/core/set_rows.h"
#include "db/profile/codec.h"
#include "db/retain/rollup.h"

/* An event. Its times are sums over all of its streams. */
struct rollup_event {
	char *name;
	uint64_t nr_epochs; /* epochs that have the event */
	double all;         /* sampled time in the whole day, idle time left out */
	double *time;       /* the same for each epoch */
};

struct rollup_stream {
	int64_t id;
	size_t event;
	double period;
};

/*
 * The hour or day that is rolled up: its epochs, events and streams. find and taker are
 * the prepared statements that find and remove its profile rows; they are prepared
 * once, because there are many rows.
 */
struct rollup_day {
	sqlite3_stmt *find; /* profile_set.find */
	struct set_taker taker;
	int64_t *epoch; /* [0] is the target */
	size_t nr_epochs;
	struct rollup_event *event;
	size_t nr_events;
	struct rollup_stream *stream;
	size_t nr_streams;
};

/* A row of table profile. */
struct profile_row {
	int64_t image, context, stream, kind, epoch;
	int64_t counted; /* its part of the stored samples in table tally */
};

/* A row that replaces several. */
struct merged {
	int64_t stream, kind;
	uint64_t total;
	struct buf counts;
};

/*
 * How the time x of a procedure varied over the epochs of a day: Σ x, Σ x², and Σ x · y
 * where y is the event's time in the epoch.
 */
struct rollup_spread {
	size_t event;
	uint64_t start, size; /* image offset, and bytes */
	double sum, squares, cross;
};

struct group {
	struct profile_row *part; /* its rows, by stream, kind and epoch */
	size_t nr_parts;
	struct merged *merged;
	size_t nr_merged;
	struct rollup_spread *spread;
	size_t nr_spreads;
};

/*
 * Merges the parts that the caller has set, and, for the totals of all contexts
 * (context 0), computes spreads. It only reads the database. 0; -ENOMEM; -EAGAIN if
 * another process began a roll-up; -CPI_ECORRUPT (logged) if a row is damaged: then the
 * parts must stay in their epochs; or an error of SQLite. The caller frees g in any
 * case.
 */
int group_merge(sqlite3 *h, const struct rollup_day *day, struct group *g);
void group_fini(struct group *g);

/* Replaces the parts by the merged rows. -EAGAIN: a part no longer exists. */
int group_write(sqlite3 *h, const struct rollup_day *day, const struct group *g);

/*
 * rollup_spread.c: computes a group's spreads from the merged profile of each stream.
 */
struct group_sum {
	int64_t stream;
	struct profile *profile;
};
int group_spread(sqlite3 *h, const struct rollup_day *day, struct group *g,
		 const struct group_sum *sums, size_t nr_sums);

/* Adds the profile of a part to p. 0, -CPI_ECORRUPT (logged), -ENOMEM, ... */
int group_read_part(const struct rollup_day *day, const struct profile_row *part,
		    struct profile *p);

/* The stream with this id; NULL if the day does not have it. */
const struct rollup_stream *rollup_stream_of(const struct rollup_day *day, int64_t id);

#endif
