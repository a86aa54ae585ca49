/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_feed.h - the new samples of a growing database, for cpi top
 *
 * Each look asks cpid to flush, which costs cpid some 10 ms. Then it reads the epochs
 * that were open when the feed began, and later ones. Symbols are looked up only for
 * counts that changed since the last look.
 *
 * Memory: the counts of those epochs, and a few open images.
 */
#ifndef CPI_REPORT_TOP_FEED_H
#define CPI_REPORT_TOP_FEED_H

#include "report/profile/top.h"
#include "report/select/select.h"

struct top_feed;

/* The figures of a look that are not rows. */
struct top_facts {
	char host[64],
		event[64]; /* the event whose time the rows show; safe to print */
	unsigned int nr_cpus;
	double elapsed_ns;   /* since the previous look */
	uint64_t nr_samples; /* new samples of the events that are shown */
	uint64_t nr_lost;    /* new losses of all events */
	bool no_cgroups;     /* there are samples, but no profiles by cgroup */
	bool no_threads;     /* there are samples, but no profiles by thread */
	char stale[256];     /* the reason why cpid did not store; "" if it did */
};

/* Returns the reason why there are no rows of this kind; NULL: there may be rows. */
const char *top_feed_missing(const struct top_facts *facts, enum top_by by);

/*
 * Prepares looks at the database, event, image and contexts of req, which must outlive
 * the feed. The first look only sets the start of the second. Errors are logged.
 * Returns 0 or a negative error.
 */
int top_feed_open(const struct select_request *req, struct top_feed **out);
void top_feed_close(struct top_feed *f); /* accepts NULL */

/* Begins a look of t and fills it. Errors are logged. Returns 0 or a negative error. */
int top_feed_look(struct top_feed *f, struct top *t, struct top_facts *facts);

/* The value of --epoch that selects the epochs of the feed. */
const char *top_feed_epochs(const struct top_feed *f);

/* The value of --db that selects its database. */
const char *top_feed_db(const struct top_feed *f);

#endif
