/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * values_print.c - text has addresses, as a disassembly shows them; CSV and JSON have
 *                  image offsets
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/path.h"
#include "tools/ui/out.h"
#include "tools/write/explain.h"
#include "tools/write/report.h"

#define TITLE_COLUMNS 76 /* of a line of a title, behind its two spaces */

static uint64_t offset_of(const struct values_report *r, int insn)
{
	return r->cfg->insn[insn].address - r->cfg->bias;
}

/* "0x1139 loop.c:12" */
static void put_place(const struct values_report *r, int insn, struct buf *out)
{
	const struct line line = image_line_at(r->im, offset_of(r, insn));

	buf_printf(out, "0x%" PRIx64, r->cfg->insn[insn].address);
	if (line.file)
		buf_printf(out, " %s:%d", path_base(line.file), line.line);
}

static const char *kind_name(enum value_kind kind)
{
	return kind == VALUE_TARGET ? "target" : "iterations";
}

/* The number of different values, "4", or "at least 7" if there seem to be others. */
static void put_distinct(const struct value_site *s, struct buf *out)
{
	if (s->distinct > (double)s->nr + 0.5)
		buf_printf(out, "at least %zu, about %.0f", s->nr, s->distinct);
	else
		buf_printf(out, "%zu", s->nr);
}

/* A line of a title, which has one or more; the first one names the instruction. */
static void put_line(struct table *t, struct buf *line)
{
	table_line(t, NULL, buf_str(line));
	buf_reset(line);
}

static void put_title(struct table *t, const struct values_report *r,
		      const struct values_site *site, struct buf *line)
{
	const struct value_site *s = site->from;
	const bool is_target = s->kind == VALUE_TARGET;

	if (!is_target)
		buf_puts(line, "loop ");
	put_place(r, s->insn, line);
	if (is_target)
		buf_printf(line, "  %s", site->text);
	put_line(t, line);
	buf_printf(line, "  %" PRIu64 " %s in %" PRIu64 " windows, different values: ",
		   s->seen, is_target ? "executions" : "runs", s->windows);
	put_distinct(s, line);
	put_line(t, line);
}

static void put_shares(struct table *t, const struct interval *share)
{
	table_percent(t, 100 * share->value);
	table_percent(t, 100 * share->low);
	table_percent(t, 100 * share->high);
}

static void put_value(struct table *t, const struct values_site *s, size_t i)
{
	const struct value *v = &s->from->value[i];
	const struct values_name *name = s->name ? &s->name[i] : NULL;
	struct buf text = { 0 };

	put_shares(t, &v->share);
	table_number(t, v->windows);
	if (!name)
		buf_printf(&text, "%" PRIu64 " iteration%s", v->value,
			   v->value == 1 ? "" : "s");
	else if (name->procedure)
		buf_puts(&text, name->procedure);
	else if (name->image) /* stripped: named as in other reports */
		buf_printf(&text, "%s+0x%" PRIx64, path_base(name->image), v->value);
	else
		buf_printf(&text, "0x%" PRIx64, v->value);
	table_text(t, buf_str(&text));
	table_text(t, name ? name->image : NULL);
	buf_fini(&text);
}

/* What the rows above leave: more values, and what windows do not show. */
static void put_rest(struct table *t, const struct values_site *site)
{
	const struct value_site *s = site->from;

	if (site->nr < s->nr) {
		table_percent(t, 100 * site->others);
		for (int i = 0; i < 3; i++)
			table_empty(t);
		table_text(t, "other values: --limit shows them");
		table_empty(t);
	}
	if (s->unknown > 0.00005) {
		table_percent(t, 100 * s->unknown);
		for (int i = 0; i < 3; i++)
			table_empty(t);
		table_text(t, s->kind == VALUE_TARGET ? "unknown"
						      : "unknown: longer than windows");
		table_empty(t);
	}
}

