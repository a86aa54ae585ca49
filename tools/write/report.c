/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.c - what heads and ends each report
 *
 * A reader has to know which epochs, machines and streams a report is of, and what was
 * lost, so all reports print it with the same functions.
 */
#include "config.h"

#include "tools/write/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "report/profile/prof_epochs.h"
#include "report/select/brief.h"
#include "tools/ui/out.h"
#include "tools/ui/term.h"
#include "tools/write/plain_name.h"

#define SAME_CLOCK      0.1
#define MAX_EPOCH_LINES 4
#define MAX_MARK_LINES  4

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

static bool is_same_machine(const struct query_epoch *a, const struct query_epoch *b)
{
	return !strcmp(a->arch, b->arch) && !strcmp(a->cpu, b->cpu) &&
	       a->nr_cpus == b->nr_cpus;
}

/* The clock's rate is measured at each start, so equal clocks differ a little. */
static bool is_same_clock(const struct query_epoch *a, const struct query_epoch *b)
{
	return fabs((double)a->clock_hz - (double)b->clock_hz) <=
	       SAME_CLOCK * (double)a->clock_hz;
}

/* Epochs whose cycles are not quite the newest one's. */
static void print_other_clocks(const struct selection *sel)
{
	const struct query_epoch *newest = select_newest(sel);
	size_t nr_machines = 0, nr_clocks = 0;

	for (size_t i = 0; i < sel->epochs.nr; i++) {
		const struct query_epoch *e = &sel->epochs.epoch[i];

		if (!is_same_machine(newest, e))
			nr_machines++;
		else if (!is_same_clock(newest, e))
			nr_clocks++;
	}
	if (nr_machines)
		out_line("Note: %zu of the epochs are of another machine; cycles were "
			 "converted to time with the newest epoch's clock.",
			 nr_machines);
	if (nr_clocks)
		out_line("Note: %zu of the epochs have another clock rate; cycles were "
			 "converted to time with the newest epoch's clock.",
			 nr_clocks);
}

static void print_machine(const struct selection *sel)
{
	const struct query_epoch *e = select_newest(sel);
	struct buf hosts = { 0 };

	select_hosts(sel, &hosts);
	out_line("Host %s: %s, %" PRIu32 " CPUs, %s, Linux %s", buf_str(&hosts),
		 e->arch, e->nr_cpus, e->cpu, e->release);
	buf_fini(&hosts);
}

static void print_stream(const struct stream_group *g)
{
	const struct stream_desc *d = &g->least->desc;
	char least[REPORT_PERIOD_SIZE], most[REPORT_PERIOD_SIZE], part[48] = "";
	const bool changed = g->least != g->most;

	if (g->running_ns && g->running_ns < g->enabled_ns)
		snprintf(part, sizeof(part), ", counting %.1f%% of the time",
			 100.0 * g->running_ns / g->enabled_ns);
	report_period(d, least);
	report_period(&g->most->desc, most);
	out_line("Stream %s from %s%s%s: a sample per %s%s%s, %" PRIu64 " received%s",
		 d->event, d->source, *d->cpu_type ? " on " : "", d->cpu_type, least,
		 changed ? " to " : "", changed ? most : "", g->received, part);
}

static void print_details(const struct selection *sel, const struct events *ev)
{
	print_epochs(sel);
	print_machine(sel);
	for (size_t i = 0; i < sel->streams.nr; i++) {
		struct stream_group g;

		if (report_stream_group(sel, i, &g))
			print_stream(&g);
	}
	for (size_t i = 0; i < ev->nr; i++) {
		if (ev->event[i].mixed)
			out_line("Note: the rate of %s changed meanwhile; rows are "
				 "ordered by %s.",
				 ev->event[i].name,
				 ev->event[i].is_time ? "time" : "amount");
	}
}

static void put_when(const struct selection *sel, const struct brief *b,
		     struct buf *out)
{
	const struct query_epochs *e = &sel->epochs;
	char from[TIME_TEXT_SIZE], to[TIME_TEXT_SIZE], length[DURATION_TEXT_SIZE];

