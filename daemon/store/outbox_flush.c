/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outbox_flush.c - makes a struct flush that points into the tallies
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/store/outbox_private.h"

static const struct image_desc *desc_of(const struct known_image *image)
{
	return image ? &image->desc : NULL;
}

static int list_streams(struct flush *f, const struct outbox_flush *in)
{
	struct flush_stream *streams = calloc(in->nr_streams + 1, sizeof(*streams));

	if (!streams)
		return -ENOMEM;
	for (int i = 0; i < in->nr_streams; i++)
		streams[i] = in->streams[i];
	f->streams = streams;
	f->nr_streams = in->nr_streams;
	return 0;
}

static int list_profiles(struct flush *f, const struct tally *t)
{
	struct flush_profile *profiles = calloc(t->profiles.nr + 1, sizeof(*profiles));
	struct hnode *n, *next;

	if (!profiles)
		return -ENOMEM;
	hmap_for_each (&t->profiles, n, next) {
		struct tally_profile *p = container_of(n, struct tally_profile, node);

		profiles[f->nr_profiles++] =
			(struct flush_profile){ .image = desc_of(p->image),
						.stream = p->event,
						.context = p->context,
						.profile = p->profile };
	}
	f->profiles = profiles;
	return 0;
}

static int list_comms(struct flush *f, const struct tally *t)
{
	struct flush_comm *comms = calloc(t->comms.nr + 1, sizeof(*comms));
	struct hnode *n, *next;

	if (!comms)
		return -ENOMEM;
	hmap_for_each (&t->comms, n, next) {
		struct tally_comm *c = container_of(n, struct tally_comm, node);

		comms[f->nr_comms++] = (struct flush_comm){ .image = desc_of(c->image),
							    .stream = c->event,
							    .comm = c->comm,
							    .n = c->n };
	}
	f->comms = comms;
	return 0;
}

static int list_edges(const struct tally *t, const struct flush_edges **out, size_t *nr)
{
	struct flush_edges *edges = calloc(t->edges.nr + 1, sizeof(*edges));
	struct hnode *n, *next;
	size_t i = 0;

	if (!edges)
		return -ENOMEM;
	hmap_for_each (&t->edges, n, next) {
		struct tally_edges *e = container_of(n, struct tally_edges, node);

		edges[i++] = (struct flush_edges){ .image = desc_of(e->image),
						   .target = desc_of(e->target),
						   .stream = e->event,
						   .kind = e->kind,
						   .edges = e->edges };
	}
	*out = edges;
	*nr = i;
	return 0;
}

static int list_losses(struct flush *f, const struct tally *t, int nr_events)
{
	struct flush_loss *losses = calloc(nr_events * NR_LOSSES + 1, sizeof(*losses));

	if (!losses)
		return -ENOMEM;
	for (int e = 0; e < nr_events; e++)
		f->nr_losses += loss_list(t->loss[e], e, losses + f->nr_losses);
	f->losses = losses;
	return 0;
}

static void list_trees(const struct stacktally *t, struct flush_tree *trees)
{
	struct hnode *n, *next;
	size_t nr = 0;

	hmap_for_each (&t->trees, n, next) {
		const struct stacktally_tree *tree =
			container_of(n, struct stacktally_tree, node);

		trees[nr++] = (struct flush_tree){ 0, tree->context, tree->tree };
	}
}

static int list_stacks(struct stacks_part *s, const struct outbox_stacks *in)
{
	const struct stacktally *t = in->tally;
	struct flush_tree *trees = calloc(t->trees.nr + 1, sizeof(*trees));

	s->stream = in->stream;
	s->flush = (struct flush_stacks){
		.streams = { &s->stream, 1, s->losses,
			     loss_list(in->lost, 0, s->losses) },
		.trees = trees,
		.nr_trees = t->trees.nr,
		.images = imagenumbers_list(&t->images),
		.nr_images = t->images.nr,
	};
	if (!trees || !s->flush.images)
		return -ENOMEM;
	list_trees(t, trees);
	return 0;
}