static int print_sites(const struct values_report *r, bool color)
{
	static const struct column columns[] = {
		{ "share", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "least", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "most", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "windows", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "value", "", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "image", "", COLUMN_TEXT, COLUMN_EVERYWHERE },
	};
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	struct buf title = { 0 };
	int err;

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_sites; i++) {
		put_title(t, r, &r->site[i], &title);
		for (size_t k = 0; k < r->site[i].nr; k++)
			put_value(t, &r->site[i], k);
		put_rest(t, &r->site[i]);
	}
	err = table_print_text(t, color, true);
	table_free(t);
	buf_fini(&title);
	return err;
}

static const char *const class_names[OPERAND_NR_CLASSES] = {
	[OPERAND_ZERO] = "zero",
	[OPERAND_SMALL] = "small",
	[OPERAND_POWER] = "power_of_two",
	[OPERAND_OTHER] = "other",
};

static const char *const class_texts[OPERAND_NR_CLASSES] = {
	[OPERAND_ZERO] = "zero",
	[OPERAND_SMALL] = "below 256",
	[OPERAND_POWER] = "larger power of two",
	[OPERAND_OTHER] = "other",
};

/* Lines of a title that break at spaces. */
static void put_wrapped(struct table *t, const char *text, struct buf *line)
{
	while (*text) {
		size_t n = strlen(text);

		if (n > TITLE_COLUMNS) {
			n = TITLE_COLUMNS;
			while (n && text[n] != ' ')
				n--;
			if (!n)
				n = strcspn(text, " ");
		}
		buf_printf(line, "  %.*s", (int)n, text);
		put_line(t, line);
		text += n + strspn(text + n, " ");
	}
}

/* What the operand is, and how often windows saw it. */
static void put_operand_title(struct table *t, const struct values_report *r,
			      const struct values_operand *o, struct buf *line)
{
	static const char *const what[OPERAND_NR_KINDS] = {
		[OPERAND_DIVISOR] = "divisor",
		[OPERAND_DIVIDEND] = "bits of the dividend",
		[OPERAND_SHIFT] = "shift count",
		[OPERAND_MULTIPLIER] = "second factor",
		[OPERAND_MULTIPLICAND] = "first factor",
		[OPERAND_COMPARED] = "first operand of the compare",
		[OPERAND_COMPARED_WITH] = "second operand of the compare",
		[OPERAND_SIZE] = "bytes of the copy",
		[OPERAND_LOADED] = "loaded value",
		[OPERAND_ALIGNMENT] = "alignment of the first address",
		[OPERAND_ALIGNMENT_2] = "alignment of the second address",
	};
	const struct operands_site *s = o->from->from;
	struct buf text = { 0 };

	put_place(r, o->from->insn, line);
	buf_printf(line, "  %s", o->text);
	put_line(t, line);
	buf_printf(&text, "%s: %" PRIu64 " executions in %" PRIu64 " windows",
		   s->kind == OPERAND_SIZE && !o->is_repeat ? "bytes, an argument"
							    : what[s->kind],
		   s->known, s->windows);
	if (s->kind != OPERAND_LOADED)
		buf_printf(&text, ", different values: %s%" PRIu64,
			   s->nr < s->distinct ? "about " : "", s->distinct);
	put_wrapped(t, buf_str(&text), line);
	buf_fini(&text);
	if (o->hint)
		put_wrapped(t, o->hint, line);
}

static void put_operand_row(struct table *t, const struct interval *share,
			    uint64_t windows, const char *text)
{
	put_shares(t, share);
	if (windows)
		table_number(t, windows);
	else
		table_empty(t);
	table_text(t, text);
}

static void put_operand(struct table *t, const struct values_operand *o)
{
	const struct operands_site *s = o->from->from;
	struct buf text = { 0 };

	for (size_t i = 0; i < o->nr; i++) {
		const struct operand_value *v = &o->from->value[i];

		buf_printf(&text, "%" PRId64, v->value);
		put_operand_row(t, &v->share, v->windows, buf_str(&text));
		buf_reset(&text);
	}
	if (s->nr && o->from->unlisted * 10000 > s->known) {
		table_percent(t, 100 * (double)o->from->unlisted / (double)s->known);
		for (int i = 0; i < 3; i++)
			table_empty(t);
		table_text(t, "not recorded: perhaps values above");
	}
	if (s->kind == OPERAND_LOADED)
		put_operand_row(t, &o->from->same, 0, "as in the load before");
	for (int i = 0; i < OPERAND_NR_CLASSES && !s->nr; i++) {
		if (s->class[i])
			put_operand_row(t, &o->from->class[i], 0, class_texts[i]);
	}
	buf_fini(&text);
}

