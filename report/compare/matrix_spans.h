/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix_spans.h - which offsets of an image are whose, as runs of one row's offsets
 */
#ifndef CPI_REPORT_MATRIX_SPANS_H
#define CPI_REPORT_MATRIX_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"

struct matrix_spans;

/* The runs of an image in a stream, on one side; an empty one is made. 0 or -ENOMEM. */
int matrix_spans_add(struct hmap *map, int side, int64_t image, int64_t stream,
		     struct matrix_spans **out);
struct matrix_spans *matrix_spans_find(const struct hmap *map, int side, int64_t image,
				       int64_t stream); /* or NULL */
void matrix_spans_fini(struct hmap *map);               /* frees all */

/* Offsets ascend from call to call. 0 or -ENOMEM. */
int matrix_spans_put(struct matrix_spans *s, uint64_t offset, size_t row);

/*
 * The row of an offset; false: none. Offsets ascend from call to call, with *at, which
 * begins as 0.
 */
bool matrix_spans_next(const struct matrix_spans *s, uint64_t offset, size_t *at,
		       size_t *row);

#endif
