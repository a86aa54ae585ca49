/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_feed.h - new samples of a growing database, for cpi top
 *
 * Each look asks cpid to flush, which costs it some 10 ms, and then reads the epochs
 * that were open when the feed began, and later ones. Counts that did not change since
 * the last look are not resolved to names again.
 *
 * Memory: the counts of those epochs, once, beside a few open images.
 */
#ifndef CPI_TOOLS_TOP_FEED_H
#define CPI_TOOLS_TOP_FEED_H

#include "report/profile/top.h"
#include "report/select/select.h"

struct top_feed;

#define TOP_NO_CGROUPS \
	"no profiles by cgroup: start cpid without --by, or with --by cgroup"

/* Facts of a look, beside its rows. */
struct top_facts {
	char host[64], event[64]; /* whose time the rows are of; made safe to show */
	unsigned int nr_cpus;
	double elapsed_ns;   /* since the look before */
	uint64_t nr_samples; /* of the events that are shown, since then */
	uint64_t nr_lost;    /* of all events, since then */
	bool no_cgroups;     /* there are samples, but none by cgroup */
	char stale[256];     /* why cpid did not store; "" when it did */
};

/*
 * Reads req's database, event, image and contexts; req must outlive the feed. The first
 * look only sets the start of the next one. Errors are logged. 0 or a negative error.
 */
int top_feed_open(const struct select_request *req, struct top_feed **out);
void top_feed_close(struct top_feed *f); /* accepts NULL */

/* Begins a look of t and fills it. Errors are logged. 0 or a negative error. */
int top_feed_look(struct top_feed *f, struct top *t, struct top_facts *facts);

/* The --epoch that selects the epochs of the feed. */
const char *top_feed_epochs(const struct top_feed *f);

/* The --db that selects its database. */
const char *top_feed_db(const struct top_feed *f);

#endif
