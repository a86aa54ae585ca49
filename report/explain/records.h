/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records.h - a report of hardware records by instruction
 *
 * The records of all streams of an event are added; the period of the event is
 * the mean over its records.
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
	struct ranked_insns insns; /* the one with the most records first */
	struct records_event event[EVENTS_MAX];
};

/*
 * Finds the instructions with the most records: at most limit of them (0: the default),
 * in a place, or everywhere if place is NULL. Errors are logged, except -ENOMEM. The
 * caller frees out->insns with ranked_insns_fini(), also after an error.
 */
int records_find(struct scope *s, const struct found_place *place, uint64_t limit,
		 struct records_report *out);

/* Number of instructions that a record stands for; NAN if the period is time. */
double records_period(const struct records_report *r, const struct ranked_insn *ranked);

#endif