static int print_operands(const struct values_report *r, bool color)
{
	static const struct column columns[] = {
		{ "share", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "least", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "most", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "windows", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "operand", "", COLUMN_TEXT, COLUMN_EVERYWHERE },
	};
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	struct buf line = { 0 };
	int err;

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_operands; i++) {
		put_operand_title(t, r, &r->operand[i], &line);
		put_operand(t, &r->operand[i]);
	}
	err = table_print_text(t, color, true);
	table_free(t);
	buf_fini(&line);
	return err;
}

static void put_access(struct table *t, const struct values_report *r,
		       const struct values_access *a)
{
	struct buf place = { 0 };

	put_place(r, a->insn, &place);
	if (a->always)
		put_shares(t, &a->aligned);
	else
		for (int i = 0; i < 3; i++)
			table_empty(t);
	table_number(t, a->windows);
	table_number(t, 1U << a->from->size);
	if (a->always)
		table_number(t, a->always);
	else
		table_empty(t);
	table_percent(t, 100 * a->split.value);
	table_text(t, buf_str(&place));
	table_text(t, a->text);
	buf_fini(&place);
}

static int print_accesses(const struct values_report *r, bool color)
{
	static const struct column columns[] = {
		{ "aligned", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "least", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "most", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "windows", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "bytes", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "always", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "split", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "load or store", "", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "", "", COLUMN_TEXT, COLUMN_EVERYWHERE },
	};
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int err;

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_accesses; i++)
		put_access(t, r, &r->access[i]);
	err = table_print_text(t, color, true);
	table_free(t);
	return err;
}

static int print_text(const struct values_report *r, int with_color)
{
	const bool color = out_use_color(with_color);
	int err = 0;

	report_header(&r->scope->sel, &r->scope->ev);
	out_line("%s in %s: values that windows saw", r->place->name,
		 r->place->image.desc.name);
	if (r->nr_sites) {
		out_line("%s", "");
		err = print_sites(r, color);
	}
	if (!err && r->nr_operands) {
		out_line("%s", "");
		err = print_operands(r, color);
	}
	if (!err && r->nr_accesses) {
		out_line("%s", "");
		err = print_accesses(r, color);
	}
	if (!err)
		report_footer(&r->scope->sel);
	return err;
}

static void put_csv_shares(struct table *t, const struct interval *share)
{
	table_exact(t, share->value);
	table_exact(t, share->low);
	table_exact(t, share->high);
}

static void put_csv_value(struct table *t, const struct values_report *r,
			  const struct values_site *s, size_t i)
{
	const struct value *v = &s->from->value[i];

	table_text(t, kind_name(s->from->kind));
	table_hex(t, offset_of(r, s->from->insn));
	if (s->name)
		table_hex(t, v->value);
	else
		table_number(t, v->value);
	table_text(t, s->name ? s->name[i].procedure : NULL);
	table_text(t, s->name ? s->name[i].image : NULL);
	put_csv_shares(t, &v->share);
	table_number(t, v->seen);
	table_number(t, v->windows);
	table_exact(t, s->from->distinct);
	table_exact(t, s->from->unknown);
}

/* A row for each alignment. */
static void put_csv_access(struct table *t, const struct values_report *r,
			   const struct values_access *a)
{
	for (int i = 0; i < ACCESSES_ALIGNMENTS; i++) {
		if (!a->from->aligned[i])
			continue;
		table_text(t, "alignment");
		table_hex(t, offset_of(r, a->insn));
		table_number(t, 1U << i);
		table_text(t, NULL);
		table_text(t, NULL);
		put_csv_shares(t, &a->alignment[i]);
		table_number(t, a->from->aligned[i]);
		table_number(t, a->windows);
		table_empty(t);
		table_empty(t);
	}
}

