/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_print.c - the rows as dcpiprof's columns, as CSV, and as JSON
 *
 * Text has one column of time, unless each event is to be shown for itself. CSV has the
 * columns of all events in any case.
 */
#include "config.h"

#include "tools/write/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "base/times.h"
#include "report/profile/prof_context.h"
#include "report/profile/prof_time.h"
#include "tools/ui/out.h"
#include "tools/ui/spark.h"
#include "tools/ui/table.h"
#include "tools/ui/term.h"
#include "tools/write/plain_name.h"
#include "tools/write/report.h"

#define MAX_COLUMNS (2 * EVENTS_MAX + 20)
#define SHORT_NS    1e8
#define UNKNOWN     "[unknown]"
#define LEAST_BAR   1e-9 /* of the highest bar; 0 would look like a missing epoch */
#define BAR_PART    5    /* bars take this part of a terminal's width, or less */

/* Columns and the strings that their keys need. */
struct layout {
	struct column column[MAX_COLUMNS];
	size_t nr;
	char *key[2 * EVENTS_MAX];
	size_t nr_keys;
	const char *drop[2 * EVENTS_MAX + 2]; /* where a terminal is narrow */
	size_t nr_drop;
};

static void add_column(struct layout *l, const char *title, const char *key,
		       enum column_kind kind, enum column_where where)
{
	l->column[l->nr++] = (struct column){ title, key, kind, where };
}

static const char *make_key(struct layout *l, const char *prefix, const char *event)
{
	char *key;

	if (asprintf(&key, "%s:%s", prefix, event) < 0)
		return prefix;
	l->key[l->nr_keys++] = key;
	return key;
}

static void add_share_columns(struct layout *l)
{
	add_column(l, "%", "percent", COLUMN_NUMBER, COLUMN_EVERYWHERE);
	add_column(l, "cum%", "cum_percent", COLUMN_NUMBER, COLUMN_EVERYWHERE);
	add_column(l, "", "time_ns", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT);
}

static void add_event_columns(struct layout *l, const struct prof *p, size_t event)
{
	const char *name = p->ev.event[event].name;
	const bool first = event == p->primary;
	const char *samples = make_key(l, "samples", name);

	add_column(l, p->ev.nr > 1 ? name : "samples", samples, COLUMN_NUMBER,
		   COLUMN_EVERYWHERE);
	if (first) {
		add_share_columns(l);
		return;
	}
	add_column(l, "%", make_key(l, "percent", name), COLUMN_NUMBER,
		   COLUMN_EVERYWHERE);
	l->drop[l->nr_drop++] = samples;
	l->drop[l->nr_drop++] = l->column[l->nr - 1].key;
}

/* Text has one column of time; CSV also has the columns of each event. */
static void add_time_columns(struct layout *l, const struct prof *p)
{
	add_column(l, "", make_key(l, "samples", p->ev.event[0].name), COLUMN_NUMBER,
		   COLUMN_NOT_IN_TEXT);
	add_column(l, "ms", "", COLUMN_NUMBER, COLUMN_ONLY_IN_TEXT);
	add_share_columns(l);
	for (size_t i = 1; i < p->ev.nr; i++) {
		const char *name = p->ev.event[i].name;

		add_column(l, "", make_key(l, "samples", name), COLUMN_NUMBER,
			   COLUMN_NOT_IN_TEXT);
		add_column(l, "", make_key(l, "percent", name), COLUMN_NUMBER,
			   COLUMN_NOT_IN_TEXT);
	}
	if (p->evidence.both)
		add_column(l, "", "departs", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT);
	if (p->nr_departing)
		add_column(l, "", "", COLUMN_TEXT, COLUMN_ONLY_IN_TEXT);
}

static void add_stream_columns(struct layout *l, const struct prof *p)
{
	add_event_columns(l, p, p->primary);
	for (size_t i = 0; i < p->ev.nr; i++) {
		if (i != p->primary)
			add_event_columns(l, p, i);
	}
}

static void add_procedure_columns(struct layout *l, const struct prof *p)
{
	if (!p->req->inlines) {
		add_column(l, "procedure", "procedure", COLUMN_TEXT, COLUMN_EVERYWHERE);
		return;
	}
	add_column(l, "", "inlined", COLUMN_TEXT, COLUMN_NOT_IN_TEXT);
	add_column(l, "", "procedure", COLUMN_TEXT, COLUMN_NOT_IN_TEXT);
	add_column(l, "procedure", "", COLUMN_TEXT, COLUMN_ONLY_IN_TEXT);
}