static int list_sets(struct flush_windows *f, const struct windowtally *t)
{
	struct flush_window_set *sets = calloc(t->sets.nr + 1, sizeof(*sets));
	struct hnode *n, *next;

	if (!sets)
		return -ENOMEM;
	hmap_for_each (&t->sets, n, next) {
		struct windowtally_set *set =
			container_of(n, struct windowtally_set, node);

		if (!windows_seen(set->windows))
			continue;
		sets[f->nr_sets++] =
			(struct flush_window_set){ .image = &set->image->desc,
						   .context = set->context,
						   .windows = set->windows,
						   .accesses = set->accesses };
	}
	f->sets = sets;
	return 0;
}

static int list_windows(struct windows_part *w, const struct outbox_windows *in)
{
	const struct windowtally *t = in->tally;
	struct flush_windows *f = &w->flush;
	int err;

	w->stream = in->stream;
	f->streams =
		(struct flush_streams){ &w->stream, 1, w->losses,
					loss_list(t->tally->loss[0], 0, w->losses) };
	f->images = imagenumbers_list(&t->images);
	f->nr_images = t->images.nr;
	err = f->images ? list_sets(f, t) : -ENOMEM;
	return err ? err : list_edges(t->tally, &f->edges, &f->nr_edges);
}

static int list_all(struct flush_item *i, const struct outbox_flush *in)
{
	struct flush *f = &i->flush;
	int err = list_streams(f, in);

	if (!err)
		err = list_profiles(f, in->tally);
	if (!err)
		err = list_comms(f, in->tally);
	if (!err)
		err = list_edges(in->tally, &f->edges, &f->nr_edges);
	if (!err)
		err = list_losses(f, in->tally, in->nr_streams);
	if (!err && in->stacks)
		err = list_stacks(&i->stacks, in->stacks);
	if (!err && in->windows)
		err = list_windows(&i->windows, in->windows);
	return err ? err : outbox_captures_take(&i->captures, in);
}

static void take_over(struct flush_item *i, const struct outbox_flush *in)
{
	const struct outbox_captures *c = &i->captures;
	struct flush *f = &i->flush;

	f->symbols = c->symbols;
	f->nr_symbols = c->nr_symbols;
	f->codes = c->codes;
	f->nr_codes = c->nr_codes;
	i->tally = in->tally;
	if (in->stacks) {
		i->stacks.tally = in->stacks->tally;
		f->stacks = &i->stacks.flush;
	}
	if (in->windows) {
		i->windows.tally = in->windows->tally;
		f->windows = &i->windows.flush;
	}
}

int flush_item_new(const struct outbox_flush *in, uint64_t seq, struct flush_item **out)
{
	struct flush_item *i = calloc(1, sizeof(*i));
	int err = i ? list_all(i, in) : -ENOMEM;

	if (err) {
		flush_item_free(i);
		return err;
	}
	i->item.kind = ITEM_FLUSH;
	i->flush.seq = seq;
	i->flush.from_ns = in->from_ns;
	i->flush.to_ns = in->to_ns;
	i->flush.duration_ns = in->duration_ns;
	take_over(i, in);
	*out = i;
	return 0;
}

void flush_item_free(struct flush_item *i)
{
	if (!i)
		return;
	free((void *)i->flush.streams);
	free((void *)i->flush.profiles);
	free((void *)i->flush.comms);
	free((void *)i->flush.edges);
	free((void *)i->flush.losses);
	tally_free(i->tally);
	free((void *)i->stacks.flush.trees);
	free((void *)i->stacks.flush.images);
	stacktally_free(i->stacks.tally);
	free((void *)i->windows.flush.sets);
	free((void *)i->windows.flush.edges);
	free((void *)i->windows.flush.images);
	windowtally_free(i->windows.tally);
	outbox_captures_fini(&i->captures);
	free(i);
}

size_t flush_item_memory(const struct flush_item *i)
{
	return sizeof(*i) + tally_memory(i->tally) +
	       (i->stacks.tally ? stacktally_memory(i->stacks.tally) : 0) +
	       (i->windows.tally ? windowtally_memory(i->windows.tally) : 0) +
	       outbox_captures_memory(&i->captures);
}
