/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selected_windows.h - the windows of a selection, weighted by its samples
 */
#ifndef CPI_REPORT_SELECTED_WINDOWS_H
#define CPI_REPORT_SELECTED_WINDOWS_H

#include "analysis/explain/explain.h"
#include "db/query/query.h"

struct selected_windows;

/* The time of n samples of a stream; 0: the stream is left out. */
typedef double (*selected_windows_amount_fn)(void *ctx, int64_t stream, uint64_t n);

/*
 * Reads windows and samples of all images, including those that sel leaves out. *out is
 * NULL if there are no windows; else the caller frees it. 0 or a negative error.
 */
int selected_windows_load(struct db *db, const struct query_selection *sel,
			  selected_windows_amount_fn amount, void *ctx,
			  struct selected_windows **out);
void selected_windows_free(struct selected_windows *f); /* accepts NULL */

/*
 * Makes what all images share, so that copies of this process have it. Accepts NULL. 0
 * or -ENOMEM.
 */
int selected_windows_prepare(struct selected_windows *f);

/*
 * The parts of windows in an image, valid until the next call; NULL if there are none
 * or f is NULL. 0 or -ENOMEM.
 */
int selected_windows_image(struct selected_windows *f, int64_t image,
			   const struct explain_windows **out);

/* The image with a number that windows use; its id is 0 if it is not known. */
const struct query_image *selected_windows_numbered(const struct selected_windows *f,
						    uint32_t number);

#endif