static void make_layout(struct layout *l, const struct prof *p)
{
	const int by = p->req->by;
	const bool contexts = prof_contexts[by].name;

	if (prof_is_one_time(p))
		add_time_columns(l, p);
	else
		add_stream_columns(l, p);
	l->drop[l->nr_drop++] = "cum_percent";
	if (p->req->over_time) {
		add_column(l, "over time", "", COLUMN_TEXT, COLUMN_ONLY_IN_TEXT);
		add_column(l, "", "over_time", COLUMN_TEXT, COLUMN_NOT_IN_TEXT);
	}
	if (by == BY_LINE) {
		add_column(l, "line", "file", COLUMN_TEXT, COLUMN_NOT_IN_TEXT);
		add_column(l, "", "line", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT);
		add_column(l, "line", "", COLUMN_TEXT, COLUMN_ONLY_IN_TEXT);
	}
	for (int kind = -1; (kind = prof_next_context(p->req, kind)) >= 0;)
		l->nr += context_columns(kind, l->column + l->nr);
	if (by == BY_PROCEDURE || by == BY_LINE)
		add_procedure_columns(l, p);
	if (contexts)
		return;
	add_column(l, "image", "image", COLUMN_TEXT, COLUMN_EVERYWHERE);
	add_column(l, "", "build_id", COLUMN_TEXT, COLUMN_NOT_IN_TEXT);
}

/* Whether a tenth of a millisecond is too coarse. */
static bool is_short(const struct prof *p)
{
	return p->busy[p->primary].weight + p->idle[p->primary].weight < SHORT_NS;
}

static void put_time_cells(struct table *t, const struct prof *p,
			   const struct prof_row *row, double cumulated)
{
	const struct event_sum *time = &row->tally[p->primary];

	table_number(t, row->tally[0].n);
	table_real(t, time->weight / 1e6, is_short(p) ? 3 : 1);
	table_percent(t, prof_percent(p, time, p->primary));
	table_percent(t, cumulated);
	table_real(t, time->weight, 0);
	for (size_t i = 1; i < p->ev.nr; i++) {
		table_number(t, row->tally[i].n);
		table_percent(t, prof_percent(p, &row->tally[i], i));
	}
	if (p->evidence.both)
		table_number(t, row->departs);
	if (p->nr_departing)
		table_text(t, row->departs ? "*" : "");
}

static void put_event_cells(struct table *t, const struct prof *p,
			    const struct prof_row *row, size_t event, double cumulated)
{
	const struct event_sum *tally = &row->tally[event];

	table_number(t, tally->n);
	table_percent(t, prof_percent(p, tally, event));
	if (event != p->primary)
		return;
	table_percent(t, cumulated);
	if (p->ev.event[event].is_time)
		table_real(t, tally->weight, 0);
	else
		table_empty(t);
}

static void put_line_cells(struct table *t, const struct prof_row *row)
{
	char *text;

	table_text(t, row->file);
	if (row->line)
		table_number(t, row->line);
	else
		table_empty(t);
	if (!row->file || asprintf(&text, "%s:%d", row->file, row->line) < 0) {
		table_text(t, "?");
		return;
	}
	table_text(t, text);
	free(text);
}

static void put_procedure_cells(struct table *t, const struct prof *p,
				const struct prof_row *row, const char *name, bool text)
{
	struct buf plain = { 0 };

	if (row->inlined)
		buf_printf(&plain, "%s (inlined into ", row->inlined);
	plain_procedure(name, row->image_name, &plain);
	if (row->inlined)
		buf_putc(&plain, ')');
	if (p->req->inlines) {
		table_text(t, row->inlined);
		table_text(t, name);
		table_text(t, buf_str(&plain));
	} else {
		table_text(t, text ? buf_str(&plain) : name);
	}
	buf_fini(&plain);
}

static const char *special_name(const struct prof_row *row, bool text)
{
	if (row->kind == ROW_IDLE)
		return "[idle]";
	return row->kind == ROW_UNKNOWN && text ? plain_unknown(row->procedure)
						: UNKNOWN;
}

/*
 * The next name of a row by contexts, in out; *names moves behind it. The last one is
 * all that is left, because a command may contain a newline.
 */
