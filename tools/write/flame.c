/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame.c - the boxes of a flame graph, the legend, and the frame around them
 *
 * Each box has two attributes, its depth and its weight in billionths of the
 * total. Parents precede their children, so the script can compute all positions
 * from these. Colours are CSS classes; flame.css chooses them for contrast with
 * the text.
 */
#include "config.h"

#include "tools/write/flame.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "tools/ui/json.h"
#include "tools/ui/xml.h"
#include "tools/write/flame_parts.h"
#include "tools/write/plain_name.h"
#include "tools/write/report.h"

#define WIDTH     1200.0
#define PAD       10.0
#define ROW       18.0
#define NOTE      16.0
#define TITLE     30.0 /* its base line */
#define LEGEND    26.0
#define BOTTOM    30.0
#define LEAST     0.3
#define CHAR      6.65 /* the width of a character, as the script has it */
#define WHOLE     1e9
#define NR_SHADES 4

struct drawing {
	const struct flame *f;
	struct buf *out;
	double top;    /* of the boxes */
	size_t levels; /* rows of boxes */
	double scale;  /* pixels of a unit of size */
};

static double share(const struct flame *f, const struct call_cost *cost, int side)
{
	const double all = f->tree->root->total[side].weight;

	return all > 0 ? cost[side].weight / all : 0;
}

static double y_of(const struct drawing *d, uint32_t depth)
{
	const size_t row = d->f->icicle ? depth : d->levels - 1 - depth;

	return d->top + ROW * (double)row;
}

const struct frame_change *flame_change_of(const struct flame *f,
					   const struct call_node *n)
{
	while (n->parent->parent && f->frames->frame[n->frame]->inlined)
		n = n->parent;
	return &f->change[n->frame];
}

int flame_shade(const struct flame *f, const struct call_node *n)
{
	const struct frame_change *change = flame_change_of(f, n);
	const double a = share(f, n->self, 0), b = share(f, n->self, 1);
	const double ratio = fmax(a, b) / fmin(a, b);
	const int step = ratio > 4 ? 4 : ratio > 2 ? 3 : ratio > 1.25 ? 2 : 1;
	const bool as_judged = change->change > 0 ? b > a : b < a;

	if (!change->found || !as_judged)
		return 0;
	return b > a ? step : -step;
}

/* "u1" to "u4", "d1" to "d4", and "e" for no change. */
static void put_change(const struct flame *f, const struct call_node *n,
		       struct buf *out)
{
	const int shade = flame_shade(f, n);

	if (shade)
		buf_printf(out, "%c%d", shade > 0 ? 'u' : 'd', abs(shade));
	else
		buf_putc(out, 'e');
}

static void put_classes(const struct flame *f, const struct call_node *n,
			struct buf *out)
{
	const struct frame *frame;
	uint64_t hash;

	if (!n->parent) {
		buf_puts(out, "r");
		return;
	}
	frame = f->frames->frame[n->frame];
	hash = hash_bytes(0, frame->name, strlen(frame->name));
	if (f->change)
		put_change(f, n, out);
	else
		buf_printf(out, "k%d s%d", (int)frame->kind, (int)(hash % NR_SHADES));
	if (frame->inlined)
		buf_puts(out, " i");
}

static void put_shares(const struct flame *f, const char *what,
		       const struct call_cost *cost, struct buf *out)
{
	buf_printf(out, "%s%.2f%%", what, 100 * share(f, cost, 0));
	if (f->change)
		buf_printf(out, " before, %.2f%% after", 100 * share(f, cost, 1));
}

/* Appends the lines of costs, which follow the lines of names. */
static void put_costs(const struct flame *f, const struct call_cost *total,
		      const struct call_cost *self, struct buf *out)
{
	uint64_t samples = total[0].n;

	buf_putc(out, '\n');
	if (f->change)
		buf_printf(out, "%" PRIu64 " samples before, %" PRIu64 " after\n",
			   samples, total[1].n);
	else
		buf_printf(out, "%" PRIu64 " sample%s, ", samples,
			   samples == 1 ? "" : "s");
	put_shares(f, "", total, out);
	if (self) {
		buf_putc(out, '\n');
		put_shares(f, "itself ", self, out);
	}
}

/* "[no_mapping] x120" of frames that were folded. */
static void put_name(const struct flame *f, const struct call_node *n, struct buf *out)
{
	const struct frame *frame = n->parent ? f->frames->frame[n->frame] : NULL;

	if (frame)
		plain_procedure(frame->name, frame->image, out);
	else
		buf_puts(out, "all");
	if (n->nr_folded)
		buf_printf(out, " x%" PRIu32, n->nr_folded + 1);
}

