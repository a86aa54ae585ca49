/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_evidence.h - the time of cpi top's rows, from ticks and from random samples
 *
 * A look has few samples. So whether a row departs (evidence.h) is decided by all that
 * the epochs have of it, and the look gets what its samples then stand for.
 *
 * Memory: TOP_ROWS rows of each kind, of some 200 bytes; further ones are TOP_OTHER.
 */
#ifndef CPI_REPORT_TOP_EVIDENCE_H
#define CPI_REPORT_TOP_EVIDENCE_H

#include "report/profile/top.h"
#include "report/select/evidence.h"

/* Starts as { 0 }. */
struct top_evidence {
	struct hmap rows[NR_TOP_BY];
	struct event_sum random[NR_TOP_BY], ticks[NR_TOP_BY];
};

void top_evidence_fini(struct top_evidence *e);

/* Samples of one event in a row. */
struct top_amount {
	bool ticks, kernel;
	uint64_t n;    /* not added before */
	bool fresh;    /* since the last look */
	double weight; /* of each */
};

/* Adds samples to a row of procedures or of commands; image may be NULL. 0 or -ENOMEM.
 */
int top_evidence_add(struct top_evidence *e, enum top_by by, const char *name,
		     const char *image, const struct top_amount *amount);

/*
 * Adds the time of the fresh samples to the newest look's rows, and forgets that they
 * are. 0 or -ENOMEM.
 */
int top_evidence_put(struct top_evidence *e, const struct events *ev, struct top *t);

#endif
