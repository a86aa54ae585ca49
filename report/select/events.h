/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events.h - streams put together by event
 *
 * Streams of one event with other periods, sources or CPU types are never added
 * by count: a sample weighs what it stands for (its period, in ns where the
 * event measures time, scaled up where the event was multiplexed). Shares are
 * shares of weight; raw counts are only for display.
 */
#ifndef CPI_REPORT_EVENTS_H
#define CPI_REPORT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/query/query.h"

#define EVENTS_MAX 32

/* Samples of one event, and what they stand for together. */
struct event_sum {
	uint64_t n;
	double weight;
};

struct selected_event {
	const char *name; /* the stream list's */
	bool is_time;     /* weights are ns */
	size_t nr_streams;
	bool mixed; /* its streams' samples weigh differently */
};

struct events {
	/* Those that measure time first, the scheduler's ticks last of them. */
	struct selected_event event[EVENTS_MAX];
	size_t nr;
	const struct query_streams *streams;
	size_t *of;     /* per stream: its event */
	double *weight; /* per stream: of one sample */
};

/*
 * clock_hz turns cycles into time; 0 where it is not known. streams must
 * outlive ev. Returns 0, -ENOMEM, -CPI_EEMPTY (no streams), or
 * -CPI_ELIMIT (more events than EVENTS_MAX).
 */
int events_init(struct events *ev, const struct query_streams *streams,
		uint64_t clock_hz);
void events_fini(struct events *ev);

/* Puts an event in front of the others, as one that measures time. */
void events_lead(struct events *ev, size_t event);

/* The event of a stream and a sample's weight in it; false for other streams. */
bool events_find(const struct events *ev, int64_t stream, size_t *event,
		 double *weight);

/* What a sample of the event's first stream stands for; above 0. */
double events_sample(const struct events *ev, size_t event);

/* What cpid calls samples at the scheduler's ticks: in user mode alone. */
#define EVENT_TICKS "ticks"

/* The event called name; ev->nr when there is none. */
size_t events_named(const struct events *ev, const char *name);

#endif