static void put_names(const struct frame *frame, const char *name, struct buf *out)
{
	xml_put(out, name);
	buf_putc(out, '\n');
	if (frame->inlined)
		buf_puts(out, "inlined, in ");
	xml_put(out, frame->image ? frame->image : frame_kind_str(frame->kind));
	if (!frame->line.file)
		return;
	buf_putc(out, '\n');
	xml_put(out, frame->line.file);
	buf_printf(out, ":%d", frame->line.line);
}

/* As many characters as there is room for. */
static void put_label(const char *name, double width, struct buf *out)
{
	const size_t room = width > 6 ? (size_t)((width - 6) / CHAR) : 0;
	struct buf part = { 0 };

	if (room < 3)
		return;
	if (text_width(name) <= room) {
		xml_put(out, name);
		return;
	}
	buf_put(&part, name, text_prefix(name, room - 1));
	xml_put(out, buf_str(&part));
	buf_puts(out, "…");
	buf_fini(&part);
}

static void open_box(const struct drawing *d, uint32_t depth, double size,
		     struct buf *classes)
{
	buf_printf(d->out, "<g class=\"f %s\" data-d=\"%u\" data-w=\"%.0f\"><title>",
		   buf_str(classes), depth,
		   WHOLE * size / calltree_size(d->f->tree, d->f->tree->root->total));
}

static void close_box(const struct drawing *d, uint32_t depth, double x, double size,
		      const char *name)
{
	const double y = y_of(d, depth), width = size * d->scale;

	buf_printf(
		d->out,
		"</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%.0f\"/>"
		"<text x=\"%.2f\" y=\"%.0f\">",
		x, y, width, ROW - 1, x + 3, y + 13);
	put_label(name, width, d->out);
	buf_puts(d->out, "</text></g>\n");
}

static double percent(double logarithm)
{
	return 100 * expm1(logarithm);
}

static void put_judgement(const struct flame *f, const struct call_node *n,
			  struct buf *out)
{
	const struct frame_change *c = flame_change_of(f, n);

	if (!c->judged)
		return;
	buf_printf(out, "\nthe procedure itself: %+.1f%% (%+.1f%% to %+.1f%%), %s",
		   percent(c->change), percent(c->low), percent(c->high),
		   c->found ? "significant" : "no significant change");
	if (c->found && c->verdict)
		buf_printf(out, ", %s", c->verdict);
}

static void put_node(const struct drawing *d, const struct call_node *n, double x)
{
	const struct frame *frame = n->parent ? d->f->frames->frame[n->frame] : NULL;
	const double size = calltree_size(d->f->tree, n->total);
	struct buf classes = { 0 }, name = { 0 };

	put_classes(d->f, n, &classes);
	put_name(d->f, n, &name);
	open_box(d, n->depth, size, &classes);
	if (frame)
		put_names(frame, buf_str(&name), d->out);
	else
		buf_puts(d->out, "all");
	put_costs(d->f, n->total, d->f->tree->inverted ? NULL : n->self, d->out);
	if (frame && d->f->change)
		put_judgement(d->f, n, d->out);
	close_box(d, n->depth, x, size, buf_str(&name));
	buf_fini(&classes);
	buf_fini(&name);
}

static double pruned_size(const struct flame *f, const struct call_node *n)
{
	return calltree_size(f->tree, n->pruned);
}

static void put_pruned(const struct drawing *d, const struct call_node *n, double x)
{
	struct buf classes = { 0 }, name = { 0 };

	buf_puts(&classes, "p");
	if (n->nr_pruned)
		buf_printf(&name, "(%zu more, each below the threshold)", n->nr_pruned);
	else
		buf_puts(&name, "(deeper frames are not stored)");
	open_box(d, n->depth + 1, pruned_size(d->f, n), &classes);
	buf_puts(d->out, buf_str(&name));
	put_costs(d->f, n->pruned, NULL, d->out);
	close_box(d, n->depth + 1, x, pruned_size(d->f, n), buf_str(&name));
	buf_fini(&classes);
	buf_fini(&name);
}

/* Children stand side by side, and last what was pruned of them. */
static void put_boxes(const struct drawing *d)
{
	double x[CALLTREE_MAX_DEPTH + 2] = { PAD }; /* of the next box, by depth */
	const struct call_node *next;

	for (const struct call_node *n = d->f->tree->root; n; n = next) {
		const double at = x[n->depth];

		next = calltree_next(n);
		put_node(d, n, at);
		x[n->depth] += d->scale * calltree_size(d->f->tree, n->total);
		x[n->depth + 1] = at;
		while (n && (!next || n != next->parent)) {
			if (pruned_size(d->f, n) > 0)
				put_pruned(d, n, x[n->depth + 1]);
			n = n->parent;
		}
	}
}

