/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * following.h - the windows of a selection, weighed by its samples
 */
#ifndef CPI_TOOLS_FOLLOWING_H
#define CPI_TOOLS_FOLLOWING_H

#include "analysis/explain.h"
#include "db/query.h"

struct following;

/* What n samples of a stream are worth; 0 of one that is not to be looked at. */
typedef double (*following_amount_fn)(void *ctx, int64_t stream, uint64_t n);

/*
 * Reads windows, anchors and samples, whatever images sel selects. seconds is what one
 * of amount's samples stands for. *out is NULL where there are no windows; else
 * following_free() is to be called. 0 or a negative error.
 */
int following_load(struct db *db, const struct query_selection *sel,
		   following_amount_fn amount, void *ctx, double seconds,
		   struct following **out);
void following_free(struct following *f); /* accepts NULL */

/*
 * What windows passed in an image, until the next call; NULL where they did not, or f
 * is NULL. 0 or -ENOMEM.
 */
int following_image(struct following *f, int64_t image,
		    const struct explain_windows **out);

/* The image of a number that the windows have; id 0: it is not known. */
const struct query_image *following_numbered(const struct following *f,
					     uint32_t number);

#endif
