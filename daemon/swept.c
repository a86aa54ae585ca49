/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was not handed out is left out of the event's own count too: it would say
 * that samples are missing.
 */
#include "config.h"

#include "daemon/swept.h"

void swept_begin_cycle(struct swept *s)
{
	s->swept = false;
	s->known = 0;
}

void swept_note_taken(struct swept *s)
{
	s->known = 0;
}

void swept_end_sweep(struct swept *s)
{
	s->swept = true;
	s->known = 0;
}

bool swept_knows(const struct swept *s, int event)
{
	return s->known & 1u << event;
}

void swept_put(struct swept *s, int event, const struct collector_counts *counts,
	       uint64_t period)
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