static void put_swatch(struct buf *out, double *x, double y, const char *classes,
		       const char *text)
{
	buf_printf(out,
		   "<g class=\"l %s\"><rect x=\"%.0f\" y=\"%.0f\" width=\"13\" "
		   "height=\"13\"/><text x=\"%.0f\" y=\"%.0f\">%s</text></g>\n",
		   classes, *x, y, *x + 18, y + 11, text);
	*x += 18 + CHAR * (double)strlen(text) + 22;
}

/* In an inverted tree, stacks end where threads begin: their leaves are at the root. */
void flame_parts(const struct calltree *t, const struct frames *frames,
		 double part[NR_FRAME_KINDS])
{
	memset(part, 0, NR_FRAME_KINDS * sizeof(*part));
	for (const struct call_node *n = t->root; n; n = calltree_next(n)) {
		const struct call_cost *own = t->inverted ? n->total : n->self;

		if (n->parent && (!t->inverted || n->depth == 1))
			part[frames->frame[n->frame]->kind] +=
				calltree_size(t, own) /
				calltree_size(t, t->root->total);
	}
}

/* Each kind that there is, with its own part of the whole. */
static void put_kinds(const struct drawing *d, double y)
{
	const double *part = d->f->part;
	char classes[16], text[64];
	bool inlined = false;
	double x = PAD;

	for (const struct call_node *n = d->f->tree->root; n; n = calltree_next(n))
		inlined |= n->parent && d->f->frames->frame[n->frame]->inlined;
	for (enum frame_kind kind = 0; kind < NR_FRAME_KINDS; kind++) {
		if (!(part[kind] > 0))
			continue;
		snprintf(classes, sizeof(classes), "k%d", (int)kind);
		snprintf(text, sizeof(text), "%s %.1f%%", frame_kind_str(kind),
			 100 * part[kind]);
		put_swatch(d->out, &x, y, classes, text);
	}
	if (inlined)
		put_swatch(d->out, &x, y, "i r", "slanted: inlined");
}

static void put_changes(const struct drawing *d, double y)
{
	double x = PAD;

	put_swatch(d->out, &x, y, "u3", "takes more itself");
	put_swatch(d->out, &x, y, "d3", "takes less");
	put_swatch(d->out, &x, y, "e", "no significant change");
}

static size_t nr_levels(const struct calltree *t)
{
	size_t deepest = 0;

	for (const struct call_node *n = t->root; n; n = calltree_next(n)) {
		const size_t depth = n->depth + (calltree_size(t, n->pruned) > 0);

		if (depth > deepest)
			deepest = depth;
	}
	return deepest + 1;
}

static void put_head(const struct flame *f, double height, struct buf *out)
{
	buf_printf(out,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
		   "height=\"%.0f\" role=\"group\" aria-label=\"",
		   WIDTH, height);
	xml_put(out, f->title);
	buf_printf(out, "\"%s>\n<title>", f->icicle ? " data-icicle=\"\"" : "");
	xml_put(out, f->title);
	buf_printf(out, "</title>\n<style>\n%s</style>\n", flame_css);
	buf_printf(out,
		   "<rect width=\"100%%\" height=\"100%%\" class=\"paper\"/>\n"
		   "<text class=\"title\" x=\"%.0f\" y=\"%.0f\">",
		   PAD, TITLE);
	xml_put(out, f->title);
	buf_puts(out, "</text>\n");
	for (size_t i = 0; i < f->nr_notes; i++) {
		buf_printf(out, "<text class=\"note\" x=\"%.0f\" y=\"%.0f\">", PAD,
			   TITLE + NOTE * (double)(i + 1) + 4);
		xml_put(out, f->note[i]);
		buf_puts(out, "</text>\n");
	}
}

int flame_put(struct buf *out, const struct flame *f)
{
	struct drawing d = { .f = f, .out = out, .levels = nr_levels(f->tree) };
	const double legend = TITLE + NOTE * (double)f->nr_notes + 14;
	double height;

	d.top = legend + LEGEND;
	d.scale = (WIDTH - 2 * PAD) / calltree_size(f->tree, f->tree->root->total);
	height = d.top + ROW * (double)d.levels + BOTTOM;
	put_head(f, height, out);
	if (f->change)
		put_changes(&d, legend);
	else
		put_kinds(&d, legend);
	put_boxes(&d);
	buf_printf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", flame_js);
	return out->err;
}

/* The same boxes for programs and the page. */
struct json_boxes {
	const struct flame *f;
	struct json j;
	uint64_t next_id;
	uint64_t id[CALLTREE_MAX_DEPTH + 2]; /* of the last row of each depth */
};

