/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacktree_codec.c - a tree as columns, compressed where that pays
 *
 * Frames are in a sorted list of their own: a frame is in many nodes, and neighbours in
 * the list are close in the image, so their distances are short numbers.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/varint.h"
#include "db/profile/pack.h"
#include "db/profile/stacktree_private.h"

/* 5 bytes each for image and index, 10 for offset and count, 2 for the level. */
#define MAX_BODY (32ULL * STACK_MAX_NODES)

static int compare_frames(const void *a, const void *b)
{
	const struct stack_frame *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* A tree that is being written. */
struct writer {
	const struct stack_tree *t;
	struct stack_frame *frame; /* distinct, in order */
	uint32_t nr_frames, nr_nodes;
	unsigned int depth; /* of the node before, and one more */
	struct buf levels, indices, counts;
};

static int list_frames(struct writer *w)
{
	const struct stack_tree *t = w->t;
	const uint32_t nr = t->nr - STACK_NR_MARKS;

	w->frame = calloc((size_t)nr + 1, sizeof(*w->frame));
	if (!w->frame)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		const struct stack_node *node = &t->node[i + STACK_NR_MARKS];

		w->frame[i] = (struct stack_frame){ node->image, node->offset };
	}
	qsort(w->frame, nr, sizeof(*w->frame), compare_frames);
	for (uint32_t i = 0; i < nr; i++) {
		if (!i || compare_frames(&w->frame[i], &w->frame[w->nr_frames - 1]))
			w->frame[w->nr_frames++] = w->frame[i];
	}
	return 0;
}

static void put_frames(const struct writer *w, struct buf *body)
{
	struct stack_frame before = { 0 };

	varint_put(body, w->nr_frames);
	for (uint32_t i = 0; i < w->nr_frames; i++) {
		const struct stack_frame *f = &w->frame[i];

		varint_put(body, f->image - before.image);
		varint_put(body, f->image == before.image ? f->offset - before.offset
							  : f->offset);
		before = *f;
	}
}

static int put_node(void *ctx, uint32_t i, unsigned int depth)
{
	struct writer *w = ctx;
	const struct stack_node *node = &w->t->node[i];
	const struct stack_frame frame = { node->image, node->offset };
	const struct stack_frame *found;

	varint_put(&w->levels, w->depth - depth);
	w->depth = depth + 1;
	if (depth) {
		found = bsearch(&frame, w->frame, w->nr_frames, sizeof(frame),
				compare_frames);
		varint_put(&w->indices, found - w->frame);
	} else {
		varint_put(&w->indices, i);
	}
	varint_put(&w->counts, node->n);
	w->nr_nodes++;
	return 0;
}

int stack_tree_encode(const struct stack_tree *t, struct buf *out)
{
	struct writer w = { .t = t };
	const struct buf *const columns[] = { &w.levels, &w.indices, &w.counts };
	struct buf body = { 0 };
	int err;

	if (!t->total)
		return 0;
	if (t->nr > STACK_MAX_NODES)
		return -CPI_ELIMIT;
	err = list_frames(&w);
	if (!err)
		err = stack_tree_walk(t, put_node, &w);
	if (!err) {
		put_frames(&w, &body);
		varint_put(&body, w.nr_nodes);
	}
	for (size_t i = 0; !err && i < sizeof(columns) / sizeof(columns[0]); i++) {
		buf_put(&body, columns[i]->data, columns[i]->len);
		err = columns[i]->err;
	}
	if (!err)
		err = pack_put(&body, out);
	buf_fini(&w.levels);
	buf_fini(&w.indices);
	buf_fini(&w.counts);
	buf_fini(&body);
	free(w.frame);
	return err;
}

/* A body that is being read; its frames have the image numbers of the tree. */
struct tree_reader {
	const uint8_t *pos, *end;
	struct stack_frame *frame;
	uint64_t nr_frames, nr_nodes;
	uint16_t *depth; /* by node */
	uint32_t *index; /* of its frame, or the mark */
};

static int get_varint(struct tree_reader *r, uint64_t max, uint64_t *v)
{
	uint64_t got;
	int err = varint_get(&r->pos, r->end, &got);

	if (!err && got > max)
		err = -CPI_ECORRUPT;
	if (!err)
		*v = got;
	return err;
}