static void put_csv_operand(struct table *t, const struct values_report *r,
			    const struct values_operand *o,
			    const struct interval *share, uint64_t n, uint64_t windows,
			    const int64_t *value)
{
	const struct operands_site *s = o->from->from;

	table_text(t, values_operand_kind(s->kind));
	table_hex(t, offset_of(r, o->from->insn));
	if (value)
		table_signed(t, *value);
	else
		table_empty(t);
	table_text(t, NULL);
	table_text(t, NULL);
	put_csv_shares(t, share);
	table_number(t, n);
	table_number(t, windows);
	table_number(t, s->distinct);
	table_exact(t, s->known + s->unknown
			       ? (double)s->unknown / (double)(s->known + s->unknown)
			       : 0);
}

/* A row for each value; one without a value for loads. */
static void put_csv_operands(struct table *t, const struct values_report *r,
			     const struct values_operand *o)
{
	const struct operands_site *s = o->from->from;

	for (size_t k = 0; k < o->nr; k++) {
		const struct operand_value *v = &o->from->value[k];

		put_csv_operand(t, r, o, &v->share, v->n, v->windows, &v->value);
	}
	if (s->kind == OPERAND_LOADED)
		put_csv_operand(t, r, o, &o->from->same, s->same, s->windows, NULL);
}

static int print_csv(const struct values_report *r)
{
	static const struct column columns[] = {
		{ "", "kind", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "", "offset", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "value", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "procedure", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "", "image", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "", "share", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "share_low", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "share_high", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "seen", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "windows", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "distinct", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "unknown", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	};
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int err;

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_sites; i++)
		for (size_t k = 0; k < r->site[i].nr; k++)
			put_csv_value(t, r, &r->site[i], k);
	for (size_t i = 0; i < r->nr_accesses; i++)
		put_csv_access(t, r, &r->access[i]);
	for (size_t i = 0; i < r->nr_operands; i++)
		put_csv_operands(t, r, &r->operand[i]);
	err = table_print_csv(t, true);
	table_free(t);
	return err;
}

/* The members of an instruction that is a place in the code. */
static void json_place(struct json *j, const struct values_report *r, int insn,
		       const char *text)
{
	const struct line line = image_line_at(r->im, offset_of(r, insn));

	json_hex(j, "offset", offset_of(r, insn));
	json_hex(j, "address", r->cfg->insn[insn].address);
	json_string(j, "file", line.file);
	if (line.file)
		json_number(j, "line", line.line);
	json_string(j, "text", text);
}

static void json_shares(struct json *j, const struct interval *share)
{
	json_exact(j, "share", share->value);
	json_exact(j, "share_low", share->low);
	json_exact(j, "share_high", share->high);
}

static void json_value(struct json *j, const struct values_site *s, size_t i)
{
	const struct value *v = &s->from->value[i];

	json_object(j, NULL);
	if (s->name) {
		json_hex(j, "offset", v->value);
		json_string(j, "procedure", s->name[i].procedure);
		json_string(j, "image", s->name[i].image);
	} else {
		json_number(j, "iterations", v->value);
	}
	json_shares(j, &v->share);
	json_number(j, "seen", v->seen);
	json_number(j, "windows", v->windows);
	json_end(j);
}

