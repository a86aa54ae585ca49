/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timesource.h - the source of a report's time: counts, or what hardware measured
 *
 * Time comes from counts of samples or from weights. Weights are those of TIP
 * records in the database, or those that analysis/freq/precise.h computes from
 * what hardware measured. For --attribution=tip or precise the selection is first
 * read once to find out what it has. For precise, the first of these that any
 * event has is used: retire latencies, cycles of branch stacks, samples whose
 * location hardware records. That event then leads the report.
 *
 * A retire latency is multiplied by the number of instructions that one sample
 * represents. If the event measures time, the cycles of its branch stacks are scaled:
 * in the images that have such cycles, their sum becomes the time of the event's
 * samples. Otherwise they are used as they are.
 */
#ifndef CPI_REPORT_TIMESOURCE_H
#define CPI_REPORT_TIMESOURCE_H

#include "analysis/image/image.h"
#include "analysis/isa/isa.h"
#include "report/select/attribution.h"
#include "report/select/events.h"
#include "report/select/select.h"

enum time_kind {
	TIME_OF_SAMPLES, /* counts, or weights that the database has */
	TIME_OF_LATENCIES,
	TIME_OF_RUNS,
};

/* Starts as { 0 }. */
struct time_source {
	enum attribution asked;
	enum time_kind kind;
	const char
		*name; /* source of --attribution=precise, "branch_stacks"; or NULL */
	const char *text; /* describes the source; has %s for the first event */
	double weight; /* TIME_OF_LATENCIES: cycles per sample; TIME_OF_RUNS, the cycles
			  of branch stacks: ns per cycle */
	const struct selection *sel;
	const struct events *ev;
	struct isa *isa; /* decoder for `machine`; used with TIME_OF_RUNS */
	enum machine machine;
};

/*
 * Finds the source that --attribution asks for, and moves its event to the front of ev
 * (events_lead()). Returns 0, -ENOMEM, an error of the database, or -CPI_EEMPTY if the
 * selection has no such source. All errors are logged. sel and ev must outlive t.
 */
int time_source_open(struct time_source *t, enum attribution asked,
		     const struct selection *sel, struct events *ev);
void time_source_close(struct time_source *t);

/* Whether a report uses the stream's samples. */
bool time_source_takes(const struct time_source *t, size_t stream);

/* Whether samples of the event without an image, or of idle, count as time. */
bool time_source_counts(const struct time_source *t, size_t event);

/*
 * If hardware measured the time of an image, adds it as weights to the image's profile
 * p. im is NULL if the image cannot be opened. first: p is the image's first profile of
 * event 0; only that profile gets the branch-stack cycles, of all streams of the event.
 * Returns 0 or an error, which is not logged.
 */
int time_source_weigh(struct time_source *t, const struct query_image *image,
		      struct image *im, size_t stream, bool first, struct profile *p);

/* After time_source_weigh(): the weight of one sample; 0: counts measure time. */
double time_source_unit(const struct time_source *t, size_t stream,
			const struct profile *p);

/* The landing model of the profile's samples or weights (analysis/freq/landing.h). */
enum landing time_source_landing(const struct time_source *t, size_t stream,
				 const struct profile *p);

#endif
