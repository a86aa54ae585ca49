/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/summary.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "tools/out.h"
#include "tools/table.h"

static const struct {
	enum explain_state state;
	const char *key, *text;
} not_explained[] = {
	{ EXPLAIN_DEFERRED, "deferred", "Kernel, deferred" },
	{ EXPLAIN_NO_CODE, "no_code", "Code not available" },
	{ EXPLAIN_NO_PROCEDURE, "no_procedure", "Outside any procedure" },
	{ EXPLAIN_NO_IMAGE, "no_image", "Image not available" },
};

const char *summary_group_name(enum summary_group group)
{
	static const char *const names[] = { "dynamic", "static", "execution", "error",
					     "not_tallied" };

	return names[group];
}

static bool is_sampled(const struct explained *e, const struct cfg_block *block)
{
	for (int i = 0; i < block->nr_insns; i++) {
		if (e->blamed[block->first_insn + i] > 0)
			return true;
	}
	return false;
}

/*
 * What ran, and what it would have taken at best: of blocks with samples, for all time
 * is theirs. Others that might have run are many, and not one of them is seen to have.
 */
static void add_cycles(struct summary *s, const struct explained *e)
{
	for (int b = 0; b < e->cfg->exit; b++) {
		const struct cfg_block *block = &e->cfg->block[b];
		const double f = e->freq->block[b];

		if (!isfinite(f) || !is_sampled(e, block))
			continue;
		s->instructions += f * block->nr_insns;
		s->best += f * e->block_cycles[b];
	}
	s->actual += e->blame->summary.tallied * e->period_cycles;
}

void summary_add(struct summary *s, const struct explanation *ex)
{
	if (ex->state != EXPLAIN_DONE) {
		s->left[ex->state] += ex->samples;
		return;
	}
	blame_summary_add(&s->blame, &ex->e->blame->summary);
	add_cycles(s, ex->e);
	s->stray += ex->stray;
	s->nr_procedures++;
	s->nr_bytes += ex->symbol->end - ex->symbol->start;
}

static double sum_all(const struct summary *s)
{
	double all = s->blame.samples + s->stray + s->unknown;

	for (int i = 0; i < EXPLAIN_NR_STATES; i++)
		all += s->left[i];
	return all;
}

static double add_reasons(const struct summary *s, struct summary_row *out, size_t *nr,
			  enum blame_reason from, enum blame_reason to,
			  enum summary_group group)
{
	double sum = 0;

	for (enum blame_reason r = from; r < to; r++) {
		out[(*nr)++] =
			(struct summary_row){ group, blame_name(r), blame_text(r),
					      s->blame.by_first[r],
					      s->blame.reason[r] };
		sum += s->blame.by_first[r];
	}
	return sum;
}

static void add_row(struct summary_row *out, size_t *nr, enum summary_group group,
		    const char *key, const char *text, double samples)
{
	out[(*nr)++] =
		(struct summary_row){ group, key, text, samples, { samples, samples } };
}

size_t summary_rows(const struct summary *s, struct summary_row out[SUMMARY_MAX_ROWS])
{
	const struct blame_summary *b = &s->blame;
	double sum = b->execution - b->gain;
	size_t nr = 0;

	sum += add_reasons(s, out, &nr, 0, BLAME_NR_DYNAMIC, SUMMARY_DYNAMIC);
	add_row(out, &nr, SUMMARY_DYNAMIC, "gain", "Unexplained gain", -b->gain);
	sum += add_reasons(s, out, &nr, BLAME_NR_DYNAMIC, BLAME_NR_REASONS,
			   SUMMARY_STATIC);
	add_row(out, &nr, SUMMARY_EXECUTION, "execution", "Execution", b->execution);
	add_row(out, &nr, SUMMARY_ERROR, "error", "Net sampling error",
		b->tallied - sum);
	add_row(out, &nr, SUMMARY_NOT_TALLIED, "no_frequency", "Frequency not known",
		b->outside);
	for (size_t i = 0; i < sizeof(not_explained) / sizeof(not_explained[0]); i++)
		add_row(out, &nr, SUMMARY_NOT_TALLIED, not_explained[i].key,
			not_explained[i].text, s->left[not_explained[i].state]);
	if (s->has_few)
		add_row(out, &nr, SUMMARY_NOT_TALLIED, "few_samples", "Few samples",
			s->left[EXPLAIN_FEW_SAMPLES]);
	add_row(out, &nr, SUMMARY_NOT_TALLIED, "no_instruction", "At no instruction",
		s->stray);
	add_row(out, &nr, SUMMARY_NOT_TALLIED, "unknown", "Unknown image", s->unknown);
	return nr;
}

static double percent(double part, double all)
{
	double p = all > 0 ? 100 * part / all : 0;

	return fabs(p) < 0.05 ? 0 : p; /* no "-0.0%" */
}

static void print_cycles(const struct summary *s)
{
	if (!(s->instructions > 0))
		return;
	out_line("*** Best-case %.4g/%.4g = %.2f CPI", s->best, s->instructions,
		 s->best / s->instructions);
	out_line("*** Actual    %.4g/%.4g = %.2f CPI", s->actual, s->instructions,
		 s->actual / s->instructions);
	if (s->actual < s->best)
		out_line("*** (faster than at best: frequencies are right to a common "
			 "factor, or the model is not)");
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
				 row->samples, percent(row->samples, sum_all(s)));
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
			 percent(all, sum_all(s)), sum_all(s));
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
	double sum[SUMMARY_NR_GROUPS] = { 0 };

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
	bool open = false;

	json_number(j, "procedures", s->nr_procedures);
	json_number(j, "code_bytes", s->nr_bytes);
	json_real(j, "samples", sum_all(s), 3);
	json_real(j, "tallied", s->blame.tallied, 3);
	json_real(j, "instructions", s->instructions, 1);
	json_real(j, "best_case_cpi", s->best / s->instructions, 4);
	json_real(j, "actual_cpi", s->actual / s->instructions, 4);
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
		table_percent(t, percent(row[i].samples, sum_all(s)));
	}
	err = table_print_csv(t, true);
	table_free(t);
	return err;
}
