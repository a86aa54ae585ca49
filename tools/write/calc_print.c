/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calc_print.c - the procedure as dcpicalc showed it
 *
 * Above an instruction that stalls is a line (bubble) for each stall: the letters
 * of the possible reasons, the cycles, and a legend.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/explain/calc.h"
#include "report/explain/culprits.h"
#include "tools/ui/out.h"
#include "tools/ui/term.h"
#include "tools/write/explain.h"
#include "tools/write/report.h"

#define LEAST_CYCLES  0.05 /* that a line of text is for */
#define MAX_BUBBLE    96   /* columns of a bubble, unless it has a single culprit */
#define MAX_ADDRESSES 3    /* of culprits, in text, for one reason */
#define MAX_COLUMNS   (EVENTS_MAX + 22)

/* A procedure that is being printed. */
struct calc_printing {
	const struct explainer *x;
	const struct scope *s; /* x's */
	const struct explanation *ex;
	struct sources *sources;
	bool text; /* or CSV */
	bool all;  /* text: not only the hot spots */
};

static void put_bubble(struct table *t, const struct explained *e, int insn,
		       const struct stall *s)
{
	const struct freq_interval r = calc_stall_range(e, insn, s);
	const struct freq_interval runs =
		e->freq->block_range[cfg_block_at(e->cfg, e->raw[insn].offset)];
	const char *colour = s->dynamic ? TERM_YELLOW : NULL;
	struct buf b = { 0 };
	size_t legend;
	char *rest;

	buf_puts(&b, "    ");
	culprits_put_letters(s, &b);
	if (!s->dynamic || freq_interval_known(&runs))
		buf_printf(&b, " ... %.1fcy%s (", s->cycles,
			   s->dynamic ? "" : " static");
	else if (isfinite(r.high))
		buf_printf(&b, " ... %.1f to %.1fcy (", r.low, r.high);
	else
		buf_puts(&b, " ... unknown (");
	legend = b.len;
	culprits_put_legend(e, s, "; ", &b);
	if (b.len > MAX_BUBBLE) { /* a line for each culprit */
		b.len = legend;
		culprits_put_legend(e, s, ";\n        ", &b);
	}
	buf_putc(&b, ')');
	buf_putc(&b, '\0');
	rest = b.err ? NULL : b.data;
	while (rest)
		table_line(t, colour, strsep(&rest, "\n"));
	buf_fini(&b);
}

static void put_reason_cell(struct table *t, const struct blame_insn *why)
{
	struct buf b = { 0 };

	culprits_put_reasons(why->stall, why->nr_stalls, false, &b);
	table_text(t, b.len ? buf_str(&b) : NULL);
	buf_fini(&b);
}

static void put_culprit_cell(struct table *t, const struct cfg *cfg,
			     const struct blame_insn *why)
{
	struct buf b = { 0 };

	culprits_put_addresses(cfg, why->stall, why->nr_stalls, &b);
	table_text(t, b.len ? buf_str(&b) : NULL);
	buf_fini(&b);
}

static double stalled_cycles(const struct blame_insn *why, bool dynamic)
{
	double cycles = 0;

	for (int k = 0; k < why->nr_stalls; k++)
		cycles += why->stall[k].dynamic == dynamic ? why->stall[k].cycles : 0;
	return cycles;
}

/* Text has empty cells for small amounts, so that the others stand out. */
static void put_amount(struct table *t, double v, int decimals, bool text)
{
	if (text && v < 0.5)
		table_empty(t);
	else
		table_real(t, v, decimals);
}

static void put_cycles_cell(struct table *t, const struct explained *e, int i,
			    bool text)
{
	const struct freq_interval takes = calc_insn_range(e, i);
	const double cycles = e->blame->insn[i].cycles;
	char buf[INTERVAL_TEXT_SIZE];

	if (text && isfinite(cycles))
		table_text(t, interval_text_cycles(&takes, 1, buf));
	else
		table_real(t, cycles, text ? 1 : 3);
}

/*
 * Fills the ends of the 90 % intervals. Those of dynamic cycles are sums over the
 * dynamic stalls.
 */
