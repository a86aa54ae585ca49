/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup_group.h - the profiles of one image and context, merged over a day
 */
#ifndef CPI_DB_ROLLUP_GROUP_H
#define CPI_DB_ROLLUP_GROUP_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "db/codec.h"
#include "db/spread.h"

/* Streams of one event: their time is added. */
struct rollup_event {
	char *name;
	uint64_t nr_epochs; /* that have it */
	double all;         /* time of the day, without that of idle CPUs */
	double *time;       /* the same by epoch */
};

struct rollup_stream {
	int64_t id;
	size_t event;
	double period;
};

struct rollup_day {
	int64_t *epoch; /* [0] is the target */
	size_t nr_epochs;
	struct rollup_event *event;
	size_t nr_events;
	struct rollup_stream *stream;
	size_t nr_streams;
};

/* A row of table profile. */
struct part {
	int64_t image, context, stream, kind, epoch;
	uint64_t total; /* once the row was read */
};

/* A row that takes the place of several. */
struct merged {
	int64_t stream, kind;
	uint64_t total;
	struct buf counts;
};

struct spread {
	size_t event;
	uint64_t start, size;
	double sum, squares, cross;
};

struct group {
	struct part *part; /* its rows, by stream, kind and epoch */
	size_t nr_parts;
	struct merged *merged;
	size_t nr_merged;
	struct spread *spread;
	size_t nr_spreads;
};

/*
 * Merges a group whose parts the caller has set, and computes its spreads (of context
 * 0). Only reads. -CPI_ECORRUPT, logged, when a row is not what it should be: then the
 * group is to stay as it is. Else 0, -ENOMEM, or what SQLite reports; g is to be freed
 * in any case.
 */
int group_merge(sqlite3 *h, const struct rollup_day *day, struct group *g);
void group_fini(struct group *g);

/* Writes it in the place of its parts. -EAGAIN: these are not there any more. */
int group_write(sqlite3 *h, const struct rollup_day *day, const struct group *g);

/* rollup_spread.c: what group_merge() does of it; sums are what it merged, by stream.
 */
struct group_sum {
	int64_t stream;
	struct profile *profile;
};
int group_spread(sqlite3 *h, const struct rollup_day *day, struct group *g,
		 const struct group_sum *sums, size_t nr_sums);

/* Adds the profile of a part to p. 0, -CPI_ECORRUPT (logged), -ENOMEM, ... */
int group_read_part(sqlite3 *h, struct part *part, struct profile *p);

/* NULL when the day has no such stream. */
const struct rollup_stream *rollup_stream_of(const struct rollup_day *day, int64_t id);

#endif
