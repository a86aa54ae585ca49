/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * summary_print.c - where the cycles went, as text, JSON and CSV
 *
 * Text shows ranges where a reason is not certain, and a subtotal below each group.
 */
#include "config.h"

#include <errno.h>
#include <math.h>

#include "report/explain/calc.h"
#include "tools/ui/out.h"
#include "tools/ui/table.h"
#include "tools/write/explain.h"

static double percent(double part, double all)
{
	double p = all > 0 ? 100 * part / all : 0;

	return fabs(p) < 0.05 ? 0 : p; /* no "-0.0%" */
}

static void print_cycles(const struct summary *s)
{
	const struct freq_interval cycles = summary_cycles(s);
	char text[INTERVAL_TEXT_SIZE];

	if (!(s->instructions > 0))
		return;
	if (freq_interval_known(&cycles))
		out_line("*** Best-case %.4g/%.4g = %.2f CPI", s->best, s->instructions,
			 s->best / s->instructions);
	else
		out_line("*** Best-case %.2f CPI", s->best / s->instructions);
	if (freq_interval_known(&cycles))
		out_line("*** Actual    %.4g/%.4g = %.2f CPI (90 %%: %.2f to %.2f)",
			 s->actual, s->instructions, cycles.likely, cycles.low,
			 cycles.high);
	else
		out_line("*** Actual CPI is unknown: %s",
			 interval_text_cycles(&cycles, 2, text));
	if (calc_is_below_best(s->best / s->instructions, &cycles))
		out_line("*** (%s)", FASTER_THAN_BEST);
	out_line("***");
}

static void print_row(const struct summary *s, const struct summary_row *row)
{
	const double all = s->blame.tallied;

	switch (row->group) {
	case SUMMARY_DYNAMIC:
		out_line("*** %-20s %6.1f%% to %6.1f%%", row->text,
			 percent(row->range.least, all), percent(row->range.most, all));
		break;
	case SUMMARY_STATIC:
		out_line("*** %-20s           %6.1f%%", row->text,
			 percent(row->samples, all));
		break;
	case SUMMARY_EXECUTION:
	case SUMMARY_ERROR:
		out_line("*** %-20s                   %6.1f%%", row->text,
			 percent(row->samples, all));
		break;
	case SUMMARY_NOT_TALLIED:
	case SUMMARY_NR_GROUPS:
		if (row->samples > 0)
			out_line("***   %-22s %12.0f %6.1f%% of all", row->text,
				 row->samples,
				 percent(row->samples, summary_samples(s)));
		break;
	}
}

/* What stands below the last row of a group. */
static void print_subtotal(const struct summary *s, enum summary_group group,
			   const double *sum)
{
	static const char line[] = "*** %-20s                   %6.1f%%";
	const double all = s->blame.tallied;

	switch (group) {
	case SUMMARY_DYNAMIC:
		out_line(line, "Subtotal dynamic", percent(sum[group], all));
		out_line("***");
		break;
	case SUMMARY_STATIC:
		out_line(line, "Subtotal static", percent(sum[group], all));
		out_line("***");
		out_line(line, "Total stall",
			 percent(sum[group] + sum[SUMMARY_DYNAMIC], all));
		break;
	case SUMMARY_ERROR:
		out_line("***");
		out_line(line, "Total tallied", all > 0 ? 100.0 : 0.0);
		out_line("*** (%.0f samples, %.1f%% of all %.0f)", all,
			 percent(all, summary_samples(s)), summary_samples(s));
		break;
	case SUMMARY_EXECUTION:
	case SUMMARY_NOT_TALLIED:
	case SUMMARY_NR_GROUPS:
		break;
	}
}

void summary_print_text(const struct summary *s)
{
	struct summary_row row[SUMMARY_MAX_ROWS];
	const size_t nr = summary_rows(s, row);
	const double needed = summary_needed(s);
	double sum[SUMMARY_NR_GROUPS] = { 0 };

	if (needed > 0) {
		out_line("Too few samples (%.0f) to tell reasons: about %.0f needed",
			 summary_samples(s), needed);
		return;
	}
	print_cycles(s);
	for (size_t i = 0; i < nr; i++) {
		sum[row[i].group] += row[i].samples;
		print_row(s, &row[i]);
		if (i + 1 == nr || row[i + 1].group != row[i].group)
			print_subtotal(s, row[i].group, sum);
	}
}

static void json_row(struct json *j, const struct summary_row *row)
{
	if (row->group != SUMMARY_DYNAMIC && row->group != SUMMARY_STATIC) {
		json_real(j, row->key, row->samples, 3);
		return;
	}
	json_object(j, row->key);
	json_real(j, "samples", row->samples, 3);
	json_real(j, "least", row->range.least, 3);
	json_real(j, "most", row->range.most, 3);
	json_end(j);
}

void summary_json(struct json *j, const struct summary *s)
{
	struct summary_row row[SUMMARY_MAX_ROWS];
	const size_t nr = summary_rows(s, row);
	const struct freq_interval actual = summary_cycles(s);
	bool open = false;

	json_number(j, "procedures", s->nr_procedures);
	json_number(j, "code_bytes", s->nr_bytes);
	json_real(j, "samples", summary_samples(s), 3);
	json_real(j, "samples_needed", summary_needed(s), 0);
	json_real(j, "tallied", s->blame.tallied, 3);
	json_real(j, "instructions", s->instructions, 1);
	json_interval(j, "instructions_interval", summary_instructions(s), 1, 1);
	json_real(j, "best_case_cpi", s->best / s->instructions, 4);
	json_real(j, "actual_cpi", s->actual / s->instructions, 4);
	json_interval(j, "actual_cpi_interval", actual, 1, 4);
	json_bool(j, "faster_than_best",
		  calc_is_below_best(s->best / s->instructions, &actual));
	for (size_t i = 0; i < nr; i++) {
		const bool object = row[i].group != SUMMARY_EXECUTION &&
				    row[i].group != SUMMARY_ERROR;

		if (open && row[i].group != row[i - 1].group) {
			json_end(j);
			open = false;
		}
		if (object && !open) {
			json_object(j, summary_group_name(row[i].group));
			open = true;
		}
		json_row(j, &row[i]);
	}
	json_end(j);
}

int summary_print_csv(const struct summary *s)
{
	static const struct column columns[] = {
		{ "", "group", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "", "reason", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "", "samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "least", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "most", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	};
	struct summary_row row[SUMMARY_MAX_ROWS];
	const size_t nr = summary_rows(s, row);
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int err;

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		table_text(t, summary_group_name(row[i].group));
		table_text(t, row[i].key);
		table_real(t, row[i].samples, 3);
		table_real(t, row[i].range.least, 3);
		table_real(t, row[i].range.most, 3);
		table_percent(t, percent(row[i].samples, summary_samples(s)));
	}
	err = table_print_csv(t, true);
	table_free(t);
	return err;
}