static void put_ranges(struct table *t, const struct explained *e, int block, int i)
{
	const struct freq_interval *runs = &e->freq->block_range[block];
	const struct freq_interval takes = calc_insn_range(e, i);
	const struct blame_insn *why = &e->blame->insn[i];
	struct freq_interval waits = { 0, 0, 0 };
	bool waited = false;

	for (int k = 0; k < why->nr_stalls; k++) {
		const struct freq_interval r = calc_stall_range(e, i, &why->stall[k]);

		if (!why->stall[k].dynamic)
			continue;
		waited = true;
		waits.low += r.low;
		waits.high += r.high;
	}
	if (!isfinite(takes.likely))
		waits.low = waits.high = NAN;
	else if (!waited) /* no stall is seen, but one may hide in what is uncertain */
		waits.high =
			fmax(takes.high - why->best - stalled_cycles(why, false), 0);
	table_real(t, runs->low, 1);
	table_real(t, runs->high, 1);
	table_real(t, takes.low, 3);
	table_real(t, takes.high, 3);
	table_real(t, waits.low, 3);
	table_real(t, waits.high, 3);
}

static void put_insn(struct table *t, const struct calc_printing *c, int block, int i)
{
	const struct explained *e = c->ex->e;
	const struct events *ev = &c->s->ev;
	const struct blame_insn *why = &e->blame->insn[i];
	const uint64_t offset = e->cfg->insn[i].address - e->cfg->bias;
	const bool text = c->text;
	const struct line none = { NULL, 0 };
	const struct line line = text ? none : image_line_at(c->ex->im, offset);
	struct event_sum tally[EVENTS_MAX];
	struct buf decoded = { 0 };

	table_color(t, out_heat(100 * e->blamed[i] / e->blame->summary.samples));
	explainer_tally(c->x, offset, tally);
	for (size_t k = 0; k < ev->nr; k++)
		put_amount(t, tally[k].n, 0, text);
	put_amount(t, e->blamed[i], text ? 0 : 3, text);
	put_cycles_cell(t, e, i, text);
	table_hex(t, e->cfg->block[block].start);
	table_real(t, e->freq->block[block], 1);
	table_text(t, confidence_name(e->freq->shape[block]));
	table_text(t, confidence_name(e->freq->scale));
	table_real(t, why->best, 3);
	table_real(t, stalled_cycles(why, false), 3);
	table_real(t, stalled_cycles(why, true), 3);
	table_hex(t, offset);
	table_hex(t, e->cfg->insn[i].address);
	table_text(t, explainer_text(c->x, c->ex, i, &decoded));
	buf_fini(&decoded);
	put_reason_cell(t, why);
	if (text && why->cycles < LEAST_CYCLES && why->best < LEAST_CYCLES)
		table_text(t, "(dual issue)");
	else
		put_culprit_cell(t, e->cfg, why);
	table_text(t, line.file);
	if (line.file)
		table_number(t, line.line);
	else
		table_empty(t);
	put_ranges(t, e, block, i);
}