static const char *const sides[] = { "a", "b" };

static void json_side(struct json *j, const char *key, const struct calls *c)
{
	json_object(j, key);
	report_json_header(j, &c->sel);
	json_string(j, "event", c->ev.event[0].name);
	json_number(j, "samples", c->busy.n);
	json_number(j, "idle_samples", c->idle.n);
	report_json_losses(j, &c->sel);
	json_end(j);
}

static void json_percent(struct json *j, const char *key, double percent)
{
	if (isfinite(percent))
		json_real(j, key, percent, 4);
	else
		json_null(j, key);
}

static double json_share(const struct flame *f, const struct call_cost *cost, int side)
{
	const double all = f->tree->root->total[side].weight;

	return all > 0 ? 100 * cost[side].weight / all : NAN;
}

/* The members "a_NAME" and "b_NAME" of samples, and of their shares. */
static void json_costs(struct json_boxes *p, const char *what,
		       const struct call_cost *cost)
{
	char key[32];

	for (int side = 0; side < 2; side++) {
		snprintf(key, sizeof(key), "%s_%ssamples", sides[side], what);
		json_number(&p->j, key, cost[side].n);
		snprintf(key, sizeof(key), "%s_%spercent", sides[side], what);
		json_percent(&p->j, key, json_share(p->f, cost, side));
	}
}

static void json_place(struct json_boxes *p, uint32_t depth)
{
	p->id[depth] = ++p->next_id;
	json_number(&p->j, "id", p->id[depth]);
	if (depth > 1)
		json_number(&p->j, "parent", p->id[depth - 1]);
	else
		json_null(&p->j, "parent");
	json_number(&p->j, "depth", depth);
}

static void json_judgement(struct json_boxes *p, const struct call_node *n)
{
	const struct frame_change *c = flame_change_of(p->f, n);

	json_number(&p->j, "shade", (uint64_t)abs(flame_shade(p->f, n)));
	json_bool(&p->j, "more", flame_shade(p->f, n) > 0);
	json_bool(&p->j, "judged", c->judged);
	json_bool(&p->j, "found", c->judged && c->found);
	json_percent(&p->j, "change_percent", c->judged ? 100 * expm1(c->change) : NAN);
	json_percent(&p->j, "low_percent", c->judged ? 100 * expm1(c->low) : NAN);
	json_percent(&p->j, "high_percent", c->judged ? 100 * expm1(c->high) : NAN);
	json_string(&p->j, "verdict", c->judged && c->found ? c->verdict : NULL);
}

static void json_node(struct json_boxes *p, const struct call_node *n)
{
	const struct frame *frame = p->f->frames->frame[n->frame];
	struct buf name = { 0 };

	json_object(&p->j, NULL);
	json_costs(p, "", n->total);
	json_costs(p, "self_", n->self);
	json_place(p, n->depth);
	plain_procedure(frame->name, NULL, &name);
	json_string(&p->j, "procedure", buf_str(&name));
	json_bool(&p->j, "inlined", frame->inlined);
	json_string(&p->j, "kind", frame_kind_str(frame->kind));
	json_string(&p->j, "image", frame->image);
	json_judgement(p, n);
	json_end(&p->j);
	if (name.err)
		p->f = NULL;
	buf_fini(&name);
}

static void json_pruned(struct json_boxes *p, const struct call_node *n)
{
	char name[64] = "(deeper frames are not stored)";

	if (n->nr_pruned)
		snprintf(name, sizeof(name), "(%zu more)", n->nr_pruned);
	json_object(&p->j, NULL);
	json_costs(p, "", n->pruned);
	json_place(p, n->depth + 1);
	json_string(&p->j, "procedure", name);
	json_string(&p->j, "kind", "pruned");
	json_null(&p->j, "image");
	json_end(&p->j);
}

int flame_print_json(const struct flame *f, const struct calls calls[2],
		     enum compare_basis basis)
{
	static const char *const names[] = { "sampling", "runs", "history" };
	struct json_boxes p = { .f = f };
	const struct call_node *next;

	json_object(&p.j, NULL);
	for (int side = 0; side < 2; side++)
		json_side(&p.j, sides[side], &calls[side]);
	json_string(&p.j, "basis", names[basis]);
	json_array(&p.j, "rows");
	for (const struct call_node *n = f->tree->root; n && p.f; n = next) {
		next = calltree_next(n);
		if (n->parent)
			json_node(&p, n);
		while (p.f && n && (!next || n != next->parent)) {
			if (n->pruned[0].n || n->pruned[1].n)
				json_pruned(&p, n);
			n = n->parent;
		}
	}
	json_end(&p.j);
	json_end(&p.j);
	return p.f ? 0 : -ENOMEM;
}
