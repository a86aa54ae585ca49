/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats_print.c - the columns of SOSP'97 Figure 3, as text, JSON and CSV
 */
#include "config.h"

#include "tools/write/compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/times.h"
#include "tools/ui/out.h"
#include "tools/ui/table.h"
#include "tools/write/report.h"

#define MAX_COLUMNS 24

static void put_percent(struct table *t, double v, bool text)
{
	if (text)
		table_percent(t, v);
	else
		table_exact(t, v);
}

static const char *excess_mark(enum spread_excess excess)
{
	static const char *const marks[] = { "", "", "*", "**" };

	return marks[excess];
}

static const char *excess_name(enum spread_excess excess)
{
	static const char *const names[] = { NULL, "chance", "sampling", "runs" };

	return names[excess];
}

static size_t make_columns(const struct stats *s, struct column *c)
{
	static const struct column values[] = {
		{ "range%", "range_percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "range", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "sum", "sum", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "sum%", "sum_percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "N", "n", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "present", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "mean", "mean", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "std-dev", "std_dev", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "min", "min", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "max", "max", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "excess", COLUMN_TEXT, COLUMN_ONLY_IN_TEXT },
		{ "", "exceeds", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
		{ "", "dispersion", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "p", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "q", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "cv_between", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	};
	static const struct column category[] = {
		{ "group", "group", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "category", "category", COLUMN_TEXT, COLUMN_EVERYWHERE },
	};
	size_t nr = 0;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		c[nr++] = values[i];
	if (s->req->by != BY_CATEGORY)
		return nr + matrix_name_columns(s->req->by, c + nr);
	for (size_t i = 0; i < sizeof(category) / sizeof(category[0]); i++)
		c[nr++] = category[i];
	return nr;
}

static void put_names(struct table *t, const struct stats *s, const struct stats_row *r,
		      bool text)
{
	if (s->req->by != BY_CATEGORY) {
		matrix_name_cells(t, s->req->by, r->row, text);
		return;
	}
	table_text(t, r->group);
	table_text(t, r->category);
}

static void put_row(struct table *t, const struct stats *s, const struct stats_row *r,
		    bool text)
{
	const struct spread *v = &r->spread;

	put_percent(t, 100 * spread_range(v), text);
	table_value(t, v->max - v->min, 2, text);
	table_value(t, v->sum, 2, text);
	put_percent(t, s->sum > 0 ? 100 * v->sum / s->sum : 0, text);
	table_number(t, v->nr);
	table_number(t, v->present);
	table_value(t, v->mean, 2, text);
	table_value(t, spread_deviation(v), 2, text);
	table_value(t, v->min, 2, text);
	table_value(t, v->max, 2, text);
	table_text(t, excess_mark(r->test.excess));
	table_text(t, excess_name(r->test.excess));
	table_exact(t, r->test.ratio);
	table_exact(t, r->test.p);
	table_exact(t, r->test.q);
	table_exact(t, r->test.cv);
	put_names(t, s, r, text);
}

/* Epochs whose length alone makes values differ. */
static bool has_other_lengths(const struct stats *s)
{
	double least = INFINITY, most = 0;

	for (size_t i = 0; i < s->sel.epochs.nr; i++) {
		const double seconds = matrix_seconds(&s->sel.epochs.epoch[i]);

		least = fmin(least, seconds);
		most = fmax(most, seconds);
	}
	return most > 1.1 * least;
}

static void print_header(const struct stats *s)
{
	report_header(&s->sel, &s->ev);
	out_line("Number of epochs = %zu, sum of all rows = %.6g; values in %s",
		 s->runs.nr, s->sum, stats_unit(s));
	if (s->req->normalize == NORMALIZE_NONE && has_other_lengths(s))
		out_line("Note: the epochs are not of one length; --normalize=time or "
			 "total makes up for that.");
	if (s->req->by != BY_CATEGORY)
		out_line(
			"Median variation of rows between epochs: %.2f%% beyond "
			"sampling; "
			"*: more than sampling explains, **: also more than the median",
			100 * s->cv);
	putchar('\n');
}

/* By the index of the row that is printed. */
static void json_outliers(struct json *j, const struct stats *s, size_t nr_rows)
{
	struct stats_value list[2 * STATS_EXTREMES];
	char id[SELECT_ID_SIZE], text[TIME_TEXT_SIZE];

	json_array(j, "outliers");
	for (size_t i = 0; i < nr_rows; i++) {
		const size_t nr = stats_outliers(&s->row[i], list);

		for (size_t k = 0; k < nr; k++) {
			const struct query_epoch *e = list[k].epoch;

			json_object(j, NULL);
			json_number(j, "row", i);
			json_string(j, "epoch", select_epoch_id(&s->sel, e, id));
			json_string(j, "from", time_format(e->from_ns, text));
			json_string(j, "to", time_format(e->to_ns, text));
			json_exact(j, "value", list[k].value);
			json_end(j);
		}
	}
	json_end(j);
}

static int print_json(const struct stats *s, struct table *t, size_t nr_rows)
{
	struct json j = { 0 };
	int err;

	json_object(&j, NULL);
	report_json_header(&j, &s->sel);
	json_string(&j, "unit", stats_unit(s));
	json_exact(&j, "sum", s->sum);
	json_exact(&j, "cv_between", s->cv);
	json_array(&j, "rows");
	err = table_print_json(t, &j);
	json_end(&j);
	json_outliers(&j, s, nr_rows);
	report_json_losses(&j, &s->sel);
	json_end(&j);
	return err;
}

int stats_print(struct stats *s, const struct out_options *out)
{
	const int format = out->format;
	const uint64_t limit = out->limit;
	struct column columns[MAX_COLUMNS];
	struct table *t = table_new(columns, make_columns(s, columns));
	size_t shown = 0;
	int err;

	if (!t)
		return -ENOMEM;
	for (; shown < s->nr_rows && (!limit || shown < limit); shown++)
		put_row(t, s, &s->row[shown], format == OUT_TEXT);
	if (format == OUT_JSON) {
		err = print_json(s, t, shown);
	} else if (format == OUT_CSV) {
		err = table_print_csv(t, true);
	} else {
		print_header(s);
		err = table_print_text(t, false, true);
		if (!err && limit && s->nr_rows > limit)
			out_line("... %zu more", s->nr_rows - (size_t)limit);
		if (!err)
			report_footer(&s->sel);
	}
	table_free(t);
	return err;
}
