/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfstreams.h - divides a recording's samples into streams with one period each
 *
 * A stream has one mean period. But if perf sampled at a frequency, each sample has its
 * own period, and the first periods of a recording are a thousand times shorter than
 * the rest. So the samples of an event are divided into classes by the power of two
 * that their period reaches, and each class gets its mean period. Then no sample counts
 * more than twice, or less than half, of its period. A mean period is a whole number.
 * So that the sum is exact, some samples of a class, evenly spread, are in a second
 * stream, whose period is larger by 1.
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
	uint64_t period; /* mean period of its samples */
};

struct perfstreams;

struct perfstreams *perfstreams_new(void);    /* NULL when out of memory */
void perfstreams_free(struct perfstreams *s); /* accepts NULL */

/* The first reading: notes a sample. Returns 0, -EOVERFLOW or -ENOMEM. */
int perfstreams_note(struct perfstreams *s, int event, uint64_t period);

/*
 * After the first reading: makes the streams, sorted by event and period. Returns 0 or
 * -ENOMEM.
 */
int perfstreams_make(struct perfstreams *s);

size_t perfstreams_nr(const struct perfstreams *s);
const struct perfstream *perfstreams_get(const struct perfstreams *s, size_t i);

/*
 * The second reading, with the same samples in the same order: returns the stream of
 * the sample; -1: no such sample was noted.
 */
int perfstreams_take(struct perfstreams *s, int event, uint64_t period);

/*
 * The stream of an event (-1: of any event) with the most samples; -1: there is none.
 */
int perfstreams_main(const struct perfstreams *s, int event);

#endif
