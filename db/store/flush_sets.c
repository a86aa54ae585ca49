/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flush_sets.c - stores the stacks, windows, accesses and edges of a flush
 *
 * All stacks (or windows, or edges) with the same key form a set, which is stored as a
 * blob in one row. A flush's set is merged with the set in that row (set_rows.h).
 */
#include "config.h"

#include <errno.h>

#include "db/core/intern.h"
#include "db/core/set_rows.h"
#include "db/core/tallies.h"
#include "db/profile/context.h"
#include "db/profile/stream_account.h"
#include "db/store/flush_kind.h"

/* Sets the key of the row of a stream and context; "" is context 0. */
static int find_row(struct merge *m, int64_t stream, const char *context,
		    struct set_key *key)
{
	*key = (struct set_key){ .epoch = m->epoch, .stream = stream };
	return *context ? intern_context(m->h, context, &key->context) : 0;
}

/* Gets the id of an image; NULL is the unknown image, 0. */
static int find_image(struct merge *m, const struct image_desc *desc, int64_t *id)
{
	*id = 0;
	return desc ? merge_image_id(m, desc, id) : 0;
}

/* Adds a set to its row, with the kind's statements. */
static int add_set(struct merge *m, const struct set_kind *kind,
		   const struct set_key *key, void *set, const uint32_t *map,
		   uint32_t nr_map)
{
	size_t i = 0;

	while (set_kinds[i] != kind)
		i++;
	return set_adder_add(m->h, &m->adder[i], kind, key, set, map, nr_map);
}

int merge_edges(struct merge *m, const struct flush_part *part,
		const struct flush_edges *edges, size_t nr)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		const struct flush_edges *e = &edges[i];
		struct set_key key = { .epoch = m->epoch,
				       .stream = part->id[e->stream],
				       .kind = e->kind };

		err = find_image(m, e->image, &key.image);
		if (!err)
			err = find_image(m, e->target, &key.target);
		if (!err)
			err = add_set(m, &edge_set, &key, e->edges, NULL, 0);
	}
	return err;
}

static bool describe_stacks(const struct flush *f, struct flush_part *part)
{
	if (!f->stacks)
		return false;
	part->streams = f->stacks->streams;
	part->images = f->stacks->images;
	part->nr_images = f->stacks->nr_images;
	return true;
}

/*
 * Whether samples in this context count for the stream's total: each stack is in
 * exactly one of these contexts.
 */
static bool counts_once(const char *context)
{
	return !*context || context_kinds(context) & 1u << CONTEXT_COMM;
}

static int add_up_stacks(const struct flush *f, const struct flush_part *part)
{
	for (size_t i = 0; i < f->stacks->nr_trees; i++) {
		const struct flush_tree *t = &f->stacks->trees[i];

		if (!tallies_have(&part->streams, t->stream))
			return -EINVAL;
		if (counts_once(t->context))
			account_add(&part->stored[t->stream],
				    stack_tree_total(t->tree));
	}
	return 0;
}

static int merge_stacks(struct merge *m, const struct flush_part *part)
{
	int err = 0;

	for (size_t i = 0; !err && i < m->f->stacks->nr_trees; i++) {
		const struct flush_tree *t = &m->f->stacks->trees[i];
		struct set_key key;

		err = find_row(m, part->id[t->stream], t->context, &key);
		if (!err)
			err = add_set(m, &stack_set, &key, (void *)t->tree, part->map,
				      part->nr_images);
	}
	return err;
}

const struct flush_kind flush_stacks = {
	.tally = TALLY_STACKS,
	.describe = describe_stacks,
	.add_up = add_up_stacks,
	.merge = merge_stacks,
};

static bool describe_windows(const struct flush *f, struct flush_part *part)
{
	if (!f->windows)
		return false;
	part->streams = f->windows->streams;
	part->images = f->windows->images;
	part->nr_images = f->windows->nr_images;
	return true;
}

static int add_up_windows(const struct flush *f, const struct flush_part *part)
{
	const struct flush_windows *w = f->windows;

	for (size_t i = 0; i < w->nr_sets; i++) {
		const struct flush_window_set *s = &w->sets[i];

		if (!tallies_have(&part->streams, s->stream))
			return -EINVAL;
		if (!*s->context)
			account_add(&part->stored[s->stream], windows_seen(s->windows));
	}
	for (size_t i = 0; i < w->nr_edges; i++) {
		if (!tallies_have(&part->streams, w->edges[i].stream))
			return -EINVAL;
	}
	return 0;
}

static int merge_windows(struct merge *m, const struct flush_part *part)
{
	const struct flush_windows *w = m->f->windows;
	int err = 0;

	for (size_t i = 0; !err && i < w->nr_sets; i++) {
		const struct flush_window_set *s = &w->sets[i];
		struct set_key key;

		err = find_row(m, part->id[s->stream], s->context, &key);
		if (!err)
			err = find_image(m, s->image, &key.image);
		if (!err)
			err = add_set(m, &window_set, &key, s->windows, part->map,
				      part->nr_images);
		if (!err && s->accesses)
			err = add_set(m, &access_set, &key, s->accesses, part->map,
				      part->nr_images);
	}
	return err ? err : merge_edges(m, part, w->edges, w->nr_edges);
}

const struct flush_kind flush_windows = {
	.tally = TALLY_WINDOWS,
	.describe = describe_windows,
	.add_up = add_up_windows,
	.merge = merge_windows,
};
