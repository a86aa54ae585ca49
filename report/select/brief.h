/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * brief.h - the figures that a report prints before its rows
 */
#ifndef CPI_REPORT_BRIEF_H
#define CPI_REPORT_BRIEF_H

#include "report/select/events.h"
#include "report/select/select.h"

/* Amounts are of the first event: in ns if it measures time, else in its own unit. */
struct brief {
	uint64_t from_ns, to_ns; /* start of the first epoch, end of the last */
	uint64_t covered_ns;     /* Σ length of the epochs */
	bool open;               /* an epoch has not ended */
	double sampled;          /* amount of all samples that are not lost */
	double unknown;          /* amount of the samples without an image */
	uint64_t nr_samples;     /* of the first event */
	uint64_t lost;           /* of all selected streams */
};

void brief_make(const struct selection *sel, const struct events *ev,
		struct brief *out);

#endif
