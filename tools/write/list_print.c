/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list_print.c - the procedure as assembly, with its source between if wanted
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "report/explain/calc.h"
#include "tools/ui/out.h"
#include "tools/ui/term.h"
#include "tools/write/calls.h"
#include "tools/write/explain.h"
#include "tools/write/report.h"

static const char *attribution_of(const struct list *l)
{
	return attribution_str(
		attribution_used(l->scope->source.asked, l->has_weights));
}

static bool any_too_fast(const struct explained *e)
{
	for (int b = 0; b < e->cfg->exit; b++) {
		if (calc_is_too_fast(e, b))
			return true;
	}
	return false;
}

/* What the columns "blamed" and "CPI" mean. */
static void print_explained(const struct list *l)
{
	const struct scope *s = l->scope;

	if (scope_stream(s, s->first)->desc.landing == LANDING_AFTER_GROUP)
		out_line("Samples name the instruction after the slow one; it is "
			 "corrected in \"blamed\"");
	if (any_too_fast(l->explained))
		out_line("* %s", FASTER_THAN_BEST);
}

/* Whether text has one column of time for two events. */
static bool shows_one_time(const struct list *l)
{
	return l->has_ticks && !l->by_stream;
}

/* How ticks count. */
static void print_ticks(const struct list *l)
{
	const struct events *ev = &l->scope->ev;
	const struct evidence *e = procedure_evidence_fit(l->scope->evidence);

	if (l->use.random_only)
		out_line(
			"Ticks are biased in this procedure: its time is from %s alone",
			ev->event[0].name);
	else
		out_line("%s and %s are one time; --by-stream shows them apart",
			 ev->event[0].name, ev->event[e->ticks].name);
}

void list_print_header(const struct list *l, bool assembly)
{
	char build_id[REPORT_BUILD_ID_SIZE];

	report_header(&l->scope->sel, &l->scope->ev);
	report_build_id(&l->place->image.desc, build_id);
	report_procedure(l->place->name, l->place->image.desc.name, build_id);
	if (l->has_weights || l->scope->source.asked)
		time_source_print(&l->scope->source, attribution_of(l));
	for (size_t i = 0; i < l->scope->ev.nr; i++)
		out_line("Total samples for event type %s = %" PRIu64,
			 l->scope->ev.event[i].name, l->total[i].n);
	if (shows_one_time(l))
		print_ticks(l);
	if (l->no_code)
		out_line("Only offsets with samples, without code: %s.", l->no_code);
	else if (l->not_analysed)
		out_line("Not analysed, so without \"blamed\", frequency and CPI: %s.",
			 l->not_analysed);
	if (l->explained)
		explained_print_source(l->explained);
	if (l->explained && assembly)
		print_explained(l);
	putchar('\n');
}

void list_json_header(struct json *j, const struct list *l)
{
	char build_id[REPORT_BUILD_ID_SIZE];

	report_json_header(j, &l->scope->sel);
	json_string(j, "procedure", l->place->name);
	json_string(j, "image", l->place->image.desc.name);
	report_build_id(&l->place->image.desc, build_id);
	json_string(j, "build_id", *build_id ? build_id : NULL);
	time_source_json(&l->scope->source, j, attribution_of(l));
	report_json_samples(j, "total", &l->scope->ev, l->total);
	json_string(j, "no_code", l->no_code);
	if (l->explained)
		explained_json_source(l->explained, j);
	json_string(j, "not_analysed", l->not_analysed);
}

/* Whether text has the event's counts. */
static bool shows_counts(const struct list *l, size_t event)
{
	return !shows_one_time(l) ||
	       !evidence_counts(procedure_evidence_fit(l->scope->evidence), event);
}

