/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix.h - time by row and epoch, for comparing epochs
 *
 * Read twice. First all epochs of a selection together, as cpi prof does: each image
 * is opened once, gives the rows, and where their offsets are. Then epoch by epoch,
 * without opening any image: one column at a time is in memory.
 *
 * A row is a name, not a place: builds of an image under one path share the row of a
 * procedure. What has no name of its own ("[0x4290]") is a row of its image alone.
 *
 * I1  Per epoch: Σ rows = stored + unknown time of the selection, but for idle.
 */
#ifndef CPI_REPORT_MATRIX_H
#define CPI_REPORT_MATRIX_H

#include "base/hmap.h"
#include "report/select/cgroupname.h"
#include "report/select/events.h"
#include "report/select/evidence.h"
#include "report/select/select.h"

#define MATRIX_MAX_SIDES 3

/* Where a row's code is, on one side; image 0: nowhere. */
struct matrix_place {
	int64_t image;       /* in the side's database alone */
	uint64_t image_hash; /* of what it is: for all sides */
	uint64_t start, end;
};

/* What the samples of a row stand for; of random ones, also those in the kernel. */
struct matrix_sums {
	double random, kernel, ticks;
};

struct matrix_totals {
	struct event_sum random, ticks;
	double variance; /* of random ones: Σ n × weight² */
};

/* NULL where a row has no such name. */
struct matrix_row {
	struct hnode node;
	size_t index;
	bool unknown;        /* samples without an image; procedure is the reason */
	uint64_t image_hash; /* where the name does not tell it from other images' */
	char *image, *procedure, *file;
	char *context;                      /* by a kind of context */
	struct cgroup_container *container; /* NULL: of none */
	int line;
	struct matrix_place place[MATRIX_MAX_SIDES];
	struct matrix_sums sums[MATRIX_MAX_SIDES]; /* of all epochs */
	bool departs; /* ticks are not in its time (evidence.h) */
	/* Since matrix_fit(): of all epochs, in the event's unit; and what one sample
	   of the row stands for, over that of all rows. */
	double time[MATRIX_MAX_SIDES], sample;
	struct matrix_row *with; /* cpi diff's: the next that is compared as one row */
};

/* Samples of an epoch at one offset, and the row that they are in. */
struct matrix_count {
	int64_t epoch, image;
	uint64_t offset;
	size_t row;
	double time;
};

typedef void (*matrix_count_fn)(void *ctx, const struct matrix_count *c);

struct matrix {
	int by;            /* enum prof_by */
	bool warn;         /* of images that cannot be opened */
	struct hmap map;   /* of the rows */
	struct hmap spans; /* by side, image and stream */
	struct matrix_row **row;
	size_t nr_rows, nr_departing;
	bool named[MATRIX_MAX_SIDES];
	struct evidence evidence[MATRIX_MAX_SIDES];
	struct matrix_totals totals[MATRIX_MAX_SIDES];
	/* Of all epochs, what one sample stands for, on average; above 0. */
	double sample[MATRIX_MAX_SIDES];
	/*
	 * Called with each count of an epoch before its column, ascending within a
	 * stream of an image; may be NULL.
	 */
	matrix_count_fn on_count;
	void *on_count_ctx;
};

/* One epoch of one side. */
struct matrix_column {
	const struct query_epoch *epoch;
	int side;
	double seconds;     /* its length; above 0 */
	double total;       /* of the rows */
	double sample;      /* what one sample stands for, on average; above 0; of all
			       epochs where this has none; a row's is row->sample times
			       as much */
	const double *time; /* by row, in the event's unit */
};

/* How long an epoch was; above 0. */
double matrix_seconds(const struct query_epoch *epoch);

void matrix_init(struct matrix *m, int by, bool warn);
void matrix_fini(struct matrix *m);

/*
 * Adds the rows that the first of ev's events, and ticks, have in the selection.
 * Returns 0, -ENOMEM, or the database's error, logged.
 */
int matrix_name(struct matrix *m, int side, const struct selection *sel,
		const struct events *ev);

/* After all sides are named: finds out which samples are time. 0 or -ENOMEM. */
int matrix_fit(struct matrix *m);

/*
 * Calls fn for each epoch of the same selection, in order. What was flushed since it
 * was named is left out. fn's non-zero return ends it and is returned.
 */
typedef int (*matrix_fn)(void *ctx, const struct matrix_column *column);
int matrix_each(struct matrix *m, int side, const struct selection *sel,
		const struct events *ev, matrix_fn fn, void *ctx);

#endif