/* Reads the number of elements that follow; each takes at least `bytes` bytes. */
static int get_number(struct tree_reader *r, unsigned int bytes, uint64_t *nr)
{
	int err = varint_get(&r->pos, r->end, nr);

	if (!err && *nr > STACK_MAX_NODES)
		err = -CPI_ELIMIT;
	else if (!err && *nr * bytes > (uint64_t)(r->end - r->pos))
		err = -CPI_ETRUNCATED;
	return err;
}

static int read_frames(struct tree_reader *r, const uint32_t *map, uint32_t nr_map)
{
	uint64_t image = 0, offset = 0, distance, further;
	int err = get_number(r, 2, &r->nr_frames);

	if (err)
		return err;
	r->frame = calloc(r->nr_frames + 1, sizeof(*r->frame));
	if (!r->frame)
		return -ENOMEM;
	for (uint64_t i = 0; i < r->nr_frames; i++) {
		err = get_varint(r, nr_map - image, &distance);
		if (!err)
			err = get_varint(r, UINT64_MAX, &further);
		if (err)
			return err;
		image += distance;
		if (image >= nr_map || (i && !distance && !further))
			return -CPI_ECORRUPT;
		if (distance)
			offset = 0;
		if (__builtin_add_overflow(offset, further, &offset))
			return -CPI_ECORRUPT;
		r->frame[i] = (struct stack_frame){ map[image], offset };
	}
	return 0;
}

/* Both columns that say where a node is. */
static int read_places(struct tree_reader *r)
{
	uint64_t depth = 0, up, index; /* depth: the deepest that the next can have */
	int err = get_number(r, 3, &r->nr_nodes);

	if (err)
		return err;
	r->depth = calloc(r->nr_nodes + 1, sizeof(*r->depth));
	r->index = calloc(r->nr_nodes + 1, sizeof(*r->index));
	if (!r->depth || !r->index)
		return -ENOMEM;
	for (uint64_t i = 0; !err && i < r->nr_nodes; i++) {
		err = get_varint(r, depth, &up);
		if (err)
			break;
		depth -= up;
		if (depth > STACK_MAX_FRAMES)
			return -CPI_ECORRUPT;
		r->depth[i] = depth++;
	}
	for (uint64_t i = 0; !err && i < r->nr_nodes; i++) {
		const uint64_t nr = r->depth[i] ? r->nr_frames : STACK_NR_MARKS;

		err = get_varint(r, nr, &index);
		if (!err && index == nr)
			err = -CPI_ECORRUPT;
		if (!err)
			r->index[i] = index;
	}
	return err;
}

/* Samples whose nodes do not fit into the tree are counted as STACK_NO_ROOM. */
static int add_nodes(struct tree_reader *r, struct stack_tree *t)
{
	uint32_t path[STACK_MAX_FRAMES + 1];
	int err = 0;

	for (uint64_t i = 0; !err && i < r->nr_nodes; i++) {
		uint32_t *at = &path[r->depth[i]];
		uint64_t n;

		err = get_varint(r, UINT64_MAX, &n);
		if (err)
			break;
		if (!r->depth[i])
			*at = r->index[i];
		else if (at[-1] == STACK_NO_ROOM)
			*at = STACK_NO_ROOM;
		else
			err = stack_tree_child(t, at[-1], &r->frame[r->index[i]], at);
		if (err == -ENOSPC) {
			*at = STACK_NO_ROOM;
			err = 0;
		}
		if (!err)
			err = stack_tree_count(t, *at, n);
	}
	return !err && r->pos != r->end ? -CPI_ECORRUPT : err;
}

int stack_tree_decode(const void *blob, size_t size, const uint32_t *map,
		      uint32_t nr_map, struct stack_tree *t)
{
	struct buf memory = { 0 };
	struct tree_reader r = { 0 };
	const uint8_t *body;
	size_t body_size;
	int err = pack_get(blob, size, MAX_BODY, &memory, &body, &body_size);

	if (!err) {
		r.pos = body;
		r.end = body + body_size;
		err = read_frames(&r, map, nr_map);
	}
	if (!err)
		err = read_places(&r);
	if (!err)
		err = add_nodes(&r, t);
	buf_fini(&memory);
	free(r.frame);
	free(r.depth);
	free(r.index);
	return err;
}