size_t list_event_columns(const struct list *l, struct column *out, char **keys)
{
	size_t nr = 0;

	if (shows_one_time(l)) {
		out[nr++] = (struct column){ "samples", "", COLUMN_NUMBER,
					     COLUMN_ONLY_IN_TEXT };
		out[nr++] =
			(struct column){ "%", "", COLUMN_NUMBER, COLUMN_ONLY_IN_TEXT };
	}
	for (size_t i = 0; i < l->scope->ev.nr; i++) {
		const char *name = l->scope->ev.event[i].name;
		const enum column_where where =
			shows_counts(l, i) ? COLUMN_EVERYWHERE : COLUMN_NOT_IN_TEXT;
		char *samples = NULL, *percent = NULL;

		if (asprintf(&samples, "samples:%s", name) < 0)
			samples = NULL;
		if (i && asprintf(&percent, "percent:%s", name) < 0)
			percent = NULL;
		keys[2 * i] = samples;
		keys[2 * i + 1] = percent;
		out[nr++] = (struct column){ l->scope->ev.nr > 1 ? name : "samples",
					     samples ? samples : name, COLUMN_NUMBER,
					     where };
		out[nr++] = (struct column){ "%", percent ? percent : "percent",
					     COLUMN_NUMBER, where };
	}
	return nr;
}

static void put_time_cells(const struct list *l, struct table *t,
			   const struct event_sum *tally)
{
	const double samples = list_time(l, tally);

	if (samples > 0) {
		table_real(t, samples, 0);
		table_percent(t, list_time_percent(l, tally));
	} else {
		table_empty(t);
		table_empty(t);
	}
}

/* Text has empty cells where there are no samples, so that the others stand out. */
void list_event_cells(const struct list *l, struct table *t,
		      const struct event_sum *tally, bool text)
{
	if (shows_one_time(l))
		put_time_cells(l, t, tally);
	for (size_t i = 0; i < l->scope->ev.nr; i++) {
		if (text && !tally[i].n && !(tally[i].weight > 0)) {
			table_empty(t);
			table_empty(t);
		} else {
			table_number(t, tally[i].n);
			table_percent(t, list_percent(l, &tally[i], i));
		}
	}
}

static void put_outcome_cell(struct table *t, const struct list *l, size_t i,
			     uint64_t n, bool text)
{
	const struct list_insn *insn = &l->insn[i];

	if (text && !insn->taken && !insn->not_taken)
		table_empty(t);
	else
		table_number(t, n);
}

/* What the explanation says of an instruction: how often it ran, and for how long. */
struct rate {
	double frequency, cycles; /* NAN: not known */
	double blamed;
	struct freq_interval runs, takes;
	bool too_fast;
};

static struct rate rate_of(const struct list *l, size_t i)
{
	const struct explained *e = l->explained;
	struct rate r = { NAN, NAN, NAN, { NAN, NAN, NAN }, { NAN, NAN, NAN }, false };
	int insn = e ? explained_insn_at(e, l->insn[i].offset) : -1;
	int block;

	if (insn < 0)
		return r;
	block = cfg_block_at(e->cfg, l->insn[i].offset);
	r.frequency = e->freq->block[block];
	r.cycles = e->blame->insn[insn].cycles;
	r.blamed = e->blamed[insn];
	r.runs = e->freq->block_range[block];
	r.too_fast = calc_is_too_fast(e, block);
	r.takes = calc_insn_range(e, insn);
	return r;
}

static void put_rate_cells(struct table *t, const struct list *l, size_t i, bool text)
{
	const struct rate r = rate_of(l, i);
	char buf[INTERVAL_TEXT_SIZE];

	if (l->explained && r.blamed >= 0.5)
		table_real(t, r.blamed, 0);
	else if (l->explained)
		table_empty(t);
	if (!text || !isfinite(r.frequency)) {
		table_real(t, r.frequency, 1);
		table_real(t, r.cycles, 3);
		return;
	}
	table_text(t, interval_text_count(&r.runs, buf));
	if (isfinite(r.cycles))
		table_text(t, interval_text_marked(&r.takes, 1, r.too_fast, buf));
	else
		table_empty(t);
}