__attribute__((format(printf, 3, 4))) static void
put_formatted(struct table *t, const char *color, const char *fmt, ...)
{
	char line[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	table_line(t, color, line);
}

/* How often a block ran, as far as that is known. */
static void put_executions(struct table *t, const struct explained *e, int b)
{
	const struct freq_interval *runs = &e->freq->block_range[b];
	const uint64_t address = e->cfg->block[b].start + e->cfg->bias;

	if (freq_interval_known(runs))
		put_formatted(t, TERM_BOLD,
			      "*** Block 0x%" PRIx64
			      ": %.3g executions (90 %%: %.2g to %.2g)",
			      address, runs->likely, runs->low, runs->high);
	else if (isfinite(runs->high) && runs->low > 0)
		put_formatted(t, TERM_BOLD,
			      "*** Block 0x%" PRIx64
			      ": executions unknown (90 %%: %.2g to %.2g)",
			      address, runs->low, runs->high);
	else
		put_formatted(t, TERM_BOLD,
			      "*** Block 0x%" PRIx64 ": executions unknown", address);
}

static void put_block_header(struct table *t, const struct explained *e, int b)
{
	const struct cfg_block *block = &e->cfg->block[b];
	const struct freq_interval cycles = calc_block_range(e, b);
	const double nr = block->nr_insns;

	table_line(t, NULL, "");
	put_executions(t, e, b);
	put_formatted(t, NULL, "*** Best-case %.1f/%.0f = %.2f CPI", e->block_cycles[b],
		      nr, e->block_cycles[b] / nr);
	if (freq_interval_known(&cycles))
		put_formatted(
			t, NULL,
			"*** Actual    %.1f/%.0f = %.2f CPI (90 %%: %.2f to %.2f)",
			cycles.likely, nr, cycles.likely / nr, cycles.low / nr,
			cycles.high / nr);
	else if (isfinite(cycles.high) && cycles.likely > 0)
		put_formatted(t, NULL,
			      "*** Actual CPI is unknown (90 %%: %.2f to %.2f)",
			      cycles.low / nr, cycles.high / nr);
	if (calc_is_too_fast(e, b))
		put_formatted(t, NULL, "*** (%s)", FASTER_THAN_BEST);
}

static void put_insns(struct table *t, const struct calc_printing *c, int b)
{
	const struct cfg_block *block = &c->ex->e->cfg->block[b];

	for (int i = 0; i < block->nr_insns; i++)
		put_insn(t, c, b, block->first_insn + i);
}

static void put_block(struct table *t, const struct calc_printing *c, int b,
		      bool with_source)
{
	const struct explained *e = c->ex->e;
	const struct cfg_block *block = &e->cfg->block[b];
	struct line line, before = { NULL, 0 };

	put_block_header(t, e, b);
	for (int i = block->first_insn; i < block->first_insn + block->nr_insns; i++) {
		const struct blame_insn *why = &e->blame->insn[i];

		if (with_source) {
			line = image_line_at(c->ex->im,
					     e->cfg->insn[i].address - e->cfg->bias);
			list_put_line(t, c->sources, &line, &before);
			before = line;
		}
		for (int k = 0; k < why->nr_stalls; k++) {
			if (why->stall[k].cycles >= LEAST_CYCLES)
				put_bubble(t, e, i, &why->stall[k]);
		}
		put_insn(t, c, b, i);
	}
	if (block->missing_out)
		table_line(t, NULL, "    (where this jump leads is not known)");
}

/* The instructions around which blocks are shown: 0 or -ENOMEM. */
static int find_hotspots(const struct calc_printing *c, struct hotspots *out)
{
	const struct explained *e = c->ex->e;

	if (c->text && !c->all)
		return hotspots_find(e->blamed, e->cfg->nr_insns, out);
	*out = (struct hotspots){ NULL, e->cfg->nr_insns };
	return 0;
}

static bool shows_block(const struct hotspots *spots, const struct cfg_block *block)
{
	const size_t first = block->first_insn;

	for (int i = 0; i < block->nr_insns; i++) {
		if (hotspots_shows(spots, first + i))
			return true;
	}
	return !spots->shown;
}

/* The blocks from b on that are not shown; returns the first that is. */
static int put_left_out(struct table *t, const struct explained *e,
			const struct hotspots *spots, int b)
{
	double samples = 0;
	int end = b;

	for (; end < e->cfg->exit && !shows_block(spots, &e->cfg->block[end]); end++) {
		const struct cfg_block *block = &e->cfg->block[end];

		for (int i = 0; i < block->nr_insns; i++)
			samples += e->blamed[block->first_insn + i];
	}
	table_line(t, NULL, "");
	list_put_left_out(t, end - b, "block",
			  100 * samples / e->blame->summary.samples);
	return end;
}

static int put_blocks(struct table *t, const struct calc_printing *c, bool with_source)
{
	const struct explained *e = c->ex->e;
	struct hotspots spots;
	int err = find_hotspots(c, &spots), b = 0;

	if (err)
		return err;
	while (b < e->cfg->exit) {
		if (!shows_block(&spots, &e->cfg->block[b])) {
			b = put_left_out(t, e, &spots, b);
			continue;
		}
		if (c->text)
			put_block(t, c, b, with_source);
		else
			put_insns(t, c, b);
		b++;
	}
	hotspots_fini(&spots);
	return 0;
}

static void print_header(const struct calc_printing *c)
{
	const struct explained *e = c->ex->e;
	struct summary s = { 0 };

	report_header(&c->s->sel, &c->s->ev);
	report_procedure(c->ex->symbol->name, c->ex->image->desc.name, "");
	explainer_print_unit(c->x, "in \"blamed\"");
	if (c->s->source.asked)
		time_source_print(&c->s->source, explainer_attribution(c->x));
	if (c->ex->state == EXPLAIN_DEFERRED)
		out_line("Interrupts may be disabled in this code, and its samples are "
			 "taken when they are enabled again: CPI is not computed");
	if (e->cfg->missing_edges)
		out_line("Some jump targets are unknown: executions may be wrong");
	explained_print_source(e);
	putchar('\n');
	summary_add(&s, c->ex);
	summary_print_text(&s);
	putchar('\n');
}

static size_t make_columns(const struct calc_printing *c, struct column *out,
			   char **keys)
{
	static const struct column rest[] = {
		{ "blamed", "blamed_samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "CPI", "cpi", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "block", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "frequency", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "shape", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
		{ "", "scale", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
		{ "", "min_cycles", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "static_cycles", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "dynamic_cycles", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "offset", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "address", "address", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "instruction", "text", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "", "reasons", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
		{ "culprit", "culprit_addresses", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "", "file", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
		{ "", "line", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "frequency_low", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "frequency_high", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "cpi_low", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "cpi_high", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "dynamic_cycles_low", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "dynamic_cycles_high", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	};
	const struct events *ev = &c->s->ev;

	for (size_t i = 0; i < ev->nr; i++) {
		const char *name = ev->event[i].name;

		if (asprintf(&keys[i], "samples:%s", name) < 0)
			keys[i] = NULL;
		out[i] = (struct column){ ev->nr > 1 ? name : "samples",
					  keys[i] ? keys[i] : name, COLUMN_NUMBER,
					  COLUMN_EVERYWHERE };
	}
	memcpy(out + ev->nr, rest, sizeof(rest));
	return ev->nr + sizeof(rest) / sizeof(rest[0]);
}

/* Whether the text of a line of the procedure is at hand. */
static bool has_source(const struct calc_printing *c)
{
	const struct cfg *cfg = c->ex->e->cfg;

	for (int i = 0; i < cfg->nr_insns; i++) {
		struct line line =
			image_line_at(c->ex->im, cfg->insn[i].address - cfg->bias);

		if (line.file && sources_line(c->sources, line.file, line.line))
			return true;
	}
	return false;
}

static int print(const struct calc_printing *c, enum calc_source source, int color)
{
	const bool with_source = c->text && source != CALC_SOURCE_NEVER &&
				 (source == CALC_SOURCE_ALWAYS || has_source(c));
	struct column columns[MAX_COLUMNS];
	char *keys[EVENTS_MAX] = { NULL };
	struct table *t = table_new(columns, make_columns(c, columns, keys));
	int err = t ? put_blocks(t, c, with_source) : -ENOMEM;

	if (!err && c->text)
		print_header(c);
	if (!err)
		err = c->text ? table_print_text(t, out_use_color(color), true)
			      : table_print_csv(t, true);
	table_free(t);
	for (size_t i = 0; i < EVENTS_MAX; i++)
		free(keys[i]);
	return err;
}

int calc_print_table(const struct explainer *x, const struct explanation *ex,
		     enum calc_source source, bool all, const struct out_options *out)
{
	const struct calc_printing c = {
		x, explainer_scope(x), ex, sources_new(), out->format == OUT_TEXT, all
	};
	int err = c.sources ? print(&c, source, out->color) : -ENOMEM;

	sources_free(c.sources);
	return err;
}
