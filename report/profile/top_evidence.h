/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_evidence.h - combines ticks and random samples into the time of cpi top's rows
 *
 * A look has few samples. So all samples of a row so far decide whether ticks count for
 * it (evidence.h), and by which factors. The look's own samples are then multiplied by
 * these factors.
 *
 * Memory: TOP_ROWS rows of each kind, each some 300 bytes; further rows are TOP_OTHER.
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
	uint64_t n;    /* samples that were not added before */
	bool fresh;    /* they were taken since the last look */
	double weight; /* of each sample */
};

/* Adds samples to a row. image may be NULL. Returns 0 or -ENOMEM. */
int top_evidence_add(struct top_evidence *e, enum top_by by, const char *name,
		     const char *image, const struct top_amount *amount);

/*
 * Adds the time of the fresh samples to the rows of the newest look. After that no
 * sample is fresh. Returns 0 or -ENOMEM.
 */
int top_evidence_put(struct top_evidence *e, const struct events *ev, struct top *t);

#endif