static void put_range_cells(struct table *t, const struct list *l, size_t i)
{
	const struct rate r = rate_of(l, i);

	table_real(t, r.runs.low, 1);
	table_real(t, r.runs.high, 1);
	table_real(t, r.takes.low, 3);
	table_real(t, r.takes.high, 3);
	table_real(t, r.blamed, 3);
	table_number(t, r.too_fast);
}

static void put_insn(struct table *t, const struct list *l, size_t i, bool text)
{
	const struct list_insn *insn = &l->insn[i];
	const struct event_sum *tally = &l->tally[i * l->scope->ev.nr];

	table_color(t, out_heat(list_time_percent(l, tally)));
	list_event_cells(l, t, tally, text);
	put_rate_cells(t, l, i, text);
	put_outcome_cell(t, l, i, insn->taken, text);
	put_outcome_cell(t, l, i, insn->not_taken, text);
	table_hex(t, insn->offset);
	table_hex(t, insn->address);
	table_text(t, insn->text);
	table_text(t, insn->line.file);
	if (insn->line.file)
		table_number(t, insn->line.line);
	else
		table_empty(t);
	put_range_cells(t, l, i);
	if (l->inlines)
		inlined_put_cell(t, &insn->inlined);
	table_percent(t, list_time_percent(l, tally));
}

void list_put_line(struct table *t, struct sources *sources, const struct line *line,
		   const struct line *before)
{
	const char *text;
	char *all;

	if (!line->file || (before && before->file && line->line == before->line &&
			    !strcmp(line->file, before->file)))
		return;
	text = sources_line(sources, line->file, line->line);
	if (asprintf(&all, "%s:%d%s%s", path_base(line->file), line->line,
		     text ? "  " : "", text ? text : "") < 0)
		return;
	table_line(t, TERM_BLUE, all);
	free(all);
}

size_t list_last_columns(const struct list *l, struct column *c, size_t nr)
{
	if (l->inlines)
		c[nr++] = (struct column){ "", "inlined", COLUMN_TEXT,
					   COLUMN_NOT_IN_TEXT };
	c[nr++] = (struct column){ "", "time_percent", COLUMN_NUMBER,
				   COLUMN_NOT_IN_TEXT };
	return nr;
}

