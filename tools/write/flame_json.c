/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame_json.c - the boxes of what changed, for programs and the page
 *
 * The same nodes, shares and verdicts as in the picture (flame.c).
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/ui/json.h"
#include "tools/write/flame.h"
#include "tools/write/plain_name.h"
#include "tools/write/report.h"

struct printing {
	const struct flame *f;
	struct json j;
	uint64_t next_id;
	uint64_t id[CALLTREE_MAX_DEPTH + 2]; /* of the last row of each depth */
};

static const char *const sides[] = { "a", "b" };

static void put_side(struct json *j, const char *key, const struct calls *c)
{
	json_object(j, key);
	report_json_header(j, &c->sel);
	json_string(j, "event", c->ev.event[0].name);
	json_number(j, "samples", c->busy.n);
	json_number(j, "idle_samples", c->idle.n);
	report_json_losses(j, &c->sel);
	json_end(j);
}

static void put_percent(struct json *j, const char *key, double percent)
{
	if (isfinite(percent))
		json_real(j, key, percent, 4);
	else
		json_null(j, key);
}

static double share_of(const struct flame *f, const struct call_cost *cost, int side)
{
	const double all = f->tree->root->total[side].weight;

	return all > 0 ? 100 * cost[side].weight / all : NAN;
}

/* The members "a_NAME" and "b_NAME" of samples, and of their shares. */
static void put_costs(struct printing *p, const char *what,
		      const struct call_cost *cost)
{
	char key[32];

	for (int side = 0; side < 2; side++) {
		snprintf(key, sizeof(key), "%s_%ssamples", sides[side], what);
		json_number(&p->j, key, cost[side].n);
		snprintf(key, sizeof(key), "%s_%spercent", sides[side], what);
		put_percent(&p->j, key, share_of(p->f, cost, side));
	}
}

static void put_place(struct printing *p, uint32_t depth)
{
	p->id[depth] = ++p->next_id;
	json_number(&p->j, "id", p->id[depth]);
	if (depth > 1)
		json_number(&p->j, "parent", p->id[depth - 1]);
	else
		json_null(&p->j, "parent");
	json_number(&p->j, "depth", depth);
}

static void put_judgement(struct printing *p, const struct call_node *n)
{
	const struct frame_change *c = flame_change_of(p->f, n);

	json_number(&p->j, "shade", (uint64_t)abs(flame_shade(p->f, n)));
	json_bool(&p->j, "more", flame_shade(p->f, n) > 0);
	json_bool(&p->j, "judged", c->judged);
	json_bool(&p->j, "found", c->judged && c->found);
	put_percent(&p->j, "change_percent", c->judged ? 100 * expm1(c->change) : NAN);
	put_percent(&p->j, "low_percent", c->judged ? 100 * expm1(c->low) : NAN);
	put_percent(&p->j, "high_percent", c->judged ? 100 * expm1(c->high) : NAN);
	json_string(&p->j, "verdict", c->judged && c->found ? c->verdict : NULL);
}

static void put_node(struct printing *p, const struct call_node *n)
{
	const struct frame *frame = p->f->frames->frame[n->frame];
	struct buf name = { 0 };

	json_object(&p->j, NULL);
	put_costs(p, "", n->total);
	put_costs(p, "self_", n->self);
	put_place(p, n->depth);
	plain_procedure(frame->name, NULL, &name);
	json_string(&p->j, "procedure", buf_str(&name));
	json_bool(&p->j, "inlined", frame->inlined);
	json_string(&p->j, "kind", frame_kind_str(frame->kind));
	json_string(&p->j, "image", frame->image);
	put_judgement(p, n);
	json_end(&p->j);
	if (name.err)
		p->f = NULL;
	buf_fini(&name);
}

static void put_pruned(struct printing *p, const struct call_node *n)
{
	char name[64] = "(deeper than is kept)";

	if (n->nr_pruned)
		snprintf(name, sizeof(name), "(%zu more)", n->nr_pruned);
	json_object(&p->j, NULL);
	put_costs(p, "", n->pruned);
	put_place(p, n->depth + 1);
	json_string(&p->j, "procedure", name);
	json_string(&p->j, "kind", "pruned");
	json_null(&p->j, "image");
	json_end(&p->j);
}

int flame_print_json(const struct flame *f, const struct calls calls[2],
		     enum compare_basis basis)
{
	static const char *const names[] = { "sampling", "runs", "history" };
	struct printing p = { .f = f };
	const struct call_node *next;

	json_object(&p.j, NULL);
	for (int side = 0; side < 2; side++)
		put_side(&p.j, sides[side], &calls[side]);
	json_string(&p.j, "basis", names[basis]);
	json_array(&p.j, "rows");
	for (const struct call_node *n = f->tree->root; n && p.f; n = next) {
		next = calltree_next(n);
		if (n->parent)
			put_node(&p, n);
		while (p.f && n && (!next || n != next->parent)) {
			if (n->pruned[0].n || n->pruned[1].n)
				put_pruned(&p, n);
			n = n->parent;
		}
	}
	json_end(&p.j);
	json_end(&p.j);
	return p.f ? 0 : -ENOMEM;
}
