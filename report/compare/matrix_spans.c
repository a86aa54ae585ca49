/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix_spans.c - which row each sampled offset belongs to
 *
 * The first reading of a selection finds the row of each offset, and stores a span for
 * successive offsets of the same row. Later readings walk along the spans and the
 * counts, which both ascend, and need no image.
 */
#include "config.h"

#include "report/compare/matrix_spans.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"

struct span {
	uint64_t first, last; /* offsets */
	size_t row;
};

struct matrix_spans {
	struct hnode node;
	int side;
	int64_t image, stream;
	struct buf span; /* ascending; none overlaps another */
};

static uint64_t hash_of(int side, int64_t image, int64_t stream)
{
	return hash_u64(hash_u64((uint64_t)image) ^ (uint64_t)stream << 2 ^ side);
}

struct matrix_spans *matrix_spans_find(const struct hmap *map, int side, int64_t image,
				       int64_t stream)
{
	struct hnode *n = hmap_first(map, hash_of(side, image, stream));

	for (; n; n = hmap_next(n)) {
		struct matrix_spans *s = container_of(n, struct matrix_spans, node);

		if (s->side == side && s->image == image && s->stream == stream)
			return s;
	}
	return NULL;
}

int matrix_spans_add(struct hmap *map, int side, int64_t image, int64_t stream,
		     struct matrix_spans **out)
{
	struct matrix_spans *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->side = side;
	s->image = image;
	s->stream = stream;
	if (hmap_insert(map, &s->node, hash_of(side, image, stream))) {
		free(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

void matrix_spans_fini(struct hmap *map)
{
	struct hnode *n, *next;

	hmap_for_each (map, n, next) {
		struct matrix_spans *s = container_of(n, struct matrix_spans, node);

		buf_fini(&s->span);
		free(s);
	}
	hmap_fini(map);
}

int matrix_spans_put(struct matrix_spans *s, uint64_t offset, size_t row)
{
	const struct span fresh = { offset, offset, row };
	struct span *span = (struct span *)s->span.data;
	const size_t nr = s->span.len / sizeof(*span);

	if (nr && span[nr - 1].row == row)
		span[nr - 1].last = offset;
	else
		buf_put(&s->span, &fresh, sizeof(fresh));
	return s->span.err;
}

bool matrix_spans_next(const struct matrix_spans *s, uint64_t offset, size_t *at,
		       size_t *row)
{
	const struct span *span = (const struct span *)s->span.data;
	const size_t nr = s->span.len / sizeof(*span);

	while (*at < nr && span[*at].last < offset)
		++*at;
	if (*at == nr || span[*at].first > offset)
		return false;
	*row = span[*at].row;
	return true;
}
