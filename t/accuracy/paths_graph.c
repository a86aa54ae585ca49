/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * paths_graph.c - nodes and edges of all procedures together
 *
 * First nodes, and leaps to offsets, then edges: a call may come before its callee.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"
#include "t/accuracy/paths_private.h"

struct path_graph *path_graph_new(void)
{
	return calloc(1, sizeof(struct path_graph));
}

void path_graph_free(struct path_graph *g)
{
	struct hnode *n, *next;

	if (!g)
		return;
	hmap_for_each (&g->starts, n, next)
		free(container_of(n, struct path_start, node));
	hmap_fini(&g->starts);
	free(g->node);
	free(g->first_exit);
	free(g->first_out);
	free(g->edge);
	free(g->leap);
	free(g);
}

int path_graph_find(const struct path_graph *g, uint64_t offset)
{
	struct hnode *n;

	for (n = hmap_first(&g->starts, hash_u64(offset)); n; n = hmap_next(n)) {
		const struct path_start *s = container_of(n, struct path_start, node);

		if (s->offset == offset)
			return s->of;
	}
	return -1;
}

const struct path_node *path_graph_node(const struct path_graph *g, int node)
{
	return &g->node[node];
}

static int note_start(struct path_graph *g, uint64_t offset, int node)
{
	struct path_start *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	*s = (struct path_start){ .offset = offset, .of = node };
	if (!hmap_insert(&g->starts, &s->node, hash_u64(offset)))
		return 0;
	free(s);
	return -ENOMEM;
}

int path_graph_add_node(struct path_graph *g, const struct path_node *node)
{
	struct path_node *grown =
		grow(g->node, g->nr_nodes, &g->room_nodes, sizeof(*grown));

	if (!grown || g->nr_nodes == INT_MAX)
		return -ENOMEM;
	g->node = grown;
	if (note_start(g, node->start, (int)g->nr_nodes))
		return -ENOMEM;
	g->node[g->nr_nodes] = *node;
	g->node[g->nr_nodes].first_in = g->node[g->nr_nodes].next_exit = -1;
	return (int)g->nr_nodes++;
}

static int add_leap(struct path_graph *g, int from, uint64_t to,
		    enum path_edge_kind kind)
{
	if (GROW(g->leap, g->nr_leaps))
		return -ENOMEM;
	g->leap[g->nr_leaps++] = (struct path_leap){ from, to, kind };
	return 0;
}

static int add_edge(struct path_graph *g, int from, int to, enum path_edge_kind kind,
		    struct path_edge **out)
{
	struct path_edge *grown =
		grow(g->edge, g->nr_edges, &g->room_edges, sizeof(*grown));

	if (!grown || g->nr_edges == INT_MAX)
		return -ENOMEM;
	g->edge = grown;
	*out = &g->edge[g->nr_edges];
	**out = (struct path_edge){ .from = from,
				    .to = to,
				    .next = g->node[to].first_in,
				    .next_out = -1,
				    .kind = kind };
	g->node[to].first_in = (int)g->nr_edges;
	if (kind == PATH_EDGE_CALL) {
		(*out)->next_out = g->first_out[from];
		g->first_out[from] = (int)g->nr_edges;
	}
	g->nr_edges++;
	return 0;
}

static uint64_t offset_of(const struct cfg *cfg, const struct insn *insn)
{
	return insn->address - cfg->bias;
}

static enum path_end end_of(const struct insn *last)
{
	if (last->kind & INSN_CALL)
		return PATH_CALLS;
	if (last->kind & INSN_RETURN)
		return PATH_RETURNS;
	return last->kind & INSN_COND ? PATH_JUMPS : PATH_FALLS;
}

/* Instructions first to last of a block. */
static int add_part(struct path_graph *g, const struct cfg *cfg, int first, int last,
		    int procedure)
{
	const struct insn *insn = &cfg->insn[last];
	const struct path_node node = {
		.start = offset_of(cfg, &cfg->insn[first]),
		.end = offset_of(cfg, insn) + insn->size,
		.nr_insns = last - first + 1,
		.ends = end_of(insn),
		.procedure = procedure < 0 ? (int)g->nr_nodes : procedure,
		.calls = insn->kind & INSN_CALL && insn->target
				 ? insn->target - cfg->bias
				 : 0,
	};

	return path_graph_add_node(g, &node);
}

static int add_leaps(struct path_graph *g, const struct cfg *cfg,
		     const struct cfg_block *block, int node)
{
	const struct insn *last = &cfg->insn[block->first_insn + block->nr_insns - 1];
	const enum path_end ends = g->node[node].ends;
	int err = 0;

	for (int i = block->first_out; i < block->first_out + block->nr_out && !err;
	     i++) {
		const struct cfg_edge *edge = &cfg->edge[i];
		uint64_t to = cfg->block[edge->to].start;

		if (edge->kind == EDGE_LEAVE && last->kind & INSN_JUMP && last->target)
			to = last->target - cfg->bias; /* a call that ends it */
		else if (edge->to == cfg->exit)
			continue;
		err = add_leap(g, node, to,
			       ends == PATH_CALLS        ? PATH_EDGE_BEHIND
			       : ends != PATH_JUMPS      ? PATH_EDGE_FREE
			       : edge->kind == EDGE_FALL ? PATH_EDGE_NOT_TAKEN
							 : PATH_EDGE_TAKEN);
	}
	return err;
}

