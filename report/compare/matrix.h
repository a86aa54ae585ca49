/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix.h - time by row and epoch, for comparing epochs
 *
 * The database is read twice. The first reading covers all epochs of a selection
 * together, as in cpi prof: it opens each image once, and finds the rows and their
 * offsets. The second reading goes epoch by epoch and opens no image; only one column
 * is in memory.
 *
 * A row is identified by names, not by an address: all builds of an image that have the
 * same path share one row for each procedure. But a name that was made from an offset
 * ("[0x4290]") identifies a row of one build only.
 *
 * I1  For each epoch: Σ rows = stored + unknown time of the selection, without idle.
 */
#ifndef CPI_REPORT_MATRIX_H
#define CPI_REPORT_MATRIX_H

#include "base/hmap.h"
#include "report/select/cgroupname.h"
#include "report/select/events.h"
#include "report/select/evidence.h"
#include "report/select/select.h"

#define MATRIX_MAX_SIDES 3

/* The place of a row's code, on one side; image is 0 if there is none. */
struct matrix_place {
	int64_t image;       /* an id in the side's database */
	uint64_t image_hash; /* identifies the image on all sides */
	uint64_t start, end;
};

/*
 * The time of a row's samples, by mode: `random` by samples at random moments, `ticks`
 * by the scheduler's ticks (evidence.h).
 */
struct matrix_sums {
	double random[NR_EVIDENCE_MODES], ticks[NR_EVIDENCE_MODES];
};

struct matrix_totals {
	struct event_sum random, ticks;
	double variance; /* of the random samples: Σ n × weight² */
};

/* Names that a row does not have are NULL. */
struct matrix_row {
	struct hnode node;
	size_t index;
	bool unknown;        /* for samples without an image; procedure is the reason */
	uint64_t image_hash; /* set if the name alone does not identify the row */
	char *image, *procedure, *file;
	char *context;                      /* for rows by a kind of context */
	struct cgroup_container *container; /* NULL: not in a container */
	int line;
	struct matrix_place place[MATRIX_MAX_SIDES];
	struct matrix_sums sums[MATRIX_MAX_SIDES]; /* of all epochs */
	bool departs; /* its time does not include ticks (evidence.h) */
	/* Set by matrix_fit(): the time of all epochs in the event's unit; and the mean
	   weight of the row's samples, relative to that of all rows. */
	double time[MATRIX_MAX_SIDES], sample;
	struct matrix_row *with; /* for cpi diff: the next row that is compared together
				    with this one */
};

/* The samples of an epoch at one offset, and their row. */
struct matrix_count {
	int64_t epoch, image;
	uint64_t offset;
	size_t row;
	double time;
};

typedef void (*matrix_count_fn)(void *ctx, const struct matrix_count *c);

struct matrix {
	int by;            /* enum prof_by */
	bool warn;         /* warn of images that cannot be opened */
	struct hmap map;   /* of the rows */
	struct hmap spans; /* by side, image and stream */
	struct matrix_row **row;
	size_t nr_rows, nr_departing;
	bool named[MATRIX_MAX_SIDES];
	struct evidence evidence[MATRIX_MAX_SIDES];
	struct matrix_totals totals[MATRIX_MAX_SIDES];
	/* The mean time of a sample over all epochs; above 0. */
	double sample[MATRIX_MAX_SIDES];
	/*
	 * Called with each count of an epoch, before its column; offsets ascend within
	 * a stream of an image. May be NULL.
	 */
	matrix_count_fn on_count;
	void *on_count_ctx;
};

/* One epoch of one side. */
struct matrix_column {
	const struct query_epoch *epoch;
	int side;
	double seconds; /* its length; above 0 */
	double total;   /* of the rows */
	/* The mean weight of a sample, above 0; if the epoch has no samples, that of
	   all epochs. Multiplied by row->sample: the mean weight in that row. */
	double sample;
	const double *time; /* by row, in the event's unit */
};

/* The length of an epoch in seconds; above 0. */
double matrix_seconds(const struct query_epoch *epoch);

void matrix_init(struct matrix *m, int by, bool warn);
void matrix_fini(struct matrix *m);

/*
 * Adds the rows of the selection that have samples of ev's first event or of ticks.
 * Returns 0, -ENOMEM, or the database's error, which is logged.
 */
int matrix_name(struct matrix *m, int side, const struct selection *sel,
		const struct events *ev);

/*
 * Decides for each row whether its ticks count as time, and computes the rows' times.
 * Call it after matrix_name() of all sides, because it needs the sums of all rows.
 * Returns 0 or -ENOMEM.
 */
int matrix_fit(struct matrix *m);

/*
 * Calls fn for each epoch of the same selection, in order. Flushes since matrix_name()
 * are left out. Ends if fn returns non-zero, and returns that.
 */
typedef int (*matrix_fn)(void *ctx, const struct matrix_column *column);
int matrix_each(struct matrix *m, int side, const struct selection *sel,
		const struct events *ev, matrix_fn fn, void *ctx);

#endif
