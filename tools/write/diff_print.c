/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_print.c - rows with their change, its confidence interval and the verdict
 */
#include "config.h"

#include "tools/write/compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/ui/out.h"
#include "tools/ui/table.h"
#include "tools/ui/term.h"
#include "tools/write/report.h"

#define MAX_COLUMNS   32
#define BAR_SIZE      10
#define DEFAULT_LIMIT 40
#define MAX_SENTENCES 5 /* findings that are said in words */

static double percent_of(double log_ratio)
{
	return 100 * expm1(log_ratio);
}

/* "++++" or "----": what the change did to the time, the greatest one filling it. */
static void put_bar(struct table *t, double change, double greatest)
{
	char bar[BAR_SIZE + 1] = "";
	int length = greatest > 0 ? (int)lround(BAR_SIZE * fabs(change) / greatest) : 0;

	if (length > BAR_SIZE)
		length = BAR_SIZE;
	memset(bar, change > 0 ? '+' : '-', length);
	bar[length] = '\0';
	table_text(t, bar);
}

static size_t make_columns(const struct diff *d, struct column *c)
{
	static const struct column values[] = {
		{ "A ms/s", "a_per_second", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "B ms/s", "b_per_second", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "delta_per_second", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "A%", "a_percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "B%", "b_percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "delta_percent", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "change", "change_percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "from", "low_percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "to", "high_percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "p", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "q", "q", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "bar", COLUMN_TEXT, COLUMN_ONLY_IN_TEXT },
		{ "", "found", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "verdict", "verdict", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "", "status", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
		{ "", "similarity", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "calls_ratio", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	};
	static const struct column other = { "", "b_procedure", COLUMN_TEXT,
					     COLUMN_NOT_IN_TEXT };
	static const struct column later[] = {
		{ "", "executions_ratio", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "executions_ratio_low", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "executions_ratio_high", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	};
	struct column name[MATRIX_NAME_COLUMNS];
	const size_t nr_names = matrix_name_columns(d->req->by, name);
	size_t nr = 0;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		c[nr++] = values[i];
	if (!d->ev[0].event[0].is_time) {
		c[0].title = "A 1/s";
		c[1].title = "B 1/s";
	}
	for (size_t i = 0; i < nr_names; i++) {
		c[nr++] = name[i];
		if (d->req->by == BY_PROCEDURE && !i)
			c[nr++] = other;
	}
	memcpy(c + nr, later, sizeof(later));
	return nr + sizeof(later) / sizeof(later[0]);
}

/* The names of what is compared as one row. */
static void put_procedures(const struct matrix_row *row, bool text, struct buf *out)
{
	for (const char *between = ""; row; row = row->with, between = " + ") {
		buf_puts(out, between);
		matrix_put_procedure(row, text, out);
	}
}

static void put_names(struct table *t, const struct diff *d, const struct diff_row *r,
		      bool text)
{
	struct buf a = { 0 }, b = { 0 };

	if (d->req->by != BY_PROCEDURE) {
		matrix_name_cells(t, d->req->by, r->row, text);
		return;
	}
	put_procedures(r->row, text, &a);
	put_procedures(r->other ? r->other : r->row, text, &b);
	if (text && r->other)
		buf_printf(&a, " = %s", buf_str(&b));
	table_text(t, buf_str(&a));
	table_text(t, buf_str(&b));
	table_text(t, matrix_image(r->row));
	buf_fini(&a);
	buf_fini(&b);
}

static void put_q(struct table *t, double q, bool text)
{
	char s[16];

	if (!text) {
		table_exact(t, q);
		return;
	}
	snprintf(s, sizeof(s), q < 0.001 ? "%.0e" : "%.3f", q);
	if (isnan(q))
		table_empty(t);
	else
		table_text(t, s);
}

/* "+12.3%" */
static void put_change(struct table *t, double percent, bool text)
{
	char s[32];

	if (!text || isnan(percent)) {
		table_exact(t, percent);
		return;
	}
	snprintf(s, sizeof(s), fabs(percent) < 0.05 ? "0.0%%" : "%+.1f%%", percent);
	table_text(t, s);
}

static const char *text_verdict(const struct diff *d, const struct diff_row *r)
{
	if (d->c.basis == COMPARE_SAMPLING && !*diff_status(r))
		return diff_is_beyond_sampling(d, r) ? "more than sampling" : NULL;
	return *diff_status(r) ? diff_status(r) : diff_verdict_text(r);
}

/* Nothing where they were not judged. */
static void put_runs(struct table *t, const struct diff_row *r)
{
	const struct freq_interval none = { NAN, NAN, NAN }, *runs = &r->verdict.runs;

	if (!(runs->likely > 0))
		runs = &none;
	table_exact(t, runs->likely);
	table_exact(t, runs->low);
	table_exact(t, runs->high);
}

static void put_row(struct table *t, const struct diff *d, const struct diff_row *r,
		    double greatest, bool text)
{
	const double unit = text && d->ev[0].event[0].is_time ? 1e6 : 1;
	const double a = diff_per_second(d, r, 0) / unit;
	const double b = diff_per_second(d, r, 1) / unit;
	const double share = diff_percent(d, r, 1) - diff_percent(d, r, 0);
	const struct compare_row *c = r->compared;
	const bool one_sided = *diff_status(r);

	if (text)
		table_color(t, !c->found ? NULL : c->change > 0 ? TERM_RED : TERM_BLUE);
	table_value(t, a, 2, text);
	table_value(t, b, 2, text);
	table_value(t, b - a, 2, text);
	table_value(t, diff_percent(d, r, 0), 2, text);
	table_value(t, diff_percent(d, r, 1), 2, text);
	table_exact(t, share);
	put_change(t, one_sided ? NAN : percent_of(c->change), text);
	put_change(t, one_sided ? NAN : percent_of(c->low), text);
	put_change(t, one_sided ? NAN : percent_of(c->high), text);
	table_exact(t, c->p);
	put_q(t, c->q, text);
	put_bar(t, diff_effect(d, r), greatest);
	table_number(t, c->found);
	table_text(t, text ? text_verdict(d, r) : diff_verdict(r));
	table_text(t, one_sided ? diff_status(r) : "both");
	table_exact(t, r->other ? r->similarity : NAN);
	table_exact(t, r->verdict.calls);
	put_names(t, d, r, text);
	put_runs(t, r);
}

static const char *basis_name(enum compare_basis basis)
{
	static const char *const names[] = { "sampling", "runs", "history" };

	return names[basis];
}

static size_t nr_beyond_sampling(const struct diff *d)
{
	size_t nr = 0;

	for (size_t i = 0; i < d->nr_rows; i++)
		nr += diff_is_beyond_sampling(d, &d->row[i]);
	return nr;
}

/* What the intervals account for. */
static void print_basis(const struct diff *d)
{
	const size_t nr = d->sel[COMPARE_EARLIER].epochs.nr;
	const size_t a = diff_nr_runs(d, 0), b = diff_nr_runs(d, 1);
	const size_t least = a < b ? a : b;
	const char *unit = d->by_host ? "machines" : "epochs";

	out_line("Change is %s",
		 d->c.by_median ? "relative to the median change of all rows"
				: "of time per second: too few rows are in both A "
				  "and B for a median");
	switch (d->c.basis) {
	case COMPARE_SAMPLING:
		out_line("Only %zu epoch%s a side: differences may be normal "
			 "variation; record %d or more, or give --history",
			 least, least == 1 ? "" : "s", COMPARE_MIN_RUNS);
		out_line("%zu of %zu rows differ by more than sampling (by over %.0f%% "
			 "plus %.0f standard errors); none of them can be called "
			 "changed",
			 nr_beyond_sampling(d), d->nr_rows,
			 100 * (DIFF_LEAST_RATIO - 1), DIFF_LEAST_ERRORS);
		out_line("Of rows without a change, 1 in 10 has a 90%% interval "
			 "without 0");
		return;
	case COMPARE_HISTORY:
		out_line("Variation between %s, %sfrom %zu earlier %s: %.2f%% beyond "
			 "sampling",
			 unit, d->by_host ? "also " : "", nr,
			 d->by_host ? "epochs" : "ones", 100 * sqrt(d->c.phi));
		break;
	case COMPARE_RUNS:
		out_line("Variation between %s: %.2f%% beyond sampling", unit,
			 100 * sqrt(d->c.phi));
		break;
	}
	out_line("%zu of %zu tested rows changed by more than chance explains",
		 d->c.nr_found, d->c.nr_tested);
}

/* "hash: slower, +96.0% (95%: +85.3% to +107.2%)" */
static void print_finding(const struct diff_row *r)
{
	const struct compare_row *c = r->compared;
	const struct freq_interval *runs = &r->verdict.runs;
	struct buf name = { 0 };
	char ran[64] = "";

	put_procedures(r->row, true, &name);
	if (r->verdict.kind == SHAPE_FREQUENCY && runs->likely > 0)
		snprintf(ran, sizeof(ran),
			 "; it ran %.2g times as often (%.2g to %.2g)", runs->likely,
			 runs->low, runs->high);
	out_line("  %s: %s, %+.1f%% (95%%: %+.1f%% to %+.1f%%)%s", buf_str(&name),
		 diff_verdict_text(r), percent_of(c->change), percent_of(c->low),
		 percent_of(c->high), ran);
	buf_fini(&name);
}

/* The findings in words: a narrow terminal has no room for their intervals. */
static void print_findings(const struct diff *d)
{
	size_t nr = 0;

	if (d->req->by != BY_PROCEDURE || d->c.basis == COMPARE_SAMPLING)
		return;
	for (size_t i = 0; i < d->nr_rows && nr < MAX_SENTENCES; i++) {
		const struct diff_row *r = &d->row[i];

		if (!r->compared->found || *diff_status(r))
			continue;
		print_finding(r);
		nr++;
	}
}

static void print_header(const struct diff *d)
{
	static const char *const names[] = { "A", "B" };

	for (int side = 0; side < 2; side++) {
		const size_t nr = d->sel[side].epochs.nr, parts = d->parts[side].nr;
		char rolled[48] = "";

		if (parts > nr)
			snprintf(rolled, sizeof(rolled), ", rolled up from %zu", parts);
		out_line("%s: %s, %zu epoch%s%s, %.1f s", names[side], d->spec[side],
			 nr, nr == 1 ? "" : "s", rolled, d->seconds[side]);
		report_header(&d->sel[side], &d->ev[side]);
	}
	print_basis(d);
	print_findings(d);
	putchar('\n');
}

static int print_json(const struct diff *d, struct table *t)
{
	static const char *const names[] = { "a", "b" };
	struct json j = { 0 };
	int err;

	json_object(&j, NULL);
	for (int side = 0; side < 2; side++) {
		json_object(&j, names[side]);
		report_json_header(&j, &d->sel[side]);
		json_number(&j, "parts", d->parts[side].nr);
		json_exact(&j, "seconds", d->seconds[side]);
		json_exact(&j, "total", d->total[side]);
		json_end(&j);
	}
	json_string(&j, "normalized_by", d->c.by_median ? "median" : "time");
	json_string(&j, "basis", basis_name(d->c.basis));
	json_number(&j, "earlier_epochs", d->sel[COMPARE_EARLIER].epochs.nr);
	json_exact(&j, "cv_between", sqrt(d->c.phi));
	json_exact(&j, "df_prior", d->c.df_prior);
	json_number(&j, "tested", d->c.nr_tested);
	json_number(&j, "found", d->c.nr_found);
	json_array(&j, "rows");
	err = table_print_json(t, &j);
	json_end(&j);
	json_string(&j, "runs", d->by_host ? "machines" : "epochs");
	json_end(&j);
	return err;
}

static int print_text(const struct diff *d, struct table *t, size_t shown, int color)
{
	int err;

	print_header(d);
	err = table_print_text(t, out_use_color(color), true);
	if (err)
		return err;
	if (d->nr_rows + d->nr_left_out > shown)
		out_line("... %zu more", d->nr_rows + d->nr_left_out - shown);
	for (int side = 0; side < 2; side++)
		report_footer(&d->sel[side]);
	return 0;
}

int diff_print(struct diff *d, const struct out_options *out)
{
	static const char *const last[] = { "verdict", "low_percent", "high_percent",
					    "q",       "bar",         NULL };
	static const char *const drop[] = { "bar",         "q",         "high_percent",
					    "low_percent", "a_percent", "b_percent",
					    NULL };
	const bool text = out->format == OUT_TEXT;
	uint64_t limit = out->limit;
	struct column columns[MAX_COLUMNS];
	struct table *t = table_new(columns, make_columns(d, columns));
	double greatest = 0;
	size_t nr = d->nr_rows;
	int err;

	if (!t)
		return -ENOMEM;
	if (!limit && text)
		limit = d->c.nr_found > DEFAULT_LIMIT ? d->c.nr_found : DEFAULT_LIMIT;
	table_put_last(t, last);
	table_drop_first(t, drop);
	nr = limit && nr > limit ? limit : nr;
	for (size_t i = 0; i < nr; i++)
		greatest = fmax(greatest, fabs(diff_effect(d, &d->row[i])));
	for (size_t i = 0; i < nr; i++)
		put_row(t, d, &d->row[i], greatest, text);
	if (text)
		err = print_text(d, t, nr, out->color);
	else if (out->format == OUT_JSON)
		err = print_json(d, t);
	else
		err = table_print_csv(t, true);
	table_free(t);
	return err;
}
