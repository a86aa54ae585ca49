/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records.h - what hardware recorded of the sampled instructions, as a report
 *
 * Records are of one event each: streams of it are put together, and their mean period
 * stands for all.
 */
#ifndef CPI_TOOLS_RECORDS_H
#define CPI_TOOLS_RECORDS_H

#include "analysis/rates.h"
#include "tools/list.h"
#include "tools/ranking.h"

struct records_event {
	uint64_t n;    /* records */
	double weight; /* Σ over them */
};

struct records_report {
	struct listing *l;
	struct spots spots; /* with records, the most of them first */
	struct records_event event[EVENTS_MAX];
	struct isa *isa;
	enum machine machine;
	struct query_image image; /* whose rows are being read; its name is owned */
	struct records *sum[EVENTS_MAX]; /* of the image, by event */
};

/*
 * Finds the instructions with the most records: of l->place, where that is set. Errors
 * are logged but for -ENOMEM; r is to be freed in any case.
 */
int records_find(struct records_report *r, struct listing *l);
void records_fini(struct records_report *r);

/* Instructions that a record stands for; NAN where a period is time. */
double records_period(const struct records_report *r, const struct spot *spot);

/* All of it, in the format of the options. 0 or -ENOMEM. */
int records_print_text(struct records_report *r);
int records_print_csv(struct records_report *r);
int records_print_json(struct records_report *r);

#endif
