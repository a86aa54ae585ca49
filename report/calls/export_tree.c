/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_tree.c - merges weighted stacks into one tree
 *
 * A hash map finds a node by its parent and frame, so a stack costs one look-up per
 * frame. Nodes are numbered in the order in which they are made, so parents come before
 * children.
 */
#include "config.h"

#include "report/calls/export_tree.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/path.h"
#include "report/select/facts.h"

/* Finds an image. The last one is tried first, because stacks come grouped by image. */
static uint32_t find_image(const struct export_tree *t, int64_t id)
{
	for (size_t i = t->nr_images; i--;) {
		if (t->image[i].id == id)
			return (uint32_t)i;
	}
	return EXPORT_NONE;
}

static int add_image(struct export_tree *t, const struct query_image *image,
		     uint32_t *out)
{
	struct export_tree_image added = { .id = image->id, .kind = image->desc.kind };
	char build_id[REPORT_BUILD_ID_SIZE];
	int err;

	*out = find_image(t, image->id);
	if (*out != EXPORT_NONE)
		return 0;
	if (GROW(t->image, t->nr_images))
		return -ENOMEM;
	err = strings_add(&t->strings, image->desc.name, &added.name);
	if (!err)
		err = strings_add(&t->strings, path_base(image->desc.name),
				  &added.base_name);
	if (!err)
		err = strings_add(&t->strings, report_build_id(&image->desc, build_id),
				  &added.build_id);
	if (err)
		return err;
	*out = (uint32_t)t->nr_images;
	t->image[t->nr_images++] = added;
	return 0;
}

static uint64_t hash_frame(const struct export_tree_frame *f)
{
	uint64_t h = hash_u64((uint64_t)f->function << 32 | f->image);

	h = hash_u64(h ^ f->start);
	h = hash_u64(h ^ f->address);
	return hash_u64(h ^ (uint64_t)f->line ^ (uint64_t)f->depth << 32);
}

static bool same_frame(const struct export_tree_frame *a,
		       const struct export_tree_frame *b)
{
	return a->function == b->function && a->image == b->image &&
	       a->start == b->start && a->address == b->address && a->line == b->line &&
	       a->depth == b->depth;
}

static int add_frame(struct export_tree *t, const struct export_tree_frame *key,
		     uint32_t *out)
{
	const uint64_t hash = hash_frame(key);
	struct export_tree_frame *f;

	for (struct hnode *n = hmap_first(&t->frames, hash); n; n = hmap_next(n)) {
		f = container_of(n, struct export_tree_frame, node);
		if (same_frame(f, key)) {
			*out = f->nr;
			return 0;
		}
	}
	if (t->nr_frames == EXPORT_NONE)
		return -CPI_ELIMIT;
	if (GROW(t->frame, t->nr_frames))
		return -ENOMEM;
	f = arena_alloc(&t->memory, sizeof(*f));
	if (!f)
		return -ENOMEM;
	*f = *key;
	f->nr = (uint32_t)t->nr_frames;
	if (hmap_insert(&t->frames, &f->node, hash))
		return -ENOMEM;
	t->frame[t->nr_frames++] = f;
	*out = f->nr;
	return 0;
}

/* Finds or makes the child of *at for a frame, and sets *at to it. */
static int descend(struct export_tree *t, uint32_t frame, uint32_t *at)
{
	const uint64_t hash = hash_u64((uint64_t)*at << 32 | frame);
	struct export_tree_node *node;

	for (struct hnode *n = hmap_first(&t->nodes, hash); n; n = hmap_next(n)) {
		node = container_of(n, struct export_tree_node, node);
		if (node->parent == *at && node->frame == frame) {
			*at = node->nr;
			return 0;
		}
	}
	if (t->nr == EXPORT_NONE)
		return -CPI_ELIMIT;
	if (GROW(t->at, t->nr))
		return -ENOMEM;
	node = arena_alloc(&t->memory,
			   sizeof(*node) + t->nr_columns * sizeof(node->value[0]));
	if (!node)
		return -ENOMEM;
	node->parent = *at;
	node->frame = frame;
	node->nr = (uint32_t)t->nr;
	if (hmap_insert(&t->nodes, &node->node, hash))
		return -ENOMEM;
	t->at[t->nr++] = node;
	*at = node->nr;
	return 0;
}

static int descend_name(struct export_tree *t, const char *name, uint32_t *at)
{
	struct export_tree_frame key = { .file = EXPORT_NONE,
					 .image = EXPORT_NONE,
					 .start = UINT64_MAX };
	uint32_t frame;
	int err = strings_add(&t->strings, name, &key.function);

	if (!err)
		err = add_frame(t, &key, &frame);
	return err ? err : descend(t, frame, at);
}

static int descend_frame(struct export_tree *t, const struct export_frame *f,
			 uint32_t depth, uint32_t *at)
{
	const struct line *line = t->exact || f->inlined ? &f->line : &f->begin;
	struct export_tree_frame key = {
		.file = EXPORT_NONE,
		.image = EXPORT_NONE,
		.start = f->inlined ? UINT64_MAX : f->start,
		.begin_line = f->inlined ? 0 : f->begin.line,
	};
	uint32_t frame;
	int err = strings_add(&t->strings, f->function, &key.function);

	if (t->exact) {
		key.address = f->address;
		key.line = f->line.line;
		key.depth = depth;
	}
	if (!err && f->image)
		err = add_image(t, f->image, &key.image);
	if (!err && line->file)
		err = strings_add(&t->strings, line->file, &key.file);
	if (!err)
		err = add_frame(t, &key, &frame);
	return err ? err : descend(t, frame, at);
}

/* Adds the outermost nodes of a stack: machine, context or image. */
static int descend_roots(struct export_tree *t, const struct export_stack *w,
			 uint32_t *at)
{
	const struct query_image *image = w->frame[w->nr_frames - 1].image;
	int err = 0;

	if (t->hosts)
		err = descend_name(t, w->host, at);
	if (err)
		return err;
	if (w->context)
		return descend_name(t, w->context, at);
	return image ? descend_name(t, path_base(image->desc.name), at) : 0;
}

static int add_stack(void *ctx, const struct export_stack *w)
{
	struct export_tree *t = ctx;
	uint32_t at = EXPORT_NONE, depth = 0;
	int err = descend_roots(t, w, &at);

	for (size_t i = w->nr_frames; i-- && !err;) {
		depth = w->frame[i].inlined ? depth + 1 : 0;
		err = descend_frame(t, &w->frame[i], depth, &at);
	}
	for (size_t i = 0; i < t->nr_columns && !err; i++)
		t->at[at]->value[i] += w->value[i];
	return err;
}

int export_tree_gather(struct export_tree *t, struct export_samples *w, bool exact)
{
	memset(t, 0, sizeof(*t));
	arena_init(&t->memory, 0);
	t->exact = exact;
	t->hosts = export_samples_nr_hosts(w) > 1;
	t->nr_columns = w->nr_columns;
	return w->each(w, add_stack, t);
}

void export_tree_fini(struct export_tree *t)
{
	strings_fini(&t->strings);
	hmap_fini(&t->frames);
	hmap_fini(&t->nodes);
	arena_fini(&t->memory);
	free(t->image);
	free(t->frame);
	free(t->at);
}
