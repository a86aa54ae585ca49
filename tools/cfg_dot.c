/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/cfg_dot.h"

#include <inttypes.h>
#include <math.h>

#include "tools/text.h"

#define MAX_LINES 60 /* instructions shown of one block */

/* A string for a label: what others chose is cleaned, quotes are escaped. */
static void put_label(struct buf *b, const char *s)
{
	struct buf clean = { 0 };

	text_put_clean(&clean, s);
	for (const char *p = buf_str(&clean); *p; p++) {
		if (*p == '"' || *p == '\\')
			buf_putc(b, '\\');
		buf_putc(b, *p);
	}
	if (clean.err)
		b->err = clean.err;
	buf_fini(&clean);
}

static void put_samples(const struct cfg_picture *p, int row, struct buf *b)
{
	const struct tally *t = &p->tally[(size_t)row * p->ev->nr];

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
		const struct insn *insn = &p->cfg->insn[block->first_insn + i];
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

static void put_block(const struct cfg_picture *p, int i, struct buf *b)
{
	const struct cfg_block *block = &p->cfg->block[i];

	buf_printf(b, "\tb%d [fillcolor=\"0.02 %.3f 1.0\"", i, heat(p, i));
	if (block->landing_pad)
		buf_puts(b, ", style=\"filled,dashed\"");
	buf_puts(b, ", label=\"");
	put_samples(p, i, b);
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
		return "style=dashed";
	case EDGE_RETURN:
		return "color=grey";
	case EDGE_LEAVE:
		return "color=grey, style=dotted";
	}
	return "";
}

static void put_title(const struct cfg_picture *p, struct buf *b)
{
	buf_puts(b, "\tlabelloc=t;\n\tlabeljust=l;\n\tlabel=\"");
	put_label(b, p->cfg->procedure->name);
	buf_puts(b, "\\l");
	put_label(b, p->image);
	buf_puts(b, "\\l");
	if (p->cfg->missing_edges)
		buf_puts(b, "?: where an indirect jump leads is not known\\l");
	if (p->tally[(size_t)p->cfg->nr_blocks * p->ev->nr].n)
		buf_puts(b, "in no block:\\l");
	put_samples(p, p->cfg->nr_blocks, b);
	buf_puts(b, "\";\n");
}

void cfg_dot(const struct cfg_picture *p, struct buf *b)
{
	const struct cfg *g = p->cfg;

	buf_puts(b, "digraph cfg {\n");
	put_title(p, b);
	buf_puts(b, "\tnode [shape=box, style=filled, fontname=\"monospace\", "
		    "fontsize=10];\n");
	for (int i = 0; i < g->exit; i++)
		put_block(p, i, b);
	if (g->block[g->exit].nr_in)
		buf_printf(b, "\tb%d [shape=oval, fillcolor=white, label=\"exit\"];\n",
			   g->exit);
	for (int i = 0; i < g->nr_edges; i++)
		buf_printf(b, "\tb%d -> b%d [%s];\n", g->edge[i].from, g->edge[i].to,
			   edge_style(g->edge[i].kind));
	buf_puts(b, "}\n");
}