static const char *next_name(const char **names, bool is_last, struct buf *out)
{
	const size_t len = is_last ? strlen(*names) : strcspn(*names, "\n");

	buf_reset(out);
	buf_put(out, *names, len);
	*names += len + ((*names)[len] == '\n');
	return buf_str(out);
}

/* A name for each kind; special stands for all of them. */
static void put_context_cells(struct table *t, const struct prof *p,
			      const struct prof_row *row, const char *special)
{
	const char *names = row->kind == ROW_PROFILE ? row->context : special;
	struct buf name = { 0 };

	for (int by = -1; (by = prof_next_context(p->req, by)) >= 0;) {
		const bool is_last = prof_next_context(p->req, by) < 0;

		context_cells(t, by, next_name(&names, is_last, &name), row->container);
	}
	buf_fini(&name);
}

/* Fills the name cells. If the row has no name, the first cell says what the row is. */
static void put_name_cells(struct table *t, const struct prof *p,
			   const struct prof_row *row, bool text)
{
	const int by = p->req->by;
	const bool procedures = by == BY_PROCEDURE || by == BY_LINE;
	const bool context = prof_contexts[by].name;
	const char *special = special_name(row, text);
	const char *image = row->image_name;
	char *both = NULL;

	if (row->kind == ROW_UNKNOWN) {
		image = row->procedure;
		if (!procedures &&
		    asprintf(&both, "%s %s", special, row->procedure) >= 0)
			image = special = both;
	} else if (row->kind == ROW_IDLE) {
		image = procedures ? "" : special;
	}
	if (by == BY_LINE)
		put_line_cells(t, row);
	if (context)
		put_context_cells(t, p, row, special);
	if (procedures)
		put_procedure_cells(t, p, row,
				    row->kind == ROW_PROFILE ? row->procedure : special,
				    text);
	if (!context) {
		table_text(t, image);
		table_text(t, row->build_id);
	}
	free(both);
}

/* How many intervals share a bar, so that a terminal shows all of them. */
static size_t intervals_of_bar(const struct prof *p)
{
	const size_t room = term_width() / BAR_PART;

	return room ? (p->nr_buckets + room - 1) / room : 1;
}

/* The row's value in nr intervals from one on; NAN: there is no epoch in them. */
static double mean_at(const struct prof *p, const struct prof_row *row, size_t from,
		      size_t nr)
{
	double sum = 0, seconds = 0;

	for (size_t i = from; i < from + nr && i < p->nr_buckets; i++) {
		sum += prof_at(row, i) * p->bucket[i].seconds;
		seconds += p->bucket[i].seconds;
	}
	return seconds > 0 ? sum / seconds : NAN;
}

/* A row's course as bars, the lowest for nothing, a space where there is no epoch. */
static void put_sparkline(const struct prof *p, const struct prof_row *row,
			  struct buf *out)
{
	const size_t nr = intervals_of_bar(p);
	double max = 0;

	for (size_t i = 0; i < p->nr_buckets; i += nr)
		max = fmax(max, mean_at(p, row, i, nr));
	max = max > 0 ? max : 1;
	for (size_t i = 0; i < p->nr_buckets; i += nr) {
		const double mean = mean_at(p, row, i, nr);
		const double value = fmax(mean, max * LEAST_BAR);

		if (isnan(mean))
			buf_putc(out, ' ');
		else
			spark_put(out, &value, 1, max, spark_can_block());
	}
}

static void put_course_cells(struct table *t, const struct prof *p,
			     const struct prof_row *row)
{
	struct buf line = { 0 }, numbers = { 0 };

	put_sparkline(p, row, &line);
	table_text(t, buf_str(&line));
	for (size_t i = 0; i < p->nr_buckets; i++)
		buf_printf(&numbers, "%s%.6g", i ? " " : "", prof_at(row, i));
	table_text(t, buf_str(&numbers));
	buf_fini(&line);
	buf_fini(&numbers);
}

static void put_stream_cells(struct table *t, const struct prof *p,
			     const struct prof_row *row, double cumulated)
{
	put_event_cells(t, p, row, p->primary, cumulated);
	for (size_t i = 0; i < p->ev.nr; i++) {
		if (i != p->primary)
			put_event_cells(t, p, row, i, 0);
	}
}

static void put_row(struct table *t, const struct prof *p, const struct prof_row *row,
		    double cumulated, bool text)
{
	if (prof_is_one_time(p))
		put_time_cells(t, p, row, cumulated);
	else
		put_stream_cells(t, p, row, cumulated);
	if (p->req->over_time)
		put_course_cells(t, p, row);
	put_name_cells(t, p, row, text);
}

