/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cyclestack_print.c - cycle stacks as text, JSON and CSV
 *
 * A procedure without code has no blocks and no CPI: it is one block, whose
 * instructions have the cycles that TIP gives them.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>

#include "tools/ui/out.h"
#include "tools/write/explain.h"
#include "tools/write/report.h"

static const char *row_key(enum cyclestack_row row)
{
	static const char *const keys[] = {
#define CYCLESTACK_KEY(name, key, text) key,
		CYCLESTACK_ROWS(CYCLESTACK_KEY)
#undef CYCLESTACK_KEY
	};

	return keys[row];
}

static const char *row_text(enum cyclestack_row row)
{
	static const char *const texts[] = {
#define CYCLESTACK_TEXT(name, key, text) text,
		CYCLESTACK_ROWS(CYCLESTACK_TEXT)
#undef CYCLESTACK_TEXT
	};

	return texts[row];
}

static double percent(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

int cyclestack_print(const struct cyclestack *s)
{
	static const struct column columns[] = {
		{ "samples", "samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "%", "percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "cycle stack", "category", COLUMN_TEXT, COLUMN_EVERYWHERE },
	};
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int err;

	if (!t)
		return -ENOMEM;
	for (int r = 0; r < NR_CYCLESTACK_ROWS; r++) {
		table_real(t, s->row[r], 1);
		table_percent(t, percent(s->row[r], s->all));
		table_text(t, row_text(r));
	}
	err = table_print_text(t, false, true);
	table_free(t);
	return err;
}

void cyclestack_json(struct json *j, const struct cyclestack *s)
{
	json_object(j, "cycle_stack");
	for (int r = 0; r < NR_CYCLESTACK_ROWS; r++)
		json_real(j, row_key(r), s->row[r], 6);
	json_end(j);
}

static uint64_t sampled_at(const struct explainer *x, uint64_t offset)
{
	struct event_sum tally[EVENTS_MAX];

	explainer_tally(x, offset, tally);
	return tally[explainer_scope(x)->event].n;
}

static void put_list(struct table *t, const struct explainer *x,
		     const struct cyclestack_list *list, bool text)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct cyclestack_insn *in = &list->insn[i];

		table_color(t, out_heat(percent(in->stack.all, list->sum.all)));
		table_number(t, sampled_at(x, in->offset));
		table_real(t, in->stack.all, text ? 1 : 6);
		table_percent(t, percent(in->stack.all, list->sum.all));
		for (int r = 0; r < NR_CYCLESTACK_ROWS; r++) {
			if (text && !(in->stack.row[r] > 0))
				table_empty(t);
			else
				table_real(t, in->stack.row[r], text ? 1 : 6);
		}
		table_hex(t, in->offset);
		table_text(t, in->text);
	}
}

int cyclestack_print_list(const struct explainer *x, const struct explanation *ex,
			  const char *name, const struct cyclestack_list *list,
			  const struct out_options *out)
{
	const struct scope *s = explainer_scope(x);
	const bool text = out->format == OUT_TEXT;
	struct column columns[NR_CYCLESTACK_ROWS + 5] = {
		{ "samples", "samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "tip", "blamed_samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "%", "percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	};
	struct table *t;
	int err;

	for (int r = 0; r < NR_CYCLESTACK_ROWS; r++)
		columns[3 + r] = (struct column){ row_text(r), row_key(r),
						  COLUMN_NUMBER, COLUMN_EVERYWHERE };
	columns[3 + NR_CYCLESTACK_ROWS] =
		(struct column){ "address", "offset", COLUMN_NUMBER,
				 COLUMN_EVERYWHERE };
	columns[4 + NR_CYCLESTACK_ROWS] =
		(struct column){ "instruction", "text", COLUMN_TEXT,
				 COLUMN_EVERYWHERE };
	t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	if (!t)
		return -ENOMEM;
	put_list(t, x, list, text);
	if (text) {
		report_header(&s->sel, &s->ev);
		report_procedure(ex->symbol ? ex->symbol->name : name,
				 ex->image->desc.name, "");
		explainer_print_unit(x, NULL);
		out_line("Attribution: %s", explainer_attribution(x));
		putchar('\n');
		err = cyclestack_print(&list->sum);
		putchar('\n');
		if (!err)
			err = table_print_text(t, out_use_color(out->color), true);
	} else {
		err = table_print_csv(t, true);
	}
	table_free(t);
	return err;
}

static void json_insn(struct json *j, const struct explainer *x,
		      const struct cyclestack_insn *in)
{
	struct event_sum tally[EVENTS_MAX];

	json_object(j, NULL);
	json_hex(j, "offset", in->offset);
	json_string(j, "text", in->text);
	explainer_tally(x, in->offset, tally);
	report_json_samples(j, "samples", &explainer_scope(x)->ev, tally);
	json_real(j, "blamed_samples", in->stack.all, 6);
	json_null(j, "frequency");
	json_null(j, "frequency_interval");
	json_null(j, "cpi");
	json_null(j, "cpi_interval");
	json_null(j, "min_cycles");
	json_array(j, "stalls");
	json_end(j);
	cyclestack_json(j, &in->stack);
	json_end(j);
}

/* The members that calc's JSON has; what takes code is null. */
void cyclestack_json_list(const struct explainer *x, const struct explanation *ex,
			  const struct cyclestack_list *list, bool one_line)
{
	struct json j = { .one_line = one_line };
	char build_id[REPORT_BUILD_ID_SIZE];

	report_build_id(&ex->image->desc, build_id);
	json_object(&j, NULL);
	json_string(&j, "procedure", ex->symbol ? ex->symbol->name : NULL);
	json_string(&j, "image", ex->image->desc.name);
	json_string(&j, "build_id", *build_id ? build_id : NULL);
	json_null(&j, "frequency_unit");
	json_string(&j, "attribution", explainer_attribution(x));
	json_array(&j, "blocks");
	json_object(&j, NULL);
	json_hex(&j, "start", list->nr ? list->insn[0].offset : 0);
	json_hex(&j, "end", ex->symbol ? ex->symbol->end : UINT64_MAX);
	json_null(&j, "frequency");
	json_null(&j, "frequency_interval");
	json_null(&j, "confidence");
	json_null(&j, "best_case_cpi");
	json_null(&j, "actual_cpi");
	json_null(&j, "actual_cpi_interval");
	json_array(&j, "instructions");
	for (size_t i = 0; i < list->nr; i++)
		json_insn(&j, x, &list->insn[i]);
	json_end(&j);
	json_end(&j);
	json_end(&j);
	json_array(&j, "edges");
	json_end(&j);
	json_object(&j, "summary");
	explainer_json_unit(x, &j);
	cyclestack_json(&j, &list->sum);
	json_end(&j);
	json_end(&j);
}
