/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/weighed_tree.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/path.h"
#include "tools/report.h"
#include "tools/weighed_frames.h"

/* Stacks of an image come together: it is the last one, or searched for. */
static uint32_t find_image(const struct weighed_tree *t, int64_t id)
{
	for (size_t i = t->nr_images; i--;) {
		if (t->image[i].id == id)
			return (uint32_t)i;
	}
	return WEIGHED_NONE;
}

static int add_image(struct weighed_tree *t, const struct query_image *image,
		     uint32_t *out)
{
	struct weighed_tree_image *grown,
		added = { .id = image->id, .kind = image->desc.kind };
	char build_id[REPORT_BUILD_ID_SIZE];
	int err;

	*out = find_image(t, image->id);
	if (*out != WEIGHED_NONE)
		return 0;
	grown = grow(t->image, t->nr_images, &t->images_cap, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	t->image = grown;
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

static uint64_t hash_frame(const struct weighed_tree_frame *f)
{
	uint64_t h = hash_u64((uint64_t)f->function << 32 | f->image);

	h = hash_u64(h ^ f->start);
	h = hash_u64(h ^ f->address);
	return hash_u64(h ^ (uint64_t)f->line ^ (uint64_t)f->depth << 32);
}

static bool same_frame(const struct weighed_tree_frame *a,
		       const struct weighed_tree_frame *b)
{
	return a->function == b->function && a->image == b->image &&
	       a->start == b->start && a->address == b->address && a->line == b->line &&
	       a->depth == b->depth;
}

static int add_frame(struct weighed_tree *t, const struct weighed_tree_frame *key,
		     uint32_t *out)
{
	const uint64_t hash = hash_frame(key);
	struct weighed_tree_frame *f, **grown;

	for (struct hnode *n = hmap_first(&t->frames, hash); n; n = hmap_next(n)) {
		f = container_of(n, struct weighed_tree_frame, node);
		if (same_frame(f, key)) {
			*out = f->nr;
			return 0;
		}
	}
	if (t->nr_frames == WEIGHED_NONE)
		return -CPI_ELIMIT;
	grown = grow(t->frame, t->nr_frames, &t->frames_cap,
		     sizeof(struct weighed_tree_frame *));
	if (!grown)
		return -ENOMEM;
	t->frame = grown;
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

/* The node below *at, which becomes the new *at. */
static int descend(struct weighed_tree *t, uint32_t frame, uint32_t *at)
{
	const uint64_t hash = hash_u64((uint64_t)*at << 32 | frame);
	struct weighed_tree_node *node, **grown;

	for (struct hnode *n = hmap_first(&t->nodes, hash); n; n = hmap_next(n)) {
		node = container_of(n, struct weighed_tree_node, node);
		if (node->parent == *at && node->frame == frame) {
			*at = node->nr;
			return 0;
		}
	}
	if (t->nr == WEIGHED_NONE)
		return -CPI_ELIMIT;
	grown = grow(t->at, t->nr, &t->cap, sizeof(struct weighed_tree_node *));
	if (!grown)
		return -ENOMEM;
	t->at = grown;
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

static int descend_name(struct weighed_tree *t, const char *name, uint32_t *at)
{
	struct weighed_tree_frame key = { .file = WEIGHED_NONE,
					  .image = WEIGHED_NONE,
					  .start = UINT64_MAX };
	uint32_t frame;
	int err = strings_add(&t->strings, name, &key.function);

	if (!err)
		err = add_frame(t, &key, &frame);
	return err ? err : descend(t, frame, at);
}

static int descend_frame(struct weighed_tree *t, const struct weighed_frame *f,
			 uint32_t depth, uint32_t *at)
{
	const struct line *line = t->exact || f->inlined ? &f->line : &f->begin;
	struct weighed_tree_frame key = {
		.file = WEIGHED_NONE,
		.image = WEIGHED_NONE,
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

/* Whom a stack is of, as frames around it. */
static int descend_roots(struct weighed_tree *t, const struct weighed *w, uint32_t *at)
{
	const struct query_image *image = w->frame[w->nr_frames - 1].image;
	int err = 0;

	if (t->hosts)
		err = descend_name(t, w->host, at);
	if (err)
		return err;
	if (w->whom)
		return descend_name(t, w->whom, at);
	return image ? descend_name(t, path_base(image->desc.name), at) : 0;
}

static int add_stack(void *ctx, const struct weighed *w)
{
	struct weighed_tree *t = ctx;
	uint32_t at = WEIGHED_NONE, depth = 0;
	int err = descend_roots(t, w, &at);

	for (size_t i = w->nr_frames; i-- && !err;) {
		depth = w->frame[i].inlined ? depth + 1 : 0;
		err = descend_frame(t, &w->frame[i], depth, &at);
	}
	for (size_t i = 0; i < t->nr_columns && !err; i++)
		t->at[at]->value[i] += w->value[i];
	return err;
}

int weighed_tree_gather(struct weighed_tree *t, struct weighing *w, bool exact)
{
	memset(t, 0, sizeof(*t));
	arena_init(&t->memory, 0);
	t->exact = exact;
	t->hosts = weighing_nr_hosts(w) > 1;
	t->nr_columns = w->nr_columns;
	return w->each(w, add_stack, t);
}

void weighed_tree_fini(struct weighed_tree *t)
{
	strings_fini(&t->strings);
	hmap_fini(&t->frames);
	hmap_fini(&t->nodes);
	arena_fini(&t->memory);
	free(t->image);
	free(t->frame);
	free(t->at);
}
