/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts.c - losses of a selection, and descriptions of its streams and images
 *
 * Losses are stored by stream. These functions add them by name over all selected
 * streams.
 */
#include "config.h"

#include "report/select/facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t report_nr_lost(const struct selection *sel, enum loss_class class,
			int64_t stream)
{
	uint64_t n = 0;

	for (size_t i = 0; i < sel->losses.nr; i++) {
		const struct query_loss *l = &sel->losses.loss[i];

		if (l->class == class && l->stream == stream)
			n += l->n;
	}
	return n;
}

uint64_t report_loss(const struct selection *sel, size_t i, enum loss_class class)
{
	const struct query_losses *l = &sel->losses;
	uint64_t n = 0;

	if (l->loss[i].class != class ||
	    !query_stream_by_id(&sel->streams, l->loss[i].stream))
		return 0;
	for (size_t k = 0; k < l->nr; k++) {
		if (l->loss[k].class != class ||
		    !query_stream_by_id(&sel->streams, l->loss[k].stream) ||
		    strcmp(l->loss[k].name, l->loss[i].name) != 0)
			continue;
		if (k < i)
			return 0;
		n += l->loss[k].n;
	}
	return n;
}

static bool is_same_but_rate(const struct stream_desc *a, const struct stream_desc *b)
{
	return !strcmp(a->event, b->event) && !strcmp(a->source, b->source) &&
	       !strcmp(a->cpu_type, b->cpu_type) && !strcmp(a->unit, b->unit) &&
	       a->landing == b->landing;
}

static void add_to_group(struct stream_group *g, const struct query_stream *s)
{
	if (s->desc.mean_period < g->least->desc.mean_period)
		g->least = s;
	if (s->desc.mean_period > g->most->desc.mean_period)
		g->most = s;
	g->received += s->received;
	g->throttled += s->throttled;
	g->enabled_ns += s->enabled_ns;
	g->running_ns += s->running_ns;
	if (s->not_delivered > 0) {
		g->not_delivered += s->not_delivered;
		g->amount += (double)s->not_delivered * (double)s->desc.mean_period;
	}
}

bool report_stream_group(const struct selection *sel, size_t i,
			 struct stream_group *out)
{
	const struct query_stream *s = sel->streams.stream;
	struct stream_group g = { .least = &s[i], .most = &s[i] };

	for (size_t k = 0; k < sel->streams.nr; k++) {
		if (!is_same_but_rate(&s[k].desc, &s[i].desc))
			continue;
		if (k < i)
			return false;
		add_to_group(&g, &s[k]);
	}
	*out = g;
	return true;
}

char *report_period(const struct stream_desc *s, char out[REPORT_PERIOD_SIZE])
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	const double period = s->mean_period;
	size_t i = 0;

	if (strcmp(s->unit, "ns") != 0) {
		snprintf(out, REPORT_PERIOD_SIZE, "%" PRIu64 " %.16s", s->mean_period,
			 s->unit);
		return out;
	}
	while (i < 3 && period < units[i].ns)
		i++;
	snprintf(out, REPORT_PERIOD_SIZE, "%.4g %s", period / units[i].ns,
		 units[i].name);
	return out;
}

char *report_build_id(const struct image_desc *desc, char out[REPORT_BUILD_ID_SIZE])
{
	size_t n =
		desc->build_id_size < BUILD_ID_MAX ? desc->build_id_size : BUILD_ID_MAX;

	out[0] = '\0';
	for (size_t i = 0; i < n; i++)
		sprintf(out + 2 * i, "%02x", desc->build_id[i]);
	return out;
}