/* "by 400 samples of cpu-clock and 1000 of ticks" */
static void put_time_events(const struct prof *p, struct buf *out)
{
	for (size_t i = 0; i < p->ev.nr; i++) {
		const uint64_t n = p->busy[i].n + p->idle[i].n;

		if (!evidence_counts(&p->evidence, i))
			continue;
		buf_printf(out,
			   i ? " and %" PRIu64 " of %s" : "%" PRIu64 " samples of %s",
			   n, p->ev.event[i].name);
	}
}

/* "page-faults (12 samples), …" */
static void put_other_events(const struct prof *p, struct buf *out)
{
	for (size_t i = 0; i < p->ev.nr; i++) {
		const uint64_t n = p->busy[i].n + p->idle[i].n;

		if (evidence_counts(&p->evidence, i))
			continue;
		buf_printf(out, "%s%s (%" PRIu64 " samples)", out->len ? ", " : "",
			   p->ev.event[i].name, n);
	}
}

static void print_time(const struct prof *p)
{
	const struct event_sum *busy = &p->busy[p->primary],
			       *idle = &p->idle[p->primary];
	const double all = busy->weight + idle->weight;
	struct buf events = { 0 };

	put_time_events(p, &events);
	out_line("Time: %.3f %s, by %s", all / (is_short(p) ? 1e6 : 1e9),
		 is_short(p) ? "ms" : "s", buf_str(&events));
	buf_fini(&events);
}

static void print_streams(const struct prof *p)
{
	for (size_t i = 0; i < p->ev.nr; i++) {
		const struct event_sum *busy = &p->busy[i], *idle = &p->idle[i];
		double all = busy->weight + idle->weight;
		char time[48] = "";

		if (p->ev.event[i].is_time)
			snprintf(time, sizeof(time), " (%.3f s)", all / 1e9);
		out_line("Total samples for event type %s = %" PRIu64 "%s",
			 p->ev.event[i].name, busy->n + idle->n, time);
	}
}

static const char *attribution_of(const struct prof *p)
{
	return attribution_str(attribution_used(p->req->attribution, p->has_weights));
}

/* What was left out, and what a mark in the rows means. */
static void print_notes(const struct prof *p)
{
	struct buf others = { 0 };

	put_other_events(p, &others);
	if (others.len)
		out_line("Other events: %s; --by-stream shows them", buf_str(&others));
	if (p->nr_departing)
		out_line("* ticks are biased in this row: its time is from %s alone",
			 p->ev.event[0].name);
	buf_fini(&others);
}

static void print_header(const struct prof *p)
{
	const double idle = p->idle[p->primary].weight;
	const double all = p->busy[p->primary].weight + idle;
	const bool is_combined = prof_is_one_time(p) && !p->has_weights;
	const bool is_all =
		!p->req->select.image && !select_asks_contexts(&p->req->select);

	report_header_time(&p->sel, &p->ev,
			   &(struct report_time){
				   .idle_percent = all > 0 ? 100 * idle / all : 0,
				   .idle_included = p->req->idle,
				   .rows_ns = is_combined && is_all ? all : 0,
				   .event = is_combined && !is_all && p->evidence.both
						    ? p->ev.event[0].name
						    : NULL,
			   });
	if (p->has_weights || p->req->attribution)
		time_source_print(&p->source, attribution_of(p));
	if (p->sel.verbose && prof_is_one_time(p))
		print_time(p);
	else if (p->sel.verbose)
		print_streams(p);
	if (prof_is_one_time(p))
		print_notes(p);
	putchar('\n');
}

static void print_hidden(const struct prof *p, size_t nr,
			 const struct event_sum *hidden)
{
	if (nr && prof_is_one_time(p))
		out_line("... %zu more (%.2f%%)", nr,
			 prof_percent(p, hidden, p->primary));
	else if (nr)
		out_line("... %zu more with %" PRIu64 " samples (%.2f%%)", nr,
			 hidden->n, prof_percent(p, hidden, p->primary));
}

