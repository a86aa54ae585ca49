/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ranking_print.c - the hottest instructions and the worst stalls
 *
 * Both tables end with the same columns. struct kind has all columns.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/path.h"
#include "tools/ui/out.h"
#include "tools/write/explain.h"
#include "tools/write/plain_name.h"
#include "tools/write/report.h"

/* "copy.c:12" */
static void put_source(const struct ranked_insn *ranked, struct table *t)
{
	char *text;

	if (!ranked->file ||
	    asprintf(&text, "%s:%d", path_base(ranked->file), ranked->line) < 0) {
		table_empty(t);
		return;
	}
	table_text(t, text);
	free(text);
}

void ranked_insn_put_place(const struct ranked_insn *ranked, struct table *t)
{
	struct buf plain = { 0 };

	plain_procedure(ranked->procedure, ranked->image, &plain);
	table_hex(t, ranked->address);
	table_hex(t, ranked->offset);
	table_text(t, ranked->procedure);
	table_text(t, buf_str(&plain));
	buf_fini(&plain);
	table_text(t, ranked->text);
	table_text(t, ranked->image);
	table_text(t, ranked->build_id);
	put_source(ranked, t);
	table_text(t, ranked->file);
	if (ranked->file)
		table_number(t, ranked->line);
	else
		table_empty(t);
}

static int print_json(const struct explainer *x, struct table *t, const char *name)
{
	const struct scope *s = explainer_scope(x);
	struct json j = { 0 };
	int err;

	json_object(&j, NULL);
	report_json_header(&j, &s->sel);
	explainer_json_unit(x, &j);
	json_array(&j, name);
	err = table_print_json(t, &j);
	json_end(&j);
	report_json_losses(&j, &s->sel);
	json_end(&j);
	return err;
}

/* A kind of insns: its name in JSON, and its columns. */
struct kind {
	const char *name;
	const char *corrected; /* which column has samples of what was slow, or NULL */
	const struct column *columns;
	const char *const *drop; /* where a terminal is narrow */
	size_t nr_columns;
	/* Fills the columns before RANKED_INSN_COLUMNS. */
	void (*put)(struct table *t, const struct ranked_insn *ranked, double percent,
		    bool text);
};

static int print(const struct explainer *x, struct table *t, const struct kind *kind,
		 bool too_fast, const struct out_options *out)
{
	const struct scope *s = explainer_scope(x);
	int err;

	if (out->format == OUT_JSON)
		return print_json(x, t, kind->name);
	if (out->format == OUT_CSV)
		return table_print_csv(t, true);
	report_header(&s->sel, &s->ev);
	explainer_print_unit(x, kind->corrected);
	if (too_fast)
		out_line("* %s", FASTER_THAN_BEST);
	putchar('\n');
	err = table_print_text(t, out_use_color(out->color), true);
	if (!err)
		report_footer(&s->sel);
	return err;
}

static int print_insns(const struct explainer *x, struct ranking *r,
		       const struct kind *kind, const struct out_options *out)
{
	struct table *t = table_new(kind->columns, kind->nr_columns);
	const struct ranked_insn *ranked;
	bool too_fast = false;
	size_t nr;
	int err;

	if (!t)
		return -ENOMEM;
	table_drop_first(t, kind->drop);
	ranked = ranked_insns_sorted(&r->insns, &nr);
	for (size_t i = 0; i < nr; i++) {
		const double percent = 100 * ranked[i].amount / r->all;

		table_color(t, out_heat(percent));
		kind->put(t, &ranked[i], percent, out->format == OUT_TEXT);
		ranked_insn_put_place(&ranked[i], t);
		table_number(t, ranked[i].too_fast);
		too_fast |= ranked[i].too_fast && isfinite(ranked[i].cycles);
	}
	err = print(x, t, kind, too_fast, out);
	table_free(t);
	return err;
}

static void put_cycles(struct table *t, const struct ranked_insn *ranked, bool text)
{
	char buf[INTERVAL_TEXT_SIZE];

	if (text && isfinite(ranked->cycles))
		table_text(t, interval_text_marked(&ranked->takes, 1, ranked->too_fast,
						   buf));
	else
		table_real(t, ranked->cycles, text ? 1 : 3);
}

static void put_range(struct table *t, const struct ranked_insn *ranked)
{
	table_real(t, ranked->takes.low, 3);
	table_real(t, ranked->takes.high, 3);
	table_real(t, ranked->runs.low, 1);
	table_real(t, ranked->runs.high, 1);
}

#define RANGE_COLUMNS(low, high)                                            \
	{ "", low, COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },                     \
		{ "", high, COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },            \
		{ "", "frequency_low", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT }, \
	{                                                                   \
		"", "frequency_high", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT     \
	}

/* Columns that were added later. They follow all others: scripts count columns. */
#define LATER_COLUMNS                                                     \
	{                                                                 \
		"", "faster_than_best", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT \
	}

static void put_stall(struct table *t, const struct ranked_insn *ranked, double percent,
		      bool text)
{
	table_real(t, ranked->amount, text ? 0 : 3);
	table_percent(t, percent);
	put_cycles(t, ranked, text);
	table_real(t, ranked->frequency, 1);
	put_range(t, ranked);
	table_text(t, ranked->dynamic ? "dynamic" : "static");
	table_text(t, ranked->reasons);
	table_text(t, ranked->culprits);
}

int ranking_print_stalls(const struct explainer *x, struct ranking *r,
			 const struct out_options *out)
{
	static const struct column columns[] = {
		{ "stalled", "samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "%", "percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "cycles", "cycles", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "frequency", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		RANGE_COLUMNS("cycles_low", "cycles_high"),
		{ "", "kind", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
		{ "reason", "reasons", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "culprit", "culprit_addresses", COLUMN_TEXT, COLUMN_EVERYWHERE },
		RANKED_INSN_COLUMNS,
		LATER_COLUMNS,
	};
	static const char *const drop[] = { "source",  "culprit_addresses", "image",
					    "address", "percent",           NULL };
	static const struct kind kind = {
		.name = "stalls",
		.columns = columns,
		.drop = drop,
		.nr_columns = sizeof(columns) / sizeof(columns[0]),
		.put = put_stall,
	};

	return print_insns(x, r, &kind, out);
}

static void put_hot(struct table *t, const struct ranked_insn *ranked, double percent,
		    bool text)
{
	table_real(t, ranked->samples, text ? 0 : 3);
	table_real(t, ranked->amount, text ? 0 : 3);
	table_percent(t, percent);
	put_cycles(t, ranked, text);
	table_real(t, ranked->frequency, 1);
	put_range(t, ranked);
}

int ranking_print_hot(const struct explainer *x, struct ranking *r,
		      const struct out_options *out)
{
	static const struct column columns[] = {
		{ "samples", "samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "blamed", "blamed_samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "%", "percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "CPI", "cpi", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "frequency", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		RANGE_COLUMNS("cpi_low", "cpi_high"),
		RANKED_INSN_COLUMNS,
		LATER_COLUMNS,
	};
	static const char *const drop[] = { "source", "samples", "image", NULL };
	static const struct kind kind = {
		.name = "instructions",
		.corrected = "in \"blamed\"",
		.columns = columns,
		.drop = drop,
		.nr_columns = sizeof(columns) / sizeof(columns[0]),
		.put = put_hot,
	};

	return print_insns(x, r, &kind, out);
}
