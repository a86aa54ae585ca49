/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events.h - groups streams by event
 *
 * Streams of one event may have different periods, sources or CPU types, so their
 * counts are never added. Each sample has a weight: its period, in ns if the event
 * measures time, scaled up if the event was multiplexed. Weights are added, and shares
 * are shares of weight; counts are only shown.
 */
#ifndef CPI_REPORT_EVENTS_H
#define CPI_REPORT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/query/query.h"

#define EVENTS_MAX 32

/* The number of samples of an event, and Σ of their weights. */
struct event_sum {
	uint64_t n;
	double weight;
};

struct selected_event {
	const char *name; /* belongs to the list of streams */
	bool is_time;     /* weights are ns */
	size_t nr_streams;
	bool mixed; /* its streams have different weights per sample */
};

struct events {
	/*
	 * First the events that measure time, ticks last among these; then the others.
	 */
	struct selected_event event[EVENTS_MAX];
	size_t nr;
	const struct query_streams *streams;
	size_t *of;     /* by stream: its event */
	double *weight; /* by stream: the weight of one sample */
};

/*
 * clock_hz converts cycles to time; 0: not known. streams must outlive ev. Returns 0,
 * -ENOMEM, -CPI_EEMPTY (no streams), or -CPI_ELIMIT (more than EVENTS_MAX events).
 */
int events_init(struct events *ev, const struct query_streams *streams,
		uint64_t clock_hz);
void events_fini(struct events *ev);

/* Moves an event to the front, and treats it as one that measures time. */
void events_lead(struct events *ev, size_t event);

/*
 * Finds a stream's event and the weight of a sample; false: it is not in ev->streams.
 */
bool events_find(const struct events *ev, int64_t stream, size_t *event,
		 double *weight);

/* Returns the weight of a sample of the event's first stream; above 0. */
double events_sample(const struct events *ev, size_t event);

/* The event name of samples at the scheduler's ticks. */
#define EVENT_TICKS "ticks"

/* Returns the event called name; ev->nr if there is none. */
size_t events_named(const struct events *ev, const char *name);

#endif