int prof_print_table(const struct prof *p, const struct out_options *out)
{
	const bool text = out->format == OUT_TEXT;
	const uint64_t limit = out->limit;
	struct layout l = { .nr = 0 };
	struct event_sum hidden = { 0 };
	size_t shown = 0, nr_hidden = 0;
	double cumulated = 0;
	struct table *t;
	int err = -ENOMEM;

	make_layout(&l, p);
	t = table_new(l.column, l.nr);
	if (!t)
		goto out;
	table_drop_first(t, l.drop);
	for (size_t i = 0; i < p->nr_rows; i++) {
		const struct prof_row *row = p->row[i];

		if (!prof_is_shown(p, row))
			continue;
		if (limit && shown == limit) {
			nr_hidden++;
			hidden.n += row->tally[p->primary].n;
			hidden.weight += row->tally[p->primary].weight;
			continue;
		}
		shown++;
		cumulated += prof_percent(p, &row->tally[p->primary], p->primary);
		put_row(t, p, row, cumulated, text);
	}
	if (text)
		print_header(p);
	err = text ? table_print_text(t, false, true) : table_print_csv(t, true);
	if (text && !err) {
		print_hidden(p, nr_hidden, &hidden);
		report_footer(&p->sel);
	}
out:
	table_free(t);
	for (size_t i = 0; i < l.nr_keys; i++)
		free(l.key[i]);
	return err;
}

static void json_container(struct json *j, const struct cgroup_container *c)
{
	json_string(j, "runtime", c ? c->runtime : NULL);
	json_string(j, "pod", c && *c->pod ? c->pod : NULL);
	json_string(j, "qos", c ? c->qos : NULL);
	json_string(j, "container_name", c && *c->name ? c->name : NULL);
}

static void json_over_time(struct json *j, const struct prof *p,
			   const struct prof_row *row)
{
	json_array(j, "over_time");
	for (size_t i = 0; i < p->nr_buckets; i++) {
		if (p->bucket[i].seconds > 0)
			json_real(j, NULL, prof_at(row, i), 6);
		else
			json_null(j, NULL);
	}
	json_end(j);
}

static bool is_listed(const struct prof *p, size_t row)
{
	return p->row[row]->kind == ROW_PROFILE && prof_is_shown(p, p->row[row]);
}

/*
 * Returns the index of the first listed row beyond the limit, else nr_rows. A limit
 * of 0 is none.
 */
static size_t end_of_list(const struct prof *p, uint64_t limit)
{
	uint64_t nr = 0;

	for (size_t i = 0; limit && i < p->nr_rows; i++) {
		nr += is_listed(p, i);
		if (nr > limit)
			return i;
	}
	return p->nr_rows;
}

/* The sum of the rows of a kind, from a number on, in each interval. */
static void json_kind_over_time(struct json *j, const struct prof *p, const char *key,
				enum row_kind kind, size_t from)
{
	json_array(j, key);
	for (size_t i = 0; i < p->nr_buckets; i++) {
		double sum = 0;

		for (size_t r = from; r < p->nr_rows; r++) {
			if (kind == ROW_PROFILE ? is_listed(p, r)
						: p->row[r]->kind == kind)
				sum += prof_at(p->row[r], i);
		}
		if (p->bucket[i].seconds > 0)
			json_real(j, NULL, sum, 6);
		else
			json_null(j, NULL);
	}
	json_end(j);
}

static void json_lost_over_time(struct json *j, const struct prof *p)
{
	json_array(j, "lost_over_time");
	for (size_t i = 0; i < p->nr_buckets; i++) {
		if (p->bucket[i].seconds > 0)
			json_real(j, NULL, p->bucket[i].lost, 6);
		else
			json_null(j, NULL);
	}
	json_end(j);
}

static void json_buckets(struct json *j, const struct prof *p)
{
	char text[TIME_TEXT_SIZE];

	json_array(j, "intervals");
	for (size_t i = 0; i < p->nr_buckets; i++) {
		json_object(j, NULL);
		json_string(j, "from", time_format(p->bucket[i].from_ns, text));
		json_string(j, "to", time_format(p->bucket[i].to_ns, text));
		json_real(j, "seconds", p->bucket[i].seconds, 3);
		json_end(j);
	}
	json_end(j);
}

/* When machines, or their collectors, were started anew. */
static void json_restarts(struct json *j, const struct prof *p, const char *name,
			  bool (*is_one)(const struct prof *p, size_t epoch))
{
	char text[TIME_TEXT_SIZE];

	json_array(j, name);
	for (size_t i = 0; i < p->sel.epochs.nr; i++) {
		const struct query_epoch *e = &p->sel.epochs.epoch[i];

		if (!is_one(p, i))
			continue;
		json_object(j, NULL);
		json_string(j, "at", time_format(e->from_ns, text));
		json_string(j, "host", e->host);
		json_end(j);
	}
	json_end(j);
}

