/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evidence.h - combines random samples and the scheduler's ticks into one time
 *
 * Both kinds of samples show where the time went (analysis/freq/combine.h). If they
 * agree for a row, the row's time comes from both. A row departs if chance does not
 * explain the difference between them; then only the random samples count.
 *
 * User mode and the kernel are compared separately, each with a scale of its own. So
 * random samples alone decide how the time is divided between the two. Older epochs
 * have ticks of user mode only; these do not change the kernel's rows. A row that has
 * time in both departs if one of the two does.
 *
 * A report first finds its rows. Then evidence_fit() compares their times, and after
 * that evidence_factor() says how much each sample counts.
 */
#ifndef CPI_REPORT_EVIDENCE_H
#define CPI_REPORT_EVIDENCE_H

#include "analysis/freq/combine.h"
#include "report/select/events.h"

enum evidence_mode { EVIDENCE_USER, EVIDENCE_KERNEL, NR_EVIDENCE_MODES };

/* A row's time by both kinds of samples, in each mode. */
struct evidence_row {
	struct combine_row in[NR_EVIDENCE_MODES];
	bool departs;
};

/* How the samples of a row, or of a procedure, count as time. */
struct evidence_use {
	enum evidence_mode mode;
	bool random_only; /* the row departs, or is idle */
};

/* Zeroed, it combines nothing: samples have the weights of struct events. */
struct evidence {
	bool both;    /* event 0 and ticks both measure time */
	size_t ticks; /* index of the event of ticks */
	/*
	 * By enum evidence_mode. The scale is (time by random samples) / (time by
	 * ticks), over the rows that do not depart.
	 */
	double scale[NR_EVIDENCE_MODES];
	struct combine_factors factors[NR_EVIDENCE_MODES];
};

/* Sets e->both and e->ticks; both is false without ticks or other samples of time. */
void evidence_begin(struct evidence *e, const struct events *ev);

/*
 * Compares rows by their times, and marks those that depart. `random` and `ticks` are
 * the sums over all samples of event 0 and of the ticks. If one kind has no samples in
 * a mode, no row departs in it and all samples count fully. Returns 0 or -ENOMEM.
 */
int evidence_fit(struct evidence *e, struct evidence_row *rows, size_t nr,
		 const struct event_sum *random, const struct event_sum *ticks);

/*
 * Computes scale and factors for a part of the selection, because one epoch may
 * have fewer ticks per second than another. Before the call, the caller sets the
 * member `departs` of each row to what evidence_fit() found for the same row in
 * the whole selection.
 */
void evidence_fit_part(struct evidence *e, const struct evidence_row *rows, size_t nr,
		       const struct event_sum *random, const struct event_sum *ticks);

/* Whether samples of the event count as time. */
bool evidence_counts(const struct evidence *e, size_t event);

/* Returns the factor for the weights of the event's samples in a row's time. */
double evidence_factor(const struct evidence *e, size_t event, struct evidence_use use);

/* Returns a row's time in one mode, from its time by both kinds of samples. */
double evidence_time(const struct evidence *e, struct evidence_use use,
		     double random_ns, double ticks_ns);

#endif
