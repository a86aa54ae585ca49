/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/outbox_trees.h"

#include <errno.h>
#include <stdlib.h>

void outbox_trees_free(struct outbox_trees *t)
{
	if (!t)
		return;
	free((void *)t->flush.trees);
	free((void *)t->flush.images);
	stacktally_free(t->tally);
	free(t);
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

int outbox_trees_new(const struct outbox_stacks *in, struct outbox_trees **out)
{
	const struct stacktally *t = in->tally;
	struct outbox_trees *ot = calloc(1, sizeof(*ot));
	struct flush_tree *trees = calloc(t->trees.nr + 1, sizeof(*trees));
	const struct image_desc **images = calloc(t->nr_images + 1, sizeof(*images));

	if (!ot || !trees || !images) {
		free(ot);
		free(trees);
		free(images);
		return -ENOMEM;
	}
	list_trees(t, trees);
	for (size_t i = 0; i < t->nr_images; i++)
		images[i] = t->image[i] ? &t->image[i]->desc : NULL;
	ot->stream = in->stream;
	ot->losses[0] = (struct flush_loss){ 0, LOSS_LOST, loss_name(SAMPLE_RING_LOST),
					     in->ring_lost };
	ot->losses[1] = (struct flush_loss){ 0, LOSS_LOST, loss_name(SAMPLE_NO_SPACE),
					     t->no_space };
	ot->flush = (struct flush_stacks){ .streams = &ot->stream,
					   .nr_streams = 1,
					   .trees = trees,
					   .nr_trees = t->trees.nr,
					   .losses = ot->losses,
					   .nr_losses = 2,
					   .images = images,
					   .nr_images = t->nr_images };
	*out = ot;
	return 0;
}
