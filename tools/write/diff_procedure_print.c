/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_procedure_print.c - one procedure in two selections, as text, JSON or CSV
 *
 * Text rounds, and leaves out small stalls; the other forms have all rows in full.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "tools/ui/out.h"
#include "tools/ui/table.h"
#include "tools/ui/term.h"
#include "tools/write/compare.h"
#include "tools/write/explain.h"

/* The cells of both sides, then of their difference. */
static void put_time(struct table *t, const struct diff_time *time, bool text)
{
	if (text)
		table_color(t, time->delta > 1    ? TERM_RED
			       : time->delta < -1 ? TERM_BLUE
						  : NULL);
	table_value(t, time->side[0], 2, text);
	table_value(t, time->side[1], 2, text);
	table_value(t, time->delta, 2, text);
}

#define TIME_COLUMNS                                                               \
	{ "A ms/s", "a_ms_per_second", COLUMN_NUMBER, COLUMN_EVERYWHERE },         \
		{ "B ms/s", "b_ms_per_second", COLUMN_NUMBER, COLUMN_EVERYWHERE }, \
	{                                                                          \
		"delta", "delta_ms_per_second", COLUMN_NUMBER, COLUMN_EVERYWHERE   \
	}

static struct table *make_stalls(const struct diff_procedure *d, bool text)
{
	static const struct column columns[] = {
		TIME_COLUMNS,
		{ "A%", "a_percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "B%", "b_percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "a_least_percent", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "a_most_percent", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "b_least_percent", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "b_most_percent", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "group", "group", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "category", "category", COLUMN_TEXT, COLUMN_EVERYWHERE },
	};
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; t && i < d->nr_stalls; i++) {
		const struct diff_stall *s = &d->stall[i];

		if (text && s->is_small)
			continue;
		put_time(t, &s->time, text);
		table_value(t, s->percent[0], 1, text);
		table_value(t, s->percent[1], 1, text);
		table_exact(t, s->least[0]);
		table_exact(t, s->most[0]);
		table_exact(t, s->least[1]);
		table_exact(t, s->most[1]);
		table_text(t, s->group);
		table_text(t, text ? s->text : s->key);
	}
	return t;
}

/* A line ahead of the block's instructions. */
static void put_block(struct table *t, const struct diff_procedure *d,
		      const struct diff_block *block)
{
	const struct diff_insn *first = &d->insn[block->first];
	char line[256], a[INTERVAL_TEXT_SIZE], b[INTERVAL_TEXT_SIZE];

	snprintf(line, sizeof(line),
		 "*** Block 0x%" PRIx64
		 ": %.2f to %.2f ms/s, %+.2f; executions: A %s, B %s",
		 first->block, block->time.side[0], block->time.side[1],
		 block->time.delta, interval_text_count(&first->runs[0], a),
		 interval_text_count(&first->runs[1], b));
	table_line(t, TERM_BOLD, line);
}

static void put_cpi(struct table *t, const struct diff_insn *insn, int side, bool text)
{
	const struct freq_interval *cpi = &insn->cpi[side];
	char buf[INTERVAL_TEXT_SIZE];

	if (text && isfinite(cpi->likely))
		table_text(t, interval_text_marked(cpi, 1, insn->too_fast[side], buf));
	else
		table_value(t, cpi->likely, 1, text);
}

/* The ends of both sides' intervals: A's, then B's. */
static void put_ends(struct table *t, const struct freq_interval side[2])
{
	for (int k = 0; k < 2; k++) {
		table_exact(t, side[k].low);
		table_exact(t, side[k].high);
	}
}

#define END_COLUMNS(what)                                                     \
	{ "", "a_" what "_low", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },          \
		{ "", "a_" what "_high", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT }, \
		{ "", "b_" what "_low", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },  \
	{                                                                     \
		"", "b_" what "_high", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT      \
	}

static void put_address(struct table *t, bool is_there, uint64_t address)
{
	if (is_there)
		table_hex(t, address);
	else
		table_empty(t);
}

/* Whether the block is faster than its best case on this side. */
static void put_mark(struct table *t, const struct diff_insn *insn, int side)
{
	if (insn->in[side])
		table_exact(t, insn->too_fast[side]);
	else
		table_empty(t);
}