static size_t make_columns(const struct list *l, struct column *c, char **keys)
{
	const enum column_where outcome =
		l->has_outcomes ? COLUMN_EVERYWHERE : COLUMN_NOT_IN_TEXT;
	const enum column_where rate =
		l->explained ? COLUMN_EVERYWHERE : COLUMN_NOT_IN_TEXT;
	const struct column rest[] = {
		{ "frequency", "frequency", COLUMN_NUMBER, rate },
		{ "CPI", "cpi", COLUMN_NUMBER, rate },
		{ "taken", "taken", COLUMN_NUMBER, outcome },
		{ "not taken", "not_taken", COLUMN_NUMBER, outcome },
		{ "offset", "offset", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "address", "address", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "instruction", "text", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "", "file", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
		{ "", "line", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "frequency_low", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "frequency_high", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "cpi_low", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "cpi_high", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "blamed_samples", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "faster_than_best", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	};
	size_t nr = list_event_columns(l, c, keys);

	if (l->explained)
		c[nr++] = (struct column){ "blamed", "", COLUMN_NUMBER,
					   COLUMN_ONLY_IN_TEXT };
	memcpy(c + nr, rest, sizeof(rest));
	return list_last_columns(l, c, nr + sizeof(rest) / sizeof(rest[0]));
}

static void json_insn(struct json *j, const struct list *l, size_t i)
{
	const struct list_insn *insn = &l->insn[i];
	const struct event_sum *tally = &l->tally[i * l->scope->ev.nr];
	const struct rate r = rate_of(l, i);

	json_object(j, NULL);
	json_hex(j, "offset", insn->offset);
	json_hex(j, "address", insn->address);
	json_string(j, "text", insn->text);
	report_json_samples(j, "samples", &l->scope->ev, tally);
	json_real(j, "percent", list_percent(l, tally, 0), 4);
	json_real(j, "frequency", r.frequency, 1);
	json_real(j, "cpi", r.cycles, 3);
	json_interval(j, "frequency_interval", r.runs, 1, 1);
	json_interval(j, "cpi_interval", r.takes, 1, 3);
	json_number(j, "taken", insn->taken);
	json_number(j, "not_taken", insn->not_taken);
	json_string(j, "file", insn->line.file);
	if (insn->line.file)
		json_number(j, "line", insn->line.line);
	else
		json_null(j, "line");
	json_real(j, "blamed_samples", r.blamed, 3);
	json_bool(j, "faster_than_best", r.too_fast);
	if (l->inlines)
		inlined_json(j, &insn->inlined);
	json_real(j, "time_percent", list_time_percent(l, tally), 4);
	json_end(j);
}

static void print_json(const struct list *l)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	list_json_header(&j, l);
	json_array(&j, "instructions");
	for (size_t i = 0; i < l->nr_insns; i++)
		json_insn(&j, l, i);
	json_end(&j);
	json_end(&j);
}

void list_put_left_out(struct table *t, size_t nr, const char *what, double percent)
{
	char line[80];

	snprintf(line, sizeof(line),
		 "... %zu %s%s left out, %.1f %% (--all shows them)", nr, what,
		 nr == 1 ? "" : "s", percent);
	table_line(t, NULL, line);
}

double list_percent_between(const struct list *l, const struct event_sum *tally,
			    size_t from, size_t to)
{
	double percent = 0;

	for (size_t i = from; i < to; i++)
		percent += list_time_percent(l, &tally[i * l->scope->ev.nr]);
	return percent;
}

static void put_insns(struct table *t, const struct list *l,
		      const struct hotspots *spots, bool with_source, bool text)
{
	const struct inlined_chain none = { NULL, 0 };
	const struct list_insn *before = NULL; /* the row above */

	for (size_t i = 0, next; i < l->nr_insns; i = next) {
		const struct list_insn *insn = &l->insn[i];

		next = i + 1;
		if (!hotspots_shows(spots, i)) {
			next = hotspots_next(spots, i);
			list_put_left_out(t, next - i, "instruction",
					  list_percent_between(l, l->tally, i, next));
			before = NULL;
			continue;
		}
		if (inlined_compare(&insn->inlined, before ? &before->inlined : &none))
			inlined_put_lines(t, &insn->inlined, l->place->name);
		if (with_source)
			list_put_line(t, l->sources, &insn->line,
				      before ? &before->line : NULL);
		put_insn(t, l, i, text);
		before = insn;
	}
}

static int print_table(const struct list *l, struct table *t, bool with_source,
		       const struct out_options *out)
{
	const bool text = out->format == OUT_TEXT;
	struct hotspots spots = { NULL, l->nr_insns };
	int err = text ? list_find_hotspots(l, l->tally, l->nr_insns, &spots) : 0;

	if (err)
		return err;
	put_insns(t, l, &spots, with_source, text);
	hotspots_fini(&spots);
	if (!text)
		return table_print_csv(t, true);
	list_print_header(l, true);
	return table_print_text(t, out_use_color(out->color), true);
}

int list_print_assembly(const struct list *l, bool with_source,
			const struct out_options *out)
{
	static const char *const drop[] = { "not_taken", "taken", "frequency", "cpi",
					    NULL };
	struct column columns[2 * EVENTS_MAX + 20];
	char *keys[2 * EVENTS_MAX] = { NULL };
	struct table *t;
	int err = -ENOMEM;

	if (out->format == OUT_JSON) {
		print_json(l);
		return 0;
	}
	t = table_new(columns, make_columns(l, columns, keys));
	if (t) {
		table_drop_first(t, drop);
		err = print_table(l, t, with_source, out);
	}
	table_free(t);
	for (size_t i = 0; i < 2 * EVENTS_MAX; i++)
		free(keys[i]);
	return err;
}
