/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timesource.h - the source of a report's time: counts, or what hardware measured
 *
 * Counts of samples, or weights in their place: those of TIP records, which the
 * database has, or those that analysis/freq/precise.h makes of what hardware measured.
 * For these, a first reading of the selection finds out what there is; the best is
 * taken, of one event: retire latencies, cycles of branch stacks, samples that hardware
 * places itself.
 *
 * The cycles of retire latencies stand for as many as instructions stand for the one
 * that was sampled. Those of branch stacks stand, where the event measures time, for
 * the time of its samples in the images that have such cycles; else for themselves.
 */
#ifndef CPI_REPORT_TIMESOURCE_H
#define CPI_REPORT_TIMESOURCE_H

#include "analysis/image/image.h"
#include "analysis/isa/isa.h"
#include "report/select/attribution.h"
#include "report/select/events.h"
#include "report/select/select.h"

enum time_kind {
	TIME_OF_SAMPLES, /* or of weights that their profile has */
	TIME_OF_LATENCIES,
	TIME_OF_RUNS,
};

/* Starts as { 0 }. */
struct time_source {
	enum attribution asked;
	enum time_kind kind;
	const char
		*name; /* of what --attribution=precise is, "branch_stacks"; or NULL */
	const char *text; /* the same for people, of the first event */
	double weight; /* of latencies: cycles that a sample has; of runs: ns that one
			  of their cycles stands for */
	const struct selection *sel;
	const struct events *ev;
	struct isa *isa; /* of machine, for runs */
	enum machine machine;
};

/*
 * Finds what --attribution asks for, and puts the event that has it in front of ev's
 * others, as time. 0, -ENOMEM, the database's error, or, where there is none of it,
 * -CPI_EEMPTY: all are logged. sel and ev are to outlive t.
 */
int time_source_open(struct time_source *t, enum attribution asked,
		     const struct selection *sel, struct events *ev);
void time_source_close(struct time_source *t);

/* Whether a stream's samples are looked at. */
bool time_source_takes(const struct time_source *t, size_t stream);

/* Whether an event's samples are time where they have no image, or are idle. */
bool time_source_counts(const struct time_source *t, size_t event);

/*
 * Adds the time of an image's profile p to it, as weights, if hardware measured it. im
 * is NULL where the image cannot be opened. The first of its profiles of event 0 gets
 * the runs of all of that event's streams. 0 or an error, not logged.
 */
int time_source_weigh(struct time_source *t, const struct query_image *image,
		      struct image *im, size_t stream, bool first, struct profile *p);

/* Then: the weight that a sample has; 0: counts are time, and weights are none. */
double time_source_unit(const struct time_source *t, size_t stream,
			const struct profile *p);

/* ... and where they are, as analysis/freq/landing.h has it. */
enum landing time_source_landing(const struct time_source *t, size_t stream,
				 const struct profile *p);

#endif
