/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * brief.h - what a reader has to know of a selection before its rows, as figures
 */
#ifndef CPI_REPORT_BRIEF_H
#define CPI_REPORT_BRIEF_H

#include "report/select/events.h"
#include "report/select/select.h"

/* Amounts are of the first event: ns if that measures time, else what it counts. */
struct brief {
	uint64_t from_ns, to_ns;   /* of the first epoch to the last */
	uint64_t covered_ns;       /* the epochs' lengths, added up */
	bool open;                 /* one goes on */
	double sampled, unknown;   /* amounts: all but lost samples; without an image */
	uint64_t nr_samples, lost; /* of the event; of all selected streams */
};

void brief_make(const struct selection *sel, const struct events *ev,
		struct brief *out);

#endif