static int add_block(struct path_graph *g, const struct cfg *cfg,
		     const struct cfg_block *block, int *procedure)
{
	const int end = block->first_insn + block->nr_insns;
	int node = -1, err = 0;

	for (int i = block->first_insn, first = i; i < end && !err; i++) {
		const int before = node;

		if (!(cfg->insn[i].kind & INSN_CALL) && i + 1 < end)
			continue;
		node = add_part(g, cfg, first, i, *procedure);
		if (node < 0)
			return node;
		if (*procedure < 0)
			*procedure = node;
		if (before >= 0)
			err = add_leap(g, before, g->node[node].start,
				       PATH_EDGE_BEHIND);
		first = i + 1;
	}
	return err || node < 0 ? err : add_leaps(g, cfg, block, node);
}

int path_graph_add(struct path_graph *g, const struct cfg *cfg)
{
	int procedure = -1, err = 0;

	for (int b = 0; b < cfg->exit && !err; b++) {
		if (path_graph_find(g, cfg->block[b].start) < 0)
			err = add_block(g, cfg, &cfg->block[b], &procedure);
	}
	return err;
}

static int link_calls(struct path_graph *g)
{
	struct path_edge *edge;
	int err = 0;

	for (size_t i = 0; i < g->nr_nodes && !err; i++) {
		const struct path_node *n = &g->node[i];
		const int to = n->calls ? path_graph_find(g, n->calls) : -1;

		if (n->ends == PATH_CALLS && to >= 0)
			err = add_edge(g, (int)i, to, PATH_EDGE_CALL, &edge);
	}
	return err;
}

int path_graph_link(struct path_graph *g)
{
	struct path_edge *edge;
	int err = 0;

	g->first_exit = calloc(g->nr_nodes + 1, sizeof(*g->first_exit));
	g->first_out = calloc(g->nr_nodes + 1, sizeof(*g->first_out));
	if (!g->first_exit || !g->first_out)
		return -ENOMEM;
	for (size_t i = 0; i < g->nr_nodes; i++)
		g->first_exit[i] = g->first_out[i] = -1;
	for (size_t i = 0; i < g->nr_nodes; i++) {
		struct path_node *n = &g->node[i];

		if (n->ends != PATH_RETURNS)
			continue;
		n->next_exit = g->first_exit[n->procedure];
		g->first_exit[n->procedure] = (int)i;
	}
	for (size_t i = 0; i < g->nr_leaps && !err; i++) {
		const int to = path_graph_find(g, g->leap[i].to);

		if (to >= 0)
			err = add_edge(g, g->leap[i].from, to, g->leap[i].kind, &edge);
	}
	return err ? err : link_calls(g);
}

static enum path_edge_kind kind_of(const struct path_node *from, bool taken)
{
	switch (from->ends) {
	case PATH_CALLS:
		return PATH_EDGE_CALL;
	case PATH_RETURNS:
		return PATH_EDGE_RETURN;
	case PATH_JUMPS:
		return taken ? PATH_EDGE_TAKEN : PATH_EDGE_NOT_TAKEN;
	default:
		return PATH_EDGE_FREE;
	}
}

int path_graph_observe(struct path_graph *g, int from, int to, bool taken)
{
	const enum path_edge_kind kind = kind_of(&g->node[from], taken);
	struct path_edge *edge;
	int err;

	for (int e = g->node[to].first_in; e >= 0; e = g->edge[e].next) {
		if (g->edge[e].from == from && g->edge[e].kind == kind) {
			g->edge[e].count++;
			return 0;
		}
	}
	err = add_edge(g, from, to, kind, &edge);
	if (!err)
		edge->count = 1;
	return err;
}

static int by_count(const void *va, const void *vb, void *ctx)
{
	const struct path_edge *edge = ctx;
	const int a = *(const int *)va, b = *(const int *)vb;

	if (edge[a].count != edge[b].count)
		return edge[a].count < edge[b].count ? 1 : -1;
	return (a > b) - (a < b);
}

static void sort_in_edges(struct path_graph *g, struct path_node *node, int *list)
{
	int nr = 0;

	for (int e = node->first_in; e >= 0; e = g->edge[e].next)
		list[nr++] = e;
	if (!nr)
		return;
	qsort_r(list, nr, sizeof(*list), by_count, g->edge);
	node->first_in = list[0];
	for (int i = 0; i < nr; i++)
		g->edge[list[i]].next = i + 1 < nr ? list[i + 1] : -1;
}

int path_graph_sort(struct path_graph *g)
{
	int *list = calloc(g->nr_edges + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < g->nr_nodes; i++)
		sort_in_edges(g, &g->node[i], list);
	free(list);
	return 0;
}
