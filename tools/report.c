/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/times.h"
#include "tools/out.h"

#define MAX_EPOCH_LINES 4

static void print_epoch(const struct selection *sel, const struct query_epoch *e)
{
	char from[TIME_TEXT_SIZE], to[TIME_TEXT_SIZE], id[SELECT_ID_SIZE];
	const char *db = select_epoch_db(sel, e);

	out_line("Epoch %s%s%s%s: %s to %s%s%s%s", select_epoch_id(sel, e, id),
		 *e->label ? " \"" : "", e->label, *e->label ? "\"" : "",
		 time_format(e->from_ns, from), time_format(e->to_ns, to),
		 e->open ? " (still open)" : "", db ? " of " : "", db ? db : "");
}

static void print_epochs(const struct selection *sel)
{
	const struct query_epochs *e = &sel->epochs;

	if (e->nr <= MAX_EPOCH_LINES) {
		for (size_t i = 0; i < e->nr; i++)
			print_epoch(sel, &e->epoch[i]);
		return;
	}
	print_epoch(sel, &e->epoch[0]);
	out_line("... %zu epochs between ...", e->nr - 2);
	print_epoch(sel, &e->epoch[e->nr - 1]);
}

static bool same_clock(const struct query_epoch *a, const struct query_epoch *b)
{
	return !strcmp(a->arch, b->arch) && !strcmp(a->cpu, b->cpu) &&
	       a->clock_hz == b->clock_hz && a->nr_cpus == b->nr_cpus;
}

static void print_machine(const struct selection *sel)
{
	const struct query_epoch *e = select_newest(sel);
	struct buf hosts = { 0 };
	size_t nr_others = 0;

	select_hosts(sel, &hosts);
	out_line("Host %s: %s, %" PRIu32 " CPUs, %s, Linux %s", buf_str(&hosts),
		 e->arch, e->nr_cpus, e->cpu, e->release);
	buf_fini(&hosts);
	for (size_t i = 0; i < sel->epochs.nr; i++)
		nr_others += !same_clock(e, &sel->epochs.epoch[i]);
	if (nr_others)
		out_line(
			"Note: %zu of the epochs are of another machine or clock rate; "
			"cycles became time by the newest epoch's.",
			nr_others);
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

static void print_stream(const struct query_stream *s)
{
	char period[REPORT_PERIOD_SIZE], part[48] = "";

	if (s->running_ns && s->running_ns < s->enabled_ns)
		snprintf(part, sizeof(part), ", counting %.1f%% of the time",
			 100.0 * s->running_ns / s->enabled_ns);
	out_line("Stream %s from %s%s%s: a sample per %s, %" PRIu64 " received%s",
		 s->desc.event, s->desc.source, *s->desc.cpu_type ? " on " : "",
		 s->desc.cpu_type, report_period(&s->desc, period), s->received, part);
}

void report_header(const struct selection *sel, const struct events *ev)
{
	print_epochs(sel);
	print_machine(sel);
	for (size_t i = 0; i < sel->streams.nr; i++)
		print_stream(&sel->streams.stream[i]);
	for (size_t i = 0; i < ev->nr; i++) {
		if (ev->event[i].mixed)
			out_line("Note: samples of %s stand for different amounts; "
				 "shares "
				 "and order are by amount, not by count.",
				 ev->event[i].name);
	}
}

uint64_t report_loss(const struct selection *sel, size_t i, enum loss_class class)
{
	const struct query_losses *l = &sel->losses;
	uint64_t n = 0;

	if (l->loss[i].class != class)
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

void report_footer(const struct selection *sel)
{
	char from[TIME_TEXT_SIZE], to[TIME_TEXT_SIZE];
	struct buf hosts = { 0 };

	for (size_t i = 0; i < sel->losses.nr; i++) {
		uint64_t n = report_loss(sel, i, LOSS_LOST);

		if (n)
			out_line("Lost: %" PRIu64 " samples, %s", n,
				 sel->losses.loss[i].name);
	}
	for (size_t i = 0; i < sel->streams.nr; i++) {
		const struct query_stream *s = &sel->streams.stream[i];

		if (s->not_delivered > 0)
			out_line("Not delivered: %" PRId64 " samples of %s%s",
				 s->not_delivered, s->desc.event,
				 s->throttled ? " (the kernel throttled it)" : "");
	}
	select_hosts(sel, &hosts);
	for (size_t i = 0; i < sel->gaps.nr; i++) {
		const struct query_gap *g = &sel->gaps.gap[i];
		const bool one_host = !strcmp(buf_str(&hosts), g->host);

		out_line("Gap: %s to %s, %s%s%s", time_format(g->from_ns, from),
			 time_format(g->to_ns, to), g->reason, one_host ? "" : " on ",
			 one_host ? "" : g->host);
	}
	buf_fini(&hosts);
}

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

static void json_epoch(struct json *j, const struct selection *sel,
		       const struct query_epoch *e)
{
	char text[TIME_TEXT_SIZE], id[SELECT_ID_SIZE];
	const char *db = select_epoch_db(sel, e);

	json_object(j, NULL);
	if (db) {
		json_string(j, "id", select_epoch_id(sel, e, id));
		json_string(j, "db", db);
	} else {
		json_signed(j, "id", e->id);
	}
	json_string(j, "label", e->label);
	json_string(j, "from", time_format(e->from_ns, text));
	json_string(j, "to", time_format(e->to_ns, text));
	json_bool(j, "open", e->open);
	json_string(j, "host", e->host);
	json_end(j);
}

void report_json_header(struct json *j, const struct selection *sel)
{
	json_array(j, "epochs");
	for (size_t i = 0; i < sel->epochs.nr; i++)
		json_epoch(j, sel, &sel->epochs.epoch[i]);
	json_end(j);
	json_array(j, "streams");
	for (size_t i = 0; i < sel->streams.nr; i++) {
		const struct query_stream *s = &sel->streams.stream[i];

		json_object(j, NULL);
		json_string(j, "event", s->desc.event);
		json_string(j, "source", s->desc.source);
		json_number(j, "mean_period", s->desc.mean_period);
		json_string(j, "unit", s->desc.unit);
		json_number(j, "total",
			    s->stored + report_nr_lost(sel, LOSS_UNKNOWN, s->id));
		json_end(j);
	}
	json_end(j);
}

void report_json_losses(struct json *j, const struct selection *sel)
{
	json_object(j, "losses");
	for (size_t i = 0; i < sel->losses.nr; i++) {
		uint64_t n = report_loss(sel, i, LOSS_LOST);

		if (n)
			json_number(j, sel->losses.loss[i].name, n);
	}
	json_end(j);
}

void report_json_samples(struct json *j, const char *key, const struct events *ev,
			 const struct tally *tally)
{
	json_object(j, key);
	for (size_t i = 0; i < ev->nr; i++)
		json_number(j, ev->event[i].name, tally[i].n);
	json_end(j);
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
