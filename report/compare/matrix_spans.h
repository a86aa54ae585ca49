/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix_spans.h - finds the row of an offset of an image, from spans of offsets
 *
 * A span is a range of offsets whose samples belong to one row.
 */
#ifndef CPI_REPORT_MATRIX_SPANS_H
#define CPI_REPORT_MATRIX_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"

struct matrix_spans;

/* Makes the empty list of spans of a side, image and stream. Returns 0 or -ENOMEM. */
int matrix_spans_add(struct hmap *map, int side, int64_t image, int64_t stream,
		     struct matrix_spans **out);
struct matrix_spans *matrix_spans_find(const struct hmap *map, int side, int64_t image,
				       int64_t stream); /* or NULL */
void matrix_spans_fini(struct hmap *map);               /* frees all */

/* Adds an offset; offsets must ascend from call to call. Returns 0 or -ENOMEM. */
int matrix_spans_put(struct matrix_spans *s, uint64_t offset, size_t row);

/*
 * Finds the row of an offset; false: there is none. Offsets must ascend from call to
 * call; *at is the position, and starts as 0.
 */
bool matrix_spans_next(const struct matrix_spans *s, uint64_t offset, size_t *at,
		       size_t *row);

#endif