static bool any_too_fast(const struct diff_procedure *d)
{
	for (size_t i = 0; i < d->nr_insns; i++) {
		if (d->insn[i].too_fast[0] || d->insn[i].too_fast[1])
			return true;
	}
	return false;
}

static struct table *make_insns(const struct diff_procedure *d, bool text)
{
	const struct column columns[] = {
		TIME_COLUMNS,
		{ "A CPI", "a_cpi", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "B CPI", "b_cpi", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "a_executions", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "b_executions", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "block", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "address", "address", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "instruction", "text", COLUMN_TEXT, COLUMN_EVERYWHERE },
		END_COLUMNS("cpi"),
		END_COLUMNS("executions"),
		{ "B address", "b_address", COLUMN_NUMBER,
		  d->same_code ? COLUMN_NOT_IN_TEXT : COLUMN_EVERYWHERE },
		{ "", "a_faster_than_best", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "b_faster_than_best", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	};
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0, block = 0; t && i < d->nr_insns; i++) {
		const struct diff_insn *insn = &d->insn[i];

		if (block < d->nr_blocks && d->block[block].first == i)
			put_block(t, d, &d->block[block++]);
		put_time(t, &insn->time, text);
		put_cpi(t, insn, 0, text);
		put_cpi(t, insn, 1, text);
		table_exact(t, insn->runs[0].likely);
		table_exact(t, insn->runs[1].likely);
		table_hex(t, insn->block);
		put_address(t, insn->in[0], insn->address);
		table_text(t, insn->text);
		put_ends(t, insn->cpi);
		put_ends(t, insn->runs);
		put_address(t, insn->in[1], insn->b_address);
		put_mark(t, insn, 0);
		put_mark(t, insn, 1);
	}
	return t;
}

static int print_text(const struct diff_procedure *d, struct table *stalls,
		      struct table *instructions, int color)
{
	const bool colored = out_use_color(color);
	int err;

	out_line("Procedure %s", d->name);
	out_line("A: %s, %.0f samples, %.2f ms/s", d->spec[0], d->samples[0],
		 d->time[0]);
	out_line("B: %s, %.0f samples, %.2f ms/s", d->spec[1], d->samples[1],
		 d->time[1]);
	putchar('\n');
	err = table_print_text(stalls, colored, true);
	putchar('\n');
	if (any_too_fast(d))
		out_line("* %s", FASTER_THAN_BEST);
	if (!d->same_code)
		out_line(d->is_matched ? "The code differs: instructions of one side "
					 "alone have one address"
				       : "The code differs, and is too long to match "
					 "its instructions");
	if (!err && (d->same_code || d->is_matched))
		err = table_print_text(instructions, colored, true);
	return err;
}

static int print_json(const struct diff_procedure *d, struct table *stalls,
		      struct table *instructions)
{
	struct json j = { 0 };
	int err;

	json_object(&j, NULL);
	json_string(&j, "procedure", d->name);
	json_string(&j, "a", d->spec[0]);
	json_string(&j, "b", d->spec[1]);
	json_exact(&j, "a_samples", d->samples[0]);
	json_exact(&j, "b_samples", d->samples[1]);
	json_bool(&j, "same_code", d->same_code);
	json_bool(&j, "matched", d->same_code || d->is_matched);
	json_array(&j, "stalls");
	err = table_print_json(stalls, &j);
	json_end(&j);
	json_array(&j, "instructions");
	if (!err)
		err = table_print_json(instructions, &j);
	json_end(&j);
	json_end(&j);
	return err;
}

int diff_procedure_print(const struct diff_procedure *d, const struct out_options *out)
{
	const bool text = out->format == OUT_TEXT;
	struct table *stalls = make_stalls(d, text);
	struct table *instructions = make_insns(d, text);
	int err = -ENOMEM;

	if (stalls && instructions && text)
		err = print_text(d, stalls, instructions, out->color);
	else if (stalls && instructions && out->format == OUT_JSON)
		err = print_json(d, stalls, instructions);
	else if (stalls && instructions)
		err = table_print_csv(instructions, true);
	table_free(stalls);
	table_free(instructions);
	return err;
}
