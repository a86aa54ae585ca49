/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/outbox_windows.h"

#include <errno.h>
#include <stdlib.h>

void outbox_window_sets_free(struct outbox_window_sets *s)
{
	if (!s)
		return;
	free((void *)s->flush.sets);
	free((void *)s->flush.edges);
	free((void *)s->flush.images);
	windowtally_free(s->tally);
	free(s);
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
						   .windows = set->windows };
	}
	f->sets = sets;
	return 0;
}

int outbox_window_sets_new(const struct outbox_windows *in,
			   struct outbox_window_sets **out)
{
	const struct windowtally *t = in->tally;
	struct outbox_window_sets *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->stream = in->stream;
	s->flush.streams =
		(struct flush_streams){ &s->stream, 1, s->losses,
					loss_list(t->tally->loss[0], 0, s->losses) };
	err = list_sets(&s->flush, t);
	if (!err)
		err = outbox_list_edges(t->tally, &s->flush.edges, &s->flush.nr_edges);
	s->flush.images = imagenumbers_list(&t->images);
	s->flush.nr_images = t->images.nr;
	if (!s->flush.images)
		err = -ENOMEM;
	if (err) {
		outbox_window_sets_free(s);
		return err;
	}
	*out = s;
	return 0;
}
