/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top.h - the rows of cpi top, each with its time in the last refreshes ("looks")
 *
 * I1  For each look, Σ rows by procedure = Σ rows by image = the busy time that was
 *     added in it.
 * I2  A row without time in all remembered looks is removed.
 * I3  Memory: at most TOP_ROWS rows of each kind, each less than 1200 bytes plus its
 *     names; time of further rows goes to the row TOP_OTHER.
 */
#ifndef CPI_REPORT_TOP_H
#define CPI_REPORT_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"

#define TOP_LOOKS 120
#define TOP_ROWS  20000
#define TOP_OTHER "[other]"

/* In the order of the values of --by. */
enum top_by {
	TOP_PROCEDURE,
	TOP_IMAGE,
	TOP_COMM,
	TOP_CONTAINER,
	TOP_UNIT,
	TOP_THREAD,
	NR_TOP_BY
};

struct top_row {
	struct hnode node;
	char *name;           /* procedure, path of the image, or context */
	char *image;          /* path; NULL: no image, or name is the path */
	double ns[TOP_LOOKS]; /* time in look i at [i % TOP_LOOKS] */
	double sum;           /* Σ ns; set by top_rank() */
};

struct top {
	uint64_t look; /* looks begun so far; the newest has number look - 1 */
	struct hmap rows[NR_TOP_BY];
	double busy[TOP_LOOKS],
		idle[TOP_LOOKS]; /* ns of CPU time, at [i % TOP_LOOKS] */
};

/* struct top starts as { 0 }. */
void top_fini(struct top *t);

/* Begins a new look, without time yet. */
void top_begin(struct top *t);

/* Adds time in the newest look to a row; image may be NULL. Returns 0 or -ENOMEM. */
int top_add(struct top *t, enum top_by by, const char *name, const char *image,
	    double ns);

/*
 * Adds time to the row of the procedure and to the row of the image. For rows of
 * contexts use top_add(). Returns 0 or -ENOMEM.
 */
int top_add_busy(struct top *t, const char *procedure, const char *image, double ns);
void top_add_idle(struct top *t, double ns);

/* Returns the array index of the look `back` looks before the newest one. */
size_t top_slot(const struct top *t, size_t back);

/* Returns the number of remembered looks, at most TOP_LOOKS. */
size_t top_nr_looks(const struct top *t);

enum top_order { TOP_BY_NOW, TOP_BY_SUM, TOP_BY_NAME, NR_TOP_ORDERS };

/*
 * Returns an ordered array of the rows whose name or image contains filter (ignoring
 * case; NULL or "": all rows); NULL when out of memory. The caller frees the array. The
 * rows belong to t and are valid until it changes.
 */
struct top_row **top_rank(struct top *t, enum top_by by, enum top_order order,
			  const char *filter, size_t *nr);

#endif
