/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top.h - rows of cpi top, each with its time in the last looks
 *
 * I1  Of each look, Σ rows of one kind = the busy time that was added to it.
 * I2  A row that had no time in any look that is remembered is forgotten.
 * I3  Memory: TOP_ROWS rows of each kind, of less than 1200 bytes beside their
 *     names; the time of further ones goes to the row TOP_OTHER.
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

/* In the order of --by's words. */
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
	char *image;          /* path; NULL where there is none, or it is the name */
	double ns[TOP_LOOKS]; /* of look i at i % TOP_LOOKS, like all that is
				 [TOP_LOOKS] */
	double sum;           /* Σ ns, once they are ranked */
};

struct top {
	uint64_t look; /* the number of looks begun; the newest is look - 1 */
	struct hmap rows[NR_TOP_BY];
	double busy[TOP_LOOKS], idle[TOP_LOOKS]; /* ns of all CPUs' time */
};

/* Starts as { 0 }. */
void top_fini(struct top *t);

/* A new look, which has nothing yet. */
void top_begin(struct top *t);

/* Adds time to a row of the newest look; image may be NULL. 0 or -ENOMEM. */
int top_add(struct top *t, enum top_by by, const char *name, const char *image,
	    double ns);

/*
 * Adds time to all its rows: the image's, and the procedure's. Rows of contexts come by
 * top_add(). 0 or -ENOMEM.
 */
int top_add_busy(struct top *t, const char *procedure, const char *image, double ns);
void top_add_idle(struct top *t, double ns);

/* The slot of the look that was back before the newest; back < TOP_LOOKS. */
size_t top_slot(const struct top *t, size_t back);

/* Looks that are remembered: at most TOP_LOOKS. */
size_t top_nr_looks(const struct top *t);

enum top_order { TOP_BY_NOW, TOP_BY_SUM, TOP_BY_NAME, NR_TOP_ORDERS };

/*
 * The rows whose name or image holds filter (any case; NULL or "": all), in order, to
 * be freed by the caller; the rows themselves stay t's, until its next change. NULL
 * when out of memory.
 */
struct top_row **top_rank(struct top *t, enum top_by by, enum top_order order,
			  const char *filter, size_t *nr);

#endif