static void json_contexts(struct json *j, const struct prof *p,
			  const struct prof_row *row)
{
	const char *names = row->context;
	struct buf name = { 0 };

	for (int by = -1; (by = prof_next_context(p->req, by)) >= 0;) {
		const bool is_last = prof_next_context(p->req, by) < 0;

		json_string(j, prof_contexts[by].name,
			    next_name(&names, is_last, &name));
		if (by == BY_CONTAINER)
			json_container(j, row->container);
	}
	buf_fini(&name);
}

static void json_row(struct json *j, const struct prof *p, const struct prof_row *row)
{
	const struct event_sum *tally = &row->tally[p->primary];

	json_object(j, NULL);
	report_json_samples(j, "samples", &p->ev, row->tally);
	if (p->evidence.both && prof_is_one_time(p))
		json_bool(j, "departs", row->departs);
	if (prof_primary_is_time(p))
		json_real(j, "time_ns", tally->weight, 0);
	else
		json_null(j, "time_ns");
	json_real(j, "percent", prof_percent(p, tally, p->primary), 4);
	json_contexts(j, p, row);
	if (p->req->over_time)
		json_over_time(j, p, row);
	json_string(j, "procedure", row->procedure);
	if (p->req->inlines)
		json_string(j, "inlined", row->inlined);
	json_string(j, "image", row->image_name);
	json_string(j, "build_id", row->build_id);
	if (p->req->by == BY_LINE) {
		json_string(j, "file", row->file);
		if (row->line)
			json_number(j, "line", row->line);
		else
			json_null(j, "line");
	}
	json_end(j);
}

static void json_rows(struct json *j, const struct prof *p, size_t end)
{
	json_array(j, "rows");
	for (size_t i = 0; i < end; i++) {
		if (is_listed(p, i))
			json_row(j, p, p->row[i]);
	}
	json_end(j);
}

/* The rows behind the limit, as one. */
static void json_left_out(struct json *j, const struct prof *p, size_t end)
{
	uint64_t nr = 0;
	double weight = 0;

	for (size_t i = end; i < p->nr_rows; i++) {
		if (!is_listed(p, i))
			continue;
		nr++;
		weight += p->row[i]->tally[p->primary].weight;
	}
	json_object(j, "left_out");
	json_number(j, "rows", nr);
	if (prof_primary_is_time(p))
		json_real(j, "time_ns", weight, 0);
	else
		json_null(j, "time_ns");
	if (p->req->over_time)
		json_kind_over_time(j, p, "over_time", ROW_PROFILE, end);
	json_end(j);
}

static void json_unknown(struct json *j, const struct prof *p)
{
	json_object(j, "unknown");
	for (size_t i = 0; i < p->nr_rows; i++) {
		uint64_t n = 0;

		if (p->row[i]->kind != ROW_UNKNOWN)
			continue;
		for (size_t e = 0; e < p->ev.nr; e++)
			n += p->row[i]->tally[e].n;
		json_number(j, p->row[i]->procedure, n);
	}
	json_end(j);
}

void prof_print_json(const struct prof *p, uint64_t limit, uint64_t max_epochs)
{
	const size_t end = end_of_list(p, limit);
	struct json j = { 0 };

	json_object(&j, NULL);
	report_json_header_short(&j, &p->sel, max_epochs);
	time_source_json(&p->source, &j, attribution_of(p));
	if (p->evidence.both && prof_is_one_time(p))
		json_real(&j, "ticks_scale", p->evidence.scale[EVIDENCE_USER], 6);
	if (p->req->over_time) {
		json_restarts(&j, p, "restarts", prof_is_restart);
		json_restarts(&j, p, "collector_starts", prof_is_start);
		json_buckets(&j, p);
	}
	json_rows(&j, p, end);
	json_object(&j, "idle");
	report_json_samples(&j, "samples", &p->ev, p->idle);
	if (p->req->over_time)
		json_kind_over_time(&j, p, "over_time", ROW_IDLE, 0);
	json_end(&j);
	json_unknown(&j, p);
	if (p->req->over_time)
		json_kind_over_time(&j, p, "unknown_over_time", ROW_UNKNOWN, 0);
	report_json_losses(&j, &p->sel);
	if (p->req->over_time)
		json_lost_over_time(&j, p);
	json_left_out(&j, p, end);
	json_end(&j);
}
