/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * brief.c - a selection's time, and how much of it was sampled, lost and unknown
 */
#include "config.h"

#include "report/select/brief.h"

#include "report/select/facts.h"

static void add_epoch(const struct query_epoch *e, struct brief *b)
{
	if (!b->from_ns || e->from_ns < b->from_ns)
		b->from_ns = e->from_ns;
	if (e->to_ns > b->to_ns)
		b->to_ns = e->to_ns;
	b->covered_ns += e->to_ns > e->from_ns ? e->to_ns - e->from_ns : 0;
	b->open |= e->open;
}

static void add_stream(const struct selection *sel, const struct events *ev,
		       const struct query_stream *s, struct brief *b)
{
	const uint64_t unknown = report_nr_lost(sel, LOSS_UNKNOWN, s->id);
	double weight;
	size_t event;

	if (!events_find(ev, s->id, &event, &weight) || event)
		return;
	b->nr_samples += s->stored + unknown;
	b->sampled += (double)(s->stored + unknown) * weight;
	b->unknown += (double)unknown * weight;
}

void brief_make(const struct selection *sel, const struct events *ev, struct brief *out)
{
	struct brief b = { 0 };

	for (size_t i = 0; i < sel->epochs.nr; i++)
		add_epoch(&sel->epochs.epoch[i], &b);
	for (size_t i = 0; i < sel->streams.nr; i++) {
		add_stream(sel, ev, &sel->streams.stream[i], &b);
		b.lost += report_nr_lost(sel, LOSS_LOST, sel->streams.stream[i].id);
	}
	*out = b;
}
