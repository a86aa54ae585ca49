/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evidence.h - one time from all samples of it: random ones and the scheduler's ticks
 *
 * In user mode both say where time went (analysis/freq/combine.h). Where they agree,
 * a row's time comes from both. A row departs if chance does not explain the
 * difference: it has the random samples' time. So does the kernel, which ticks do not
 * see.
 *
 * A report finds its rows first, has them compared by evidence_fit(), and then knows
 * what each sample stands for.
 */
#ifndef CPI_REPORT_EVIDENCE_H
#define CPI_REPORT_EVIDENCE_H

#include "analysis/freq/combine.h"
#include "report/select/events.h"

/* Zeroed, it combines nothing: a sample stands for what ev has. */
struct evidence {
	bool both;    /* time is that of event 0 and of ticks */
	size_t ticks; /* the event */
	double scale; /* of ticks' time in rows that have not departed */
	struct combine_factors factors;
};

/* Whether there are two kinds of samples of time. */
void evidence_begin(struct evidence *e, const struct events *ev);

/*
 * Compares rows by their time in user mode. random and ticks are what all samples of
 * the two events stand for, the kernel's too. 0 or -ENOMEM. Where one kind has no
 * samples in user mode, no row departs, and the other kind's time is all there is.
 */
int evidence_fit(struct evidence *e, struct combine_row *rows, size_t nr,
		 const struct event_sum *random, const struct event_sum *ticks);

/*
 * The same of a part of the selection, whose rows depart as those of all of it: one
 * epoch may have fewer ticks for its time than another.
 */
void evidence_fit_part(struct evidence *e, const struct combine_row *rows, size_t nr,
		       const struct event_sum *random, const struct event_sum *ticks);

/* Whether samples of the event are time. */
bool evidence_counts(const struct evidence *e, size_t event);

/*
 * What a nanosecond of the event's samples counts in a row's time. random_only: the row
 * departs, or is the kernel's or idle.
 */
double evidence_factor(const struct evidence *e, size_t event, bool random_only);

#endif
