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
	const struct image_desc **images = imagenumbers_list(&t->images);
	size_t nr_losses;

	if (!ot || !trees || !images) {
		free(ot);
		free(trees);
		free(images);
		return -ENOMEM;
	}
	list_trees(t, trees);
	ot->stream = in->stream;
	nr_losses = loss_list(in->lost, 0, ot->losses);
	ot->flush = (struct flush_stacks){ .streams = { &ot->stream, 1, ot->losses,
							nr_losses },
					   .trees = trees,
					   .nr_trees = t->trees.nr,
					   .images = images,
					   .nr_images = t->images.nr };
	*out = ot;
	return 0;
}
