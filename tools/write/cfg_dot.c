/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfg_dot.c - a control-flow graph in the language of Graphviz
 *
 * Heat colours the blocks and frequency sets the width of edges. Labels are text from
 * outside, so they are cleaned and escaped in one function.
 */
#include "config.h"

#include "tools/write/cfg_dot.h"

#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "report/explain/calc.h"
#include "tools/write/explain.h"

#define MAX_LINES 60  /* instructions shown of one block */
#define MIN_WIDTH 0.5 /* of edges */
#define MAX_WIDTH 6.0

/*
 * Appends text from outside to a label. It is cleaned, and quotes and backslashes are
 * escaped. So are ampersands, because dot replaces HTML's names such as "&lt;".
 */
static void put_label(struct buf *b, const char *s)
{
	struct buf clean = { 0 };

	text_put_clean(&clean, s);
	for (const char *p = buf_str(&clean); *p; p++) {
		if (*p == '"' || *p == '\\')
			buf_putc(b, '\\');
		buf_putc(b, *p);
		if (*p == '&')
			buf_puts(b, "amp;");
	}
	if (clean.err)
		b->err = clean.err;
	buf_fini(&clean);
}

static void put_samples(const struct cfg_picture *p, int row, struct buf *b)
{
	const struct event_sum *t = &p->tally[(size_t)row * p->ev->nr];

	for (size_t e = 0; e < p->ev->nr; e++) {
		if (!t[e].n)
			continue;
		buf_printf(b, "%" PRIu64 " ", t[e].n);
		put_label(b, p->ev->event[e].name);
		if (!e && p->total > 0)
			buf_printf(b, " (%.2f %%)", 100 * t[e].weight / p->total);
		buf_puts(b, "\\l");
	}
}

static void put_insns(const struct cfg_picture *p, const struct cfg_block *block,
		      struct buf *b)
{
	for (int i = 0; i < block->nr_insns; i++) {
		const struct insn *insn = &p->e->cfg->insn[block->first_insn + i];
		char text[ISA_TEXT_SIZE];

		if (i == MAX_LINES) {
			buf_printf(b, "and %d more\\l", block->nr_insns - i);
			break;
		}
		buf_printf(b, "%" PRIx64 "  ", insn->address);
		put_label(b, isa_text(p->isa, insn, text));
		buf_puts(b, "\\l");
	}
}

/* The root makes small shares visible. */
static double heat(const struct cfg_picture *p, int block)
{
	const double weight = p->tally[(size_t)block * p->ev->nr].weight;

	return p->total > 0 ? 0.8 * sqrt(weight / p->total) : 0;
}

/* The 90 % interval, as far as it has ends. */
static void put_ends(const struct freq_interval *r, int digits, struct buf *b)
{
	if (r->likely > 0 && r->low > 0 && isfinite(r->high))
		buf_printf(b, " (90 %%: %.*g to %.*g)", digits, r->low, digits,
			   r->high);
}

/* How often it ran, and how long it took. */
static void put_rate(const struct cfg_picture *p, int i, struct buf *b)
{
	const struct cfg_block *block = &p->e->cfg->block[i];
	struct freq_interval takes = calc_block_range(p->e, i);
	char text[INTERVAL_TEXT_SIZE];

	if (!p->has_time || !isfinite(p->e->freq->block[i]))
		return;
	buf_printf(b, "%s executions",
		   interval_text_count(&p->e->freq->block_range[i], text));
	put_ends(&p->e->freq->block_range[i], 2, b);
	takes.low /= block->nr_insns;
	takes.likely /= block->nr_insns;
	takes.high /= block->nr_insns;
	if (isfinite(takes.likely))
		buf_printf(b, "\\l%s CPI",
			   interval_text_marked(&takes, 2, calc_is_too_fast(p->e, i),
						text));
	if (isfinite(takes.likely))
		put_ends(&takes, 2, b);
	buf_printf(b, ", best %.2f\\l", p->e->block_cycles[i] / block->nr_insns);
}

static void put_block(const struct cfg_picture *p, int i, struct buf *b)
{
	const struct cfg_block *block = &p->e->cfg->block[i];

	buf_printf(b, "\tb%d [fillcolor=\"0.02 %.3f 1.0\"", i, heat(p, i));
	if (block->landing_pad)
		buf_puts(b, ", style=\"filled,dashed\"");
	buf_puts(b, ", label=\"");
	put_samples(p, i, b);
	put_rate(p, i, b);
	put_insns(p, block, b);
	buf_puts(b, "\"];\n");
	if (block->missing_out)
		buf_printf(b,
			   "\tm%d [shape=plaintext, style=\"\", label=\"?\"];\n"
			   "\tb%d -> m%d [style=dotted];\n",
			   i, i, i);
}

