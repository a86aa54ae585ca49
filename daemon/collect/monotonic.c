/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * monotonic.c - consistent counts while the kernel goes on counting
 *
 * After a sweep, the time of the samples that are still in the kernel (pending ×
 * period) is also subtracted from event_count. Otherwise event_count / period would
 * exceed received, and these samples would be reported as not delivered.
 */
#include "config.h"

#include "daemon/collect/monotonic.h"

void monotonic_begin_cycle(struct monotonic *s)
{
	s->swept = false;
	s->known = 0;
}

void monotonic_note_taken(struct monotonic *s)
{
	s->known = 0;
}

void monotonic_end_sweep(struct monotonic *s)
{
	s->swept = true;
	s->known = 0;
}

bool monotonic_knows(const struct monotonic *s, int event)
{
	return s->known & 1u << event;
}

void monotonic_put(struct monotonic *s, int event,
		   const struct collector_counts *counts, uint64_t period)
{
	struct collector_counts *out = &s->counts[event];

	*out = *counts;
	if (!s->swept) {
		out->received += out->pending;
	} else {
		if (out->event_count >= out->pending * period)
			out->event_count -= out->pending * period;
		out->pending = 0;
	}
	s->known |= 1u << event;
}
