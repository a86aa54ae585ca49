/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records.h - what hardware recorded of the sampled instructions, as a report
 *
 * Streams of one event are added up, and their mean period stands for all of them.
 */
#ifndef CPI_REPORT_RECORDS_H
#define CPI_REPORT_RECORDS_H

#include "decode/rates.h"
#include "report/explain/ranking.h"

struct records_event {
	uint64_t n;    /* records */
	double weight; /* Σ over them */
};

struct records_report {
	const struct scope *scope;
	struct ranked_insns insns; /* with records, the most of them first */
	struct records_event event[EVENTS_MAX];
};

/*
 * Finds the instructions with the most records: at most limit of them (0: the default),
 * in a place, or everywhere if place is NULL. Errors are logged but for -ENOMEM. The
 * caller frees out->insns with ranked_insns_fini(), also after an error.
 */
int records_find(struct scope *s, const struct found_place *place, uint64_t limit,
		 struct records_report *out);

/* Instructions that a record stands for; NAN where a period is time. */
double records_period(const struct records_report *r, const struct ranked_insn *ranked);

#endif