static const char *edge_style(enum edge_kind kind)
{
	switch (kind) {
	case EDGE_FALL:
		return "color=black";
	case EDGE_TAKEN:
		return "color=blue";
	case EDGE_INDIRECT:
		return "color=purple";
	case EDGE_RETURN:
		return "color=grey";
	case EDGE_LEAVE:
		return "color=grey, arrowhead=odot";
	}
	return "";
}

static const char *confidence_style(enum confidence confidence)
{
	static const char *const styles[] = { "dotted", "dashed", "solid" };

	return styles[confidence];
}

static double busiest_edge(const struct explained *e)
{
	double most = 0;

	for (int i = 0; i < e->cfg->nr_edges; i++)
		most = fmax(most, e->freq->edge[i]);
	return most;
}

/* Frequency, and what sampled branches say; the width shows it, too. */
static void put_edge(const struct cfg_picture *p, int i, double most, struct buf *b)
{
	const struct cfg_edge *edge = &p->e->cfg->edge[i];
	const struct outcomes outcomes = calc_outcomes(p->e, edge);
	const double f = p->e->freq->edge[i];
	char text[INTERVAL_TEXT_SIZE];

	buf_printf(b, "\tb%d -> b%d [%s", edge->from, edge->to, edge_style(edge->kind));
	if (p->has_time && isfinite(f)) {
		buf_printf(b, ", style=%s, penwidth=%.2f, label=\"%s",
			   confidence_style(p->e->freq->edge_shape[i]),
			   most > 0 ? MIN_WIDTH + (MAX_WIDTH - MIN_WIDTH) * f / most
				    : MIN_WIDTH,
			   interval_text_count(&p->e->freq->edge_range[i], text));
		if (outcomes.taken)
			buf_printf(b, "\\n%" PRIu64 " taken", outcomes.taken);
		if (outcomes.not_taken)
			buf_printf(b, "\\n%" PRIu64 " not taken", outcomes.not_taken);
		buf_putc(b, '"');
	}
	buf_puts(b, "];\n");
}

static void put_title(const struct cfg_picture *p, struct buf *b)
{
	buf_puts(b, "\tlabelloc=t;\n\tlabeljust=l;\n\tlabel=\"");
	put_label(b, p->e->cfg->procedure->name);
	buf_puts(b, "\\l");
	put_label(b, p->image->name);
	buf_puts(b, "\\l");
	if (p->e->cfg->missing_edges)
		buf_puts(b, "?: where an indirect jump leads is not known\\l");
	if (p->has_time && p->e->freq->counted)
		buf_puts(b, "executions were counted by branch stacks\\l");
	else if (p->has_time && p->e->freq->windows)
		buf_puts(b, "executions are estimated from windows and samples\\l");
	else if (p->has_time && p->e->freq->retired)
		buf_puts(b, "executions are estimated from samples of instructions\\l");
	if (p->tally[(size_t)p->e->cfg->nr_blocks * p->ev->nr].n)
		buf_puts(b, "in no block:\\l");
	put_samples(p, p->e->cfg->nr_blocks, b);
	buf_puts(b, "\";\n");
}

void cfg_dot(const struct cfg_picture *p, struct buf *b)
{
	const struct cfg *g = p->e->cfg;
	const double most = busiest_edge(p->e);

	buf_puts(b, "digraph cfg {\n\tfontname=\"sans-serif\"; fontsize=11;\n"
		    "\tedge [fontname=\"sans-serif\", fontsize=9];\n");
	put_title(p, b);
	buf_puts(b, "\tnode [shape=box, style=filled, fontname=\"monospace\", "
		    "fontsize=10];\n");
	for (int i = 0; i < g->exit; i++)
		put_block(p, i, b);
	if (g->block[g->exit].nr_in)
		buf_printf(b, "\tb%d [shape=oval, fillcolor=white, label=\"exit\"];\n",
			   g->exit);
	for (int i = 0; i < g->nr_edges; i++)
		put_edge(p, i, most, b);
	buf_puts(b, "}\n");
}
