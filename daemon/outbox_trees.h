/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outbox_trees.h - call stacks as a flush wants them
 */
#ifndef CPI_DAEMON_OUTBOX_TREES_H
#define CPI_DAEMON_OUTBOX_TREES_H

#include "daemon/outbox.h"

/* flush points into the rest, and into the tally. */
struct outbox_trees {
	struct flush_stacks flush;
	struct flush_stream stream;
	struct flush_loss losses[NR_LOSSES];
	struct stacktally *tally; /* NULL: not taken over yet */
};

/* The tally stays its owner's until tally is set. 0 or -ENOMEM. */
int outbox_trees_new(const struct outbox_stacks *in, struct outbox_trees **out);
void outbox_trees_free(struct outbox_trees *t); /* accepts NULL */

#endif