	select_some_hosts(sel, out);
	if (b->covered_ns < 10 * NSEC_PER_SEC)
		snprintf(length, sizeof(length), "%.2g s", b->covered_ns / 1e9);
	else
		time_format_duration(b->covered_ns, length);
	buf_printf(out, ", %s to %s (%s",
		   time_format_near(b->from_ns, time_real_ns(), from),
		   time_format_near(b->to_ns, b->from_ns, to), length);
	if (e->nr > 1)
		buf_printf(out, ", %zu epochs", e->nr);
	else if (*e->epoch[0].label)
		buf_printf(out, ", \"%s\"", e->epoch[0].label);
	buf_printf(out, "%s)", b->open ? ", still open" : "");
}

static void put_what(const struct events *ev, const struct brief *b,
		     const struct report_time *t, struct buf *out)
{
	const struct selected_event *first = &ev->event[0];
	const double sampled = t->rows_ns > 0 ? t->rows_ns : b->sampled;

	if (first->is_time)
		buf_printf(out,
			   sampled < 999.5e9 ? "%.3g s of CPU sampled%s%s"
					     : "%.0f s of CPU sampled%s%s",
			   sampled / 1e9, t->event ? " by " : "",
			   t->event ? t->event : "");
	else
		buf_printf(out, "%" PRIu64 " samples of %s", b->nr_samples,
			   first->name);
	if (t->idle_percent > 0)
		buf_printf(out, ", %.1f %% idle (%s)", t->idle_percent,
			   t->idle_included ? "counted" : "not counted");
	buf_printf(out, ", %" PRIu64 " lost, %.1f %% unknown", b->lost,
		   sampled > 0 ? 100 * b->unknown / sampled : 0);
}

/* On two lines where the terminal is too narrow for one. */
static void print_brief(const struct selection *sel, const struct events *ev,
			const struct report_time *t)
{
	struct buf when = { 0 }, what = { 0 };
	struct brief b;

	brief_make(sel, ev, &b);
	put_when(sel, &b, &when);
	put_what(ev, &b, t, &what);
	if (term_width() && when.len + what.len + 2 > term_width()) {
		out_line("%s", buf_str(&when));
		out_line("%s", buf_str(&what));
	} else {
		out_line("%s, %s", buf_str(&when), buf_str(&what));
	}
	buf_fini(&when);
	buf_fini(&what);
}

/*
 * Prints the newest marks, each with its host unless that is the selection's only
 * host.
 */
static void print_marks(const struct selection *sel)
{
	const struct query_marks *m = &sel->marks;
	const size_t left = m->nr > MAX_MARK_LINES ? m->nr - MAX_MARK_LINES : 0;
	char at[TIME_TEXT_SIZE];
	struct buf hosts = { 0 };

	select_hosts(sel, &hosts);
	for (size_t i = left; i < m->nr; i++) {
		const bool one_host = !strcmp(buf_str(&hosts), m->mark[i].host);

		out_line("Mark: %s, %s%s%s", time_format(m->mark[i].at_ns, at),
			 m->mark[i].text, one_host ? "" : " on ",
			 one_host ? "" : m->mark[i].host);
	}
	if (left)
		out_line("%zu earlier marks: 'cpi mark --list' shows them", left);
	buf_fini(&hosts);
}

void report_header_time(const struct selection *sel, const struct events *ev,
			const struct report_time *t)
{
	print_brief(sel, ev, t);
	print_marks(sel);
	print_other_clocks(sel);
	if (sel->verbose)
		print_details(sel, ev);
}

void report_header(const struct selection *sel, const struct events *ev)
{
	report_header_time(sel, ev, &(struct report_time){ 0 });
}

/*
 * A timer's event counts the time in which its CPU slept, too. The number of
 * throttles is a lower bound, and their lengths are not stored, so their part is not
 * known. While a counter is throttled it does not count, so not_delivered does not
 * have the samples that throttling suppressed.
 */
