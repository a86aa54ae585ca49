/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_feed.h - what came to a growing database between two looks
 *
 * A look has cpid store what it took, which costs it some 10 ms, and then reads the
 * epochs that were open when the feed began, and later ones. What has not changed
 * since the last look is not decoded into names again.
 *
 * Memory: the counts of those epochs, once, beside a few open images.
 */
#ifndef CPI_TOOLS_TOP_FEED_H
#define CPI_TOOLS_TOP_FEED_H

#include "tools/cmd.h"
#include "tools/top.h"

struct top_feed;

/* What a look found beside the rows. */
struct top_facts {
	char host[64], event[64]; /* whose time the rows are of; made safe to show */
	unsigned int nr_cpus;
	double elapsed_ns;   /* since the look before */
	uint64_t nr_samples; /* of the event that is shown, since then */
	uint64_t nr_lost;    /* of all events, since then */
	char stale[256];     /* why cpid did not store; "" when it did */
};

/*
 * Of the options' database, event, image and command. The first look only says where
 * the next ones begin. Errors are logged. 0 or a negative error.
 */
int top_feed_open(const struct cmd_context *ctx, struct top_feed **out);
void top_feed_close(struct top_feed *f); /* accepts NULL */

/* Begins a look of t and fills it. Errors are logged. 0 or a negative error. */
int top_feed_look(struct top_feed *f, struct top *t, struct top_facts *facts);

/* What an --epoch is to be to select what the feed reads. */
const char *top_feed_epochs(const struct top_feed *f);

#endif
