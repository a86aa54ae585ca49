/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_print.c - one row for each node
 *
 * In text a row is indented and marked with "-" only where a path branches,
 * because most stacks are long chains.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "tools/ui/out.h"
#include "tools/ui/spark.h"
#include "tools/ui/table.h"
#include "tools/write/calls.h"
#include "tools/write/plain_name.h"

#define BAR_WIDTH    16
#define MANY_UNKNOWN 0.02 /* a share of unknown frames that needs an explanation */

struct tree_printing {
	const struct tree *t;
	const struct out_options *out;
	struct table *table;
	bool color, block;
	uint64_t next_id;
	uint64_t id[CALLTREE_MAX_DEPTH + 2]; /* of the last row of each depth */
	unsigned int indent[CALLTREE_MAX_DEPTH + 2];
};

static const struct column columns[] = {
	{ "samples", "samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "%", "percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "time_ns", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	{ "", "self_samples", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	{ "self%", "self_percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "bar", COLUMN_TEXT, COLUMN_ONLY_IN_TEXT },
	{ "", "id", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	{ "", "parent", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	{ "", "depth", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	{ "procedure", "procedure", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "", "inlined", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	{ "", "kind", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
	{ "image", "image", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "", "build_id", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
	{ "", "file", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
	{ "", "line", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
};

static bool has_unwound(const struct tree *t)
{
	const struct query_streams *streams = &t->calls[0].sel.streams;

	for (size_t i = 0; i < streams->nr; i++) {
		if (!strcmp(streams->stream[i].desc.source, "dwarf"))
			return true;
	}
	return false;
}

bool tree_has_many_unknown(const struct tree *t)
{
	return tree_unknown(t) >= MANY_UNKNOWN;
}

void tree_put_unknown(const struct tree *t, struct buf *out)
{
	buf_printf(out,
		   "%.0f%% of the samples have incomplete stacks: [no_start], "
		   "[unreadable] and [no_mapping] give the reason%s.",
		   100 * tree_unknown(t),
		   t->req->fold ? "; xN stands for N frames" : "");
	if (!has_unwound(t))
		buf_puts(out, " Usually programs have no frame pointers: "
			      "record with --stacks dwarf.");
}

static double percent_of(const struct tree *t, const struct call_cost *cost)
{
	const double all = t->calls[0].busy.weight;

	return all > 0 ? 100 * cost->weight / all : 0;
}

static void put_bar(const struct tree_printing *p, double percent)
{
	const int eighths = (int)(percent / 100 * BAR_WIDTH * 8 + 0.5);
	struct buf bar = { 0 };

	for (int i = 0; i < BAR_WIDTH * 8; i += 8) {
		if (i + 8 <= eighths)
			buf_puts(&bar, p->block ? "█" : "#");
		else if (p->block && i < eighths) /* U+258F is an eighth */
			buf_printf(&bar, "\xe2\x96%c", 0x8f - (eighths - i) + 1);
		else
			buf_putc(&bar, ' ');
	}
	table_text(p->table, buf_str(&bar));
	buf_fini(&bar);
}

static void put_costs(const struct tree_printing *p, const struct call_cost *total,
		      const struct call_cost *self)
{
	table_number(p->table, total->n);
	table_percent(p->table, percent_of(p->t, total));
	if (p->t->calls[0].ev.event[0].is_time)
		table_real(p->table, total->weight, 0);
	else
		table_empty(p->table);
	if (self) {
		table_number(p->table, self->n);
		table_percent(p->table, percent_of(p->t, self));
	} else {
		table_empty(p->table);
		table_empty(p->table);
	}
	put_bar(p, percent_of(p->t, total));
}

static void put_place(struct tree_printing *p, uint32_t depth)
{
	p->id[depth] = ++p->next_id;
	table_number(p->table, p->id[depth]);
	if (depth > 1)
		table_number(p->table, p->id[depth - 1]);
	else
		table_empty(p->table);
	table_number(p->table, depth);
}

static bool divides(const struct call_node *n)
{
	return n->pruned[0].n || (n->child && n->child->sibling);
}

/* The name, where it belongs in text. */
static void put_name(struct tree_printing *p, const struct call_node *parent,
		     const char *name, const char *image)
{
	const uint32_t depth = parent->depth + 1;
	const unsigned int indent = p->indent[parent->depth];
	struct buf text = { 0 };

	p->indent[depth] = indent + 2 * divides(parent);
	if (p->out->format == OUT_TEXT)
		buf_printf(&text, "%*s%s", (int)indent, "",
			   divides(parent) ? "- " : "");
	plain_procedure(name, p->out->format == OUT_TEXT ? image : NULL, &text);
	table_text(p->table, buf_str(&text));
	buf_fini(&text);
}

static void put_node(struct tree_printing *p, const struct call_node *n)
{
	const struct frame *f = p->t->frames.frame[n->frame];

	if (p->color)
		table_color(p->table, out_heat(percent_of(p->t, n->self)));
	put_costs(p, n->total, p->t->tree.inverted ? NULL : n->self);
	put_place(p, n->depth);
	put_name(p, n->parent, f->name, f->image);
	table_number(p->table, f->inlined);
	table_text(p->table, frame_kind_str(f->kind));
	table_text(p->table, f->image);
	table_text(p->table, f->build_id);
	table_text(p->table, f->line.file);
	if (f->line.file)
		table_number(p->table, f->line.line);
	else
		table_empty(p->table);
}

static void put_pruned(struct tree_printing *p, const struct call_node *n)
{
	char name[64] = "(deeper frames are not stored)";

	if (n->nr_pruned)
		snprintf(name, sizeof(name), "(%zu more)", n->nr_pruned);
	put_costs(p, n->pruned, NULL);
	put_place(p, n->depth + 1);
	put_name(p, n, name, NULL);
	table_empty(p->table);
	table_text(p->table, "pruned");
	for (int i = 0; i < 3; i++)
		table_text(p->table, NULL);
	table_empty(p->table);
}

static void put_rows(struct tree_printing *p)
{
	const struct call_node *next;

	for (const struct call_node *n = p->t->tree.root; n; n = next) {
		next = calltree_next(n);
		if (n->parent)
			put_node(p, n);
		while (n && (!next || n != next->parent)) {
			if (n->pruned[0].n)
				put_pruned(p, n);
			n = n->parent;
		}
	}
}

static void print_unknown(const struct tree *t)
{
	struct buf text = { 0 };

	tree_put_unknown(t, &text);
	putchar('\n');
	out_line("%s", buf_str(&text));
	buf_fini(&text);
}

int tree_print(struct tree *t, const struct out_options *out)
{
	static const char *const drop[] = { "bar", "image", "self_percent", NULL };
	struct tree_printing p = { .t = t,
				   .block = spark_can_block(),
				   .out = out,
				   .color = out_use_color(out->color) };
	int err;

	p.table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	if (!p.table)
		return -ENOMEM;
	table_drop_first(p.table, drop);
	put_rows(&p);
	err = calls_print(&t->calls[0], p.table, out);
	if (!err && out->format == OUT_TEXT && tree_has_many_unknown(t))
		print_unknown(t);
	table_free(p.table);
	return err;
}