static void print_not_delivered(const struct stream_group *g)
{
	const struct stream_desc *d = &g->least->desc;
	const bool is_timer = !strcmp(d->unit, "ns");
	char throttled[80] = "";

	if (g->throttled)
		snprintf(throttled, sizeof(throttled),
			 is_timer ? ", or throttled by the kernel (%" PRIu64
				    " time%s or more)"
				  : "; throttling (%" PRIu64
				    " time%s or more) suppressed others",
			 g->throttled, g->throttled == 1 ? "" : "s");
	if (is_timer)
		out_line("%.3g s not sampled by %s: CPUs asleep, or timers late%s",
			 g->amount / 1e9, d->event, throttled);
	else
		out_line("%" PRId64 " samples of %s not delivered%s", g->not_delivered,
			 d->event, throttled);
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
		struct stream_group g;

		if (report_stream_group(sel, i, &g) && g.not_delivered > 0 &&
		    (g.throttled || sel->verbose))
			print_not_delivered(&g);
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

void report_procedure(const char *name, const char *image, const char *build_id)
{
	struct buf plain = { 0 };

	plain_procedure(name, image, &plain);
	out_line("Procedure %s in %s%s%s", buf_str(&plain), image,
		 *build_id ? ", build id " : "", build_id);
	buf_fini(&plain);
}

/* An epoch, or several that follow each other. */
static void json_epoch(struct json *j, const struct selection *sel,
		       const struct prof_stretch *s)
{
	const struct query_epoch *e = s->first;
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
	json_string(j, "to", time_format(s->to_ns, text));
	json_bool(j, "open", s->open);
	json_string(j, "host", e->host);
	if (s->nr > 1)
		json_number(j, "epochs", s->nr);
	json_end(j);
}

void report_json_marks(struct json *j, const struct query_marks *marks)
{
	char at[TIME_TEXT_SIZE];

	json_array(j, "marks");
	for (size_t i = 0; i < marks->nr; i++) {
		const struct query_mark *m = &marks->mark[i];

		json_object(j, NULL);
		json_string(j, "at", time_format(m->at_ns, at));
		json_string(j, "host", m->host);
		json_string(j, "text", m->text);
		json_end(j);
	}
	json_end(j);
}

static void json_stretches(struct json *j, const struct selection *sel)
{
	struct prof_stretch *list = NULL;
	size_t nr = 0;
	int err = prof_merge_epochs(&sel->epochs, &list, &nr);

	if (err)
		log_warn("epochs are left out: %s", err_str(err));
	for (size_t i = 0; i < nr; i++)
		json_epoch(j, sel, &list[i]);
	free(list);
}

static void json_epochs(struct json *j, const struct selection *sel)
{
	for (size_t i = 0; i < sel->epochs.nr; i++) {
		const struct query_epoch *e = &sel->epochs.epoch[i];
		const struct prof_stretch one = { e, e->to_ns, e->open, 1 };

		json_epoch(j, sel, &one);
	}
}

void report_json_header(struct json *j, const struct selection *sel)
{
	report_json_header_short(j, sel, 0);
}

void report_json_header_short(struct json *j, const struct selection *sel,
			      uint64_t max_epochs)
{
	json_array(j, "epochs");
	if (max_epochs && sel->epochs.nr > max_epochs)
		json_stretches(j, sel);
	else
		json_epochs(j, sel);
	json_end(j);
	report_json_marks(j, &sel->marks);
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
			 const struct event_sum *tally)
{
	json_object(j, key);
	for (size_t i = 0; i < ev->nr; i++)
		json_number(j, ev->event[i].name, tally[i].n);
	json_end(j);
}

void time_source_print(const struct time_source *t, const char *attribution)
{
	struct buf text = { 0 };

	if (t->text) {
		buf_puts(&text, ", by ");
		buf_printf(&text, t->text, t->ev->event[0].name);
	}
	out_line("Attribution: %s%s", attribution, buf_str(&text));
	buf_fini(&text);
}

void time_source_json(const struct time_source *t, struct json *j,
		      const char *attribution)
{
	json_string(j, "attribution", attribution);
	if (t->name)
		json_string(j, "attribution_source", t->name);
}
