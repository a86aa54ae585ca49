/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfstreams.h - a recording's samples, sorted into streams of one period each
 *
 * A stream has one mean period, but where perf kept to a frequency each sample has its
 * own: the first ones of a recording are a thousand times shorter than the rest. So the
 * samples of an event are put into classes by the power of two that their period
 * reaches, and the mean is each class's: no sample counts for twice what it is, nor for
 * less than half. A mean is a whole number; what is left over makes a second stream,
 * whose period is 1 more, of as many samples as it takes, spread evenly.
 *
 * I1  Σ samples * mean period over the streams of an event = Σ period over its samples,
 *     to the unit. A period of 0 counts as 1.
 */
#ifndef CPI_DAEMON_PERFSTREAMS_H
#define CPI_DAEMON_PERFSTREAMS_H

#include <stddef.h>
#include <stdint.h>

struct perfstream {
	int event;
	uint64_t period; /* mean of its samples */
};

struct perfstreams;

struct perfstreams *perfstreams_new(void);    /* NULL when out of memory */
void perfstreams_free(struct perfstreams *s); /* accepts NULL */

/* The first reading: there is such a sample. 0, -EOVERFLOW or -ENOMEM. */
int perfstreams_note(struct perfstreams *s, int event, uint64_t period);

/* What was noted is all: makes the streams, by event and period. 0 or -ENOMEM. */
int perfstreams_make(struct perfstreams *s);

size_t perfstreams_nr(const struct perfstreams *s);
const struct perfstream *perfstreams_get(const struct perfstreams *s, size_t i);

/*
 * The second reading, of the same samples in the same order: the stream of this one.
 * -1: no such sample was noted.
 */
int perfstreams_take(struct perfstreams *s, int event, uint64_t period);

/* The stream with the most samples of an event, of any (-1); -1: there is none. */
int perfstreams_main(const struct perfstreams *s, int event);

#endif
