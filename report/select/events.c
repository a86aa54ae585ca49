/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events.c - groups streams by event, and orders the events
 *
 * Events that measure time come first, because reports order their rows by the first
 * one. The scheduler's ticks may be biased, so they come after other events that
 * measure time.
 */
#include "config.h"

#include "report/select/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

static bool measures_time(const struct stream_desc *s, uint64_t clock_hz)
{
	return !strcmp(s->unit, "ns") || (!strcmp(s->unit, "cycles") && clock_hz);
}

static double sample_weight(const struct query_stream *s, uint64_t clock_hz)
{
	double w = s->desc.mean_period;

	if (!strcmp(s->desc.unit, "cycles") && clock_hz)
		w *= 1e9 / clock_hz;
	if (s->running_ns && s->running_ns < s->enabled_ns)
		w *= (double)s->enabled_ns / s->running_ns;
	return w;
}

enum rank { RANK_TIME, RANK_TICKS, RANK_EVENTS, NR_RANKS };

static enum rank rank_of(const struct stream_desc *s, uint64_t clock_hz)
{
	if (!measures_time(s, clock_hz))
		return RANK_EVENTS;
	return strcmp(s->event, EVENT_TICKS) != 0 ? RANK_TIME : RANK_TICKS;
}

/* Adds the events of the streams with this rank. */
static int add_events(struct events *ev, enum rank rank, uint64_t clock_hz)
{
	for (size_t i = 0; i < ev->streams->nr; i++) {
		const struct stream_desc *s = &ev->streams->stream[i].desc;

		if (rank_of(s, clock_hz) != rank || events_named(ev, s->event) < ev->nr)
			continue;
		if (ev->nr == EVENTS_MAX)
			return -CPI_ELIMIT;
		ev->event[ev->nr++] = (struct selected_event){
			.name = s->event,
			.is_time = rank != RANK_EVENTS,
		};
	}
	return 0;
}

static void add_streams(struct events *ev, uint64_t clock_hz)
{
	double first[EVENTS_MAX] = { 0 };

	for (size_t i = 0; i < ev->streams->nr; i++) {
		const struct query_stream *s = &ev->streams->stream[i];
		size_t at = events_named(ev, s->desc.event);
		struct selected_event *e = &ev->event[at];

		ev->of[i] = at;
		ev->weight[i] = sample_weight(s, clock_hz);
		if (!e->nr_streams++)
			first[at] = ev->weight[i];
		else if (ev->weight[i] != first[at])
			e->mixed = true;
	}
}

int events_init(struct events *ev, const struct query_streams *streams,
		uint64_t clock_hz)
{
	int err = 0;

	memset(ev, 0, sizeof(*ev));
	ev->streams = streams;
	if (!streams->nr)
		return -CPI_EEMPTY;
	for (enum rank r = 0; r < NR_RANKS && !err; r++)
		err = add_events(ev, r, clock_hz);
	if (err)
		return err;
	ev->of = calloc(streams->nr + 1, sizeof(*ev->of));
	ev->weight = calloc(streams->nr + 1, sizeof(*ev->weight));
	if (!ev->of || !ev->weight) {
		events_fini(ev);
		return -ENOMEM;
	}
	add_streams(ev, clock_hz);
	return 0;
}

void events_lead(struct events *ev, size_t event)
{
	const struct selected_event lead = ev->event[event];

	memmove(&ev->event[1], &ev->event[0], event * sizeof(lead));
	ev->event[0] = lead;
	ev->event[0].is_time = true;
	for (size_t i = 0; i < ev->streams->nr; i++) {
		if (ev->of[i] == event)
			ev->of[i] = 0;
		else if (ev->of[i] < event)
			ev->of[i]++;
	}
}

void events_fini(struct events *ev)
{
	free(ev->of);
	free(ev->weight);
	memset(ev, 0, sizeof(*ev));
}

bool events_find(const struct events *ev, int64_t stream, size_t *event, double *weight)
{
	const struct query_stream *s = query_stream_by_id(ev->streams, stream);

	if (!s)
		return false;
	*event = ev->of[s - ev->streams->stream];
	*weight = ev->weight[s - ev->streams->stream];
	return true;
}

double events_sample(const struct events *ev, size_t event)
{
	size_t i = 0;

	while (ev->of[i] != event)
		i++;
	return ev->weight[i] > 0 ? ev->weight[i] : 1;
}

size_t events_named(const struct events *ev, const char *name)
{
	size_t i = 0;

	while (i < ev->nr && strcmp(ev->event[i].name, name) != 0)
		i++;
	return i;
}
