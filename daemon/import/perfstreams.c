/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfstreams.c - sorts a recording's samples into streams of one period each
 */
#include "config.h"

#include "daemon/import/perfstreams.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

#define CLASSES 64

/* Samples of one event whose periods have the same highest bit. */
struct class
{
	uint64_t nr, sum;
	uint64_t error; /* of nr, how much the second stream is behind */
	int stream;     /* the first; the second, if there is a rest, is the next one */
};

struct event_classes {
	struct class class[CLASSES];
};

struct perfstreams {
	struct event_classes *event;
	size_t nr_events;
	struct perfstream *stream;
	uint64_t *nr_samples; /* by stream */
	size_t nr;
};

struct perfstreams *perfstreams_new(void)
{
	return calloc(1, sizeof(struct perfstreams));
}

void perfstreams_free(struct perfstreams *s)
{
	if (!s)
		return;
	free(s->event);
	free(s->stream);
	free(s->nr_samples);
	free(s);
}

static struct class *class_of(struct perfstreams *s, int event, uint64_t period)
{
	return &s->event[event].class[63 - __builtin_clzll(period)];
}

int perfstreams_note(struct perfstreams *s, int event, uint64_t period)
{
	struct class *c;

	while (s->nr_events <= (size_t)event) {
		if (GROW(s->event, s->nr_events))
			return -ENOMEM;
		s->event[s->nr_events++] = (struct event_classes){ 0 };
	}
	period += !period;
	c = class_of(s, event, period);
	if (__builtin_add_overflow(c->sum, period, &c->sum) || c->sum > INT64_MAX)
		return -EOVERFLOW;
	c->nr++;
	return 0;
}

static void make_streams(struct perfstreams *s, int event, struct class *c)
{
	uint64_t rest = c->sum % c->nr;

	c->stream = (int)s->nr;
	s->nr_samples[s->nr] = c->nr - rest;
	s->stream[s->nr++] = (struct perfstream){ event, c->sum / c->nr };
	if (!rest)
		return;
	s->nr_samples[s->nr] = rest;
	s->stream[s->nr++] = (struct perfstream){ event, c->sum / c->nr + 1 };
}

int perfstreams_make(struct perfstreams *s)
{
	size_t max = 2 * CLASSES * s->nr_events + 1;

	s->stream = calloc(max, sizeof(*s->stream));
	s->nr_samples = calloc(max, sizeof(*s->nr_samples));
	if (!s->stream || !s->nr_samples)
		return -ENOMEM;
	for (size_t e = 0; e < s->nr_events; e++) {
		for (int i = 0; i < CLASSES; i++) {
			if (s->event[e].class[i].nr)
				make_streams(s, (int)e, &s->event[e].class[i]);
		}
	}
	return 0;
}

size_t perfstreams_nr(const struct perfstreams *s)
{
	return s->nr;
}

const struct perfstream *perfstreams_get(const struct perfstreams *s, size_t i)
{
	return &s->stream[i];
}

int perfstreams_take(struct perfstreams *s, int event, uint64_t period)
{
	struct class *c;

	period += !period;
	if ((size_t)event >= s->nr_events)
		return -1;
	c = class_of(s, event, period);
	if (!c->nr)
		return -1;
	c->error += c->sum % c->nr;
	if (c->error < c->nr)
		return c->stream;
	c->error -= c->nr;
	return c->stream + 1;
}

int perfstreams_main(const struct perfstreams *s, int event)
{
	int found = -1;

	for (size_t i = 0; i < s->nr; i++) {
		if ((event < 0 || s->stream[i].event == event) &&
		    (found < 0 || s->nr_samples[i] > s->nr_samples[found]))
			found = (int)i;
	}
	return found;
}