static void json_sites(struct json *j, const struct values_report *r,
		       enum value_kind kind, const char *name)
{
	json_array(j, name);
	for (size_t i = 0; i < r->nr_sites; i++) {
		const struct values_site *s = &r->site[i];

		if (s->from->kind != kind)
			continue;
		json_object(j, NULL);
		json_place(j, r, s->from->insn, s->text);
		json_number(j, "seen", s->from->seen);
		json_number(j, "windows", s->from->windows);
		json_exact(j, "unknown", s->from->unknown);
		json_number(j, "values_seen", s->from->nr);
		json_exact(j, "distinct", s->from->distinct);
		json_array(j, "values");
		for (size_t k = 0; k < s->nr; k++)
			json_value(j, s, k);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void json_alignment(struct json *j, const struct values_report *r,
			   const struct values_access *a)
{
	json_object(j, NULL);
	json_place(j, r, a->insn, a->text);
	json_bool(j, "loads", a->from->loads);
	json_bool(j, "stores", a->from->stores);
	json_number(j, "bytes", 1U << a->from->size);
	json_number(j, "executions", a->from->known);
	json_number(j, "windows", a->windows);
	if (a->always) {
		json_number(j, "always", a->always);
		json_object(j, "aligned");
		json_shares(j, &a->aligned);
		json_end(j);
		json_array(j, "zero_bits");
		for (int i = 0; i < ACCESSES_ALIGNMENTS; i++)
			json_number(j, NULL, a->from->aligned[i]);
		json_end(j);
	} else {
		json_null(j, "always");
		json_null(j, "aligned");
		json_null(j, "zero_bits");
	}
	json_object(j, "line_splits");
	json_shares(j, &a->split);
	json_end(j);
	json_end(j);
}

static void json_operand(struct json *j, const struct values_operand *o)
{
	const struct operands_site *s = o->from->from;

	json_string(j, "kind", values_operand_kind(s->kind));
	json_number(j, "executions", s->known);
	json_number(j, "unknown", s->unknown);
	json_number(j, "windows", s->windows);
	json_number(j, "distinct", s->distinct);
	if (s->kind == OPERAND_COMPARED || s->kind == OPERAND_COMPARED_WITH)
		json_number(j, "taken", s->taken);
	json_object(j, "same");
	json_shares(j, &o->from->same);
	json_end(j);
	json_object(j, "classes");
	for (int i = 0; i < OPERAND_NR_CLASSES; i++)
		json_number(j, class_names[i], s->class[i]);
	json_end(j);
	json_array(j, "values");
	for (size_t i = 0; i < o->nr; i++) {
		const struct operand_value *v = &o->from->value[i];

		json_object(j, NULL);
		json_signed(j, "value", v->value);
		json_shares(j, &v->share);
		json_number(j, "seen", v->n);
		json_number(j, "windows", v->windows);
		json_end(j);
	}
	json_end(j);
	if (isfinite(o->from->stalls))
		json_exact(j, "stall_share", o->from->stalls);
	else
		json_null(j, "stall_share");
	json_exact(j, "saves_at_most", o->from->saves);
	json_string(j, "suggestion", o->hint);
	json_number(j, "unlisted", o->from->unlisted);
}

static void json_operands(struct json *j, const struct values_report *r)
{
	json_array(j, "operands");
	for (size_t i = 0; i < r->nr_operands; i++) {
		json_object(j, NULL);
		json_place(j, r, r->operand[i].from->insn, r->operand[i].text);
		json_operand(j, &r->operand[i]);
		json_end(j);
	}
	json_end(j);
}

void values_json_operands(struct json *j, struct explainer *x,
			  const struct explanation *ex)
{
	struct values_operand *operand;
	size_t nr;
	/* without memory there are fewer */
	int err = values_operands_find(x, ex, OPERANDS_KEPT, &operand, &nr);

	if (!err && nr)
		json_array(j, "operands");
	for (size_t i = 0; !err && i < nr; i++) {
		const struct insn *insn = &ex->e->cfg->insn[operand[i].from->insn];

		json_object(j, NULL);
		json_hex(j, "offset", insn->address - ex->e->cfg->bias);
		json_operand(j, &operand[i]);
		json_end(j);
	}
	if (!err && nr)
		json_end(j);
	values_operands_free(operand, nr);
}

static int print_json(const struct values_report *r)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	report_json_header(&j, &r->scope->sel);
	json_string(&j, "procedure", r->place->name);
	json_string(&j, "image", r->place->image.desc.name);
	json_sites(&j, r, VALUE_TARGET, "targets");
	json_sites(&j, r, VALUE_ITERATIONS, "loops");
	json_array(&j, "alignments");
	for (size_t i = 0; i < r->nr_accesses; i++)
		json_alignment(&j, r, &r->access[i]);
	json_end(&j);
	json_operands(&j, r);
	report_json_losses(&j, &r->scope->sel);
	json_end(&j);
	return 0;
}

int values_print(const struct values_report *r, const struct out_options *out)
{
	switch (out->format) {
	case OUT_JSON:
		return print_json(r);
	case OUT_CSV:
		return print_csv(r);
	default:
		return print_text(r, out->color);
	}
}
