/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cycle equivalence: R. Johnson, D. Pearson, K. Pingali, "The Program Structure Tree",
 * PLDI'94, figure 4. Each block is split into an arc between two nodes, so that blocks
 * and edges are both arcs and no arc is a loop of its own. In a strongly connected
 * graph, two arcs are on the same directed cycles if and only if they are on the same
 * undirected ones. A depth-first search finds these: a tree arc's brackets are the back
 * arcs from its subtree to above it; two tree arcs with the same brackets are
 * equivalent; the topmost bracket and the number of brackets identify the set.
 *
 * Where we go beyond the paper: infinite loops. A CFG with an infinite loop is not
 * strongly connected, so each strongly connected component is searched separately. The
 * loop's arcs are compared by the loop's own cycles. An arc between components is on no
 * cycle (a run that never ends passes it at most once) and gets a class of its own.
 *
 * I1  Arcs 0 to nr_blocks - 1 are blocks, then come the edges, then the virtual arcs
 *     from the exit, then capping brackets, at most one for each node.
 * I2  A bracket is in one list at most; lists are rings through next and prev.
 */
#include "config.h"

#include "analysis/cfg/equiv.h"

#include <errno.h>

#define NONE (-1)

struct arc {
	int from, to;
	int out_next, in_next; /* of the same node */
	int class;
	bool inside; /* a component */
	bool used;   /* the search has passed it */

	/* as a bracket */
	int next, prev;
	int recent_size, recent_class;
	int cap_next; /* of the capping brackets that end at the same node */
};

struct node {
	int out, in;           /* first arcs */
	int number;            /* in the order of the search, from 1 */
	int low;               /* Tarjan's; afterwards the component */
	int tree;              /* arc that the search came through */
	int hi;                /* the topmost node that its subtree has an arc to */
	int next_out, next_in; /* where the walk over its arcs stands */
	int brackets, nr_brackets;
	int caps; /* capping brackets that end here */
};

struct equiv_search {
	struct arc *arc;
	struct node *node;
	int nr_arcs, nr_real, nr_nodes;
	int *stack, *order; /* of nodes; order[number] is a node */
	int nr_classes;
};

static void add_arc(struct equiv_search *s, int from, int to)
{
	struct arc *a = &s->arc[s->nr_arcs];

	*a = (struct arc){ .from = from,
			   .to = to,
			   .out_next = s->node[from].out,
			   .in_next = s->node[to].in,
			   .class = NONE };
	s->node[from].out = s->nr_arcs;
	s->node[to].in = s->nr_arcs++;
}

/* Block b is the arc from node 2b to node 2b + 1. */
static int build_graph(struct equiv_search *s, const struct cfg *cfg,
		       struct arena *arena)
{
	int pads = 0;

	for (int b = 0; b < cfg->nr_blocks; b++)
		pads += cfg->block[b].landing_pad;
	s->nr_nodes = 2 * cfg->nr_blocks;
	s->nr_real = cfg->nr_blocks + cfg->nr_edges + 1 + pads;
	s->arc = arena_array(arena, s->nr_real + s->nr_nodes, sizeof(*s->arc));
	s->node = arena_array(arena, s->nr_nodes, sizeof(*s->node));
	s->stack = arena_array(arena, s->nr_nodes, sizeof(*s->stack));
	s->order = arena_array(arena, s->nr_nodes + 1, sizeof(*s->order));
	if (!s->arc || !s->node || !s->stack || !s->order)
		return -ENOMEM;
	for (int n = 0; n < s->nr_nodes; n++)
		s->node[n] = (struct node){ .out = NONE,
					    .in = NONE,
					    .tree = NONE,
					    .brackets = NONE,
					    .caps = NONE };
	for (int b = 0; b < cfg->nr_blocks; b++)
		add_arc(s, 2 * b, 2 * b + 1);
	for (int e = 0; e < cfg->nr_edges; e++)
		add_arc(s, 2 * cfg->edge[e].from + 1, 2 * cfg->edge[e].to);
	add_arc(s, 2 * cfg->exit + 1, 0);
	for (int b = 0; b < cfg->nr_blocks; b++)
		if (cfg->block[b].landing_pad)
			add_arc(s, 2 * cfg->exit + 1, 2 * b);
	return 0;
}

/* Takes the component with root n off the stack. */
static int take_component(struct equiv_search *s, int n, int depth)
{
	int member;

	do {
		member = s->stack[--depth];
		s->node[member].low = s->nr_nodes + 1 + n; /* no number reaches it */
	} while (member != n);
	return depth;
}

/* Tarjan's components, without recursion: a node's tree arc leads back. */
static void find_components(struct equiv_search *s, int root, int *number)
{
	int n = root, depth = 0, a;

	if (s->node[root].number)
		return;
	for (;;) {
		struct node *node = &s->node[n];

		if (!node->number) {
			node->number = node->low = ++*number;
			node->next_out = node->out;
			s->stack[depth++] = n;
		}
		a = node->next_out;
		if (a != NONE) {
			struct node *to = &s->node[s->arc[a].to];

			node->next_out = s->arc[a].out_next;
			if (!to->number) {
				to->tree = a;
				n = s->arc[a].to;
			} else if (to->low <= s->nr_nodes && to->number < node->low) {
				node->low = to->number;
			}
			continue;
		}
		a = node->tree;
		if (node->low == node->number)
			depth = take_component(s, n, depth);
		if (a == NONE)
			return;
		n = s->arc[a].from;
		if (node->low < s->node[n].low)
			s->node[n].low = node->low;
	}
}

static void mark_components(struct equiv_search *s)
{
	int number = 0;

	for (int n = 0; n < s->nr_nodes; n++)
		find_components(s, n, &number);
	for (int a = 0; a < s->nr_real; a++)
		s->arc[a].inside =
			s->node[s->arc[a].from].low == s->node[s->arc[a].to].low;
	for (int n = 0; n < s->nr_nodes; n++) {
		s->node[n].number = 0;
		s->node[n].tree = NONE;
	}
}

/* The next arc at n that the search has not passed; NONE after the last. */
static int next_arc(struct equiv_search *s, struct node *node)
{
	int a;

	while (node->next_out != NONE) {
		a = node->next_out;
		node->next_out = s->arc[a].out_next;
		if (s->arc[a].inside && !s->arc[a].used)
			return a;
	}
	while (node->next_in != NONE) {
		a = node->next_in;
		node->next_in = s->arc[a].in_next;
		if (s->arc[a].inside && !s->arc[a].used)
			return a;
	}
	return NONE;
}

static int other_end(const struct arc *a, int n)
{
	return a->from == n ? a->to : a->from;
}

/* Numbers a component's nodes in the order of an undirected search. */
static void search_undirected(struct equiv_search *s, int root, int *number)
{
	int n = root, a, m;

	for (;;) {
		struct node *node = &s->node[n];

		if (!node->number) {
			node->number = ++*number;
			node->next_out = node->out;
			node->next_in = node->in;
			s->order[node->number] = n;
		}
		a = next_arc(s, node);
		if (a != NONE) {
			s->arc[a].used = true;
			m = other_end(&s->arc[a], n);
			if (!s->node[m].number) {
				s->node[m].tree = a;
				n = m;
			}
		} else if (node->tree != NONE) {
			n = other_end(&s->arc[node->tree], n);
		} else {
			return;
		}
	}
}

static void list_push(struct equiv_search *s, struct node *n, int a)
{
	struct arc *new = &s->arc[a], *top;

	if (n->brackets == NONE) {
		new->next = new->prev = a;
	} else {
		top = &s->arc[n->brackets];
		new->next = n->brackets;
		new->prev = top->prev;
		s->arc[top->prev].next = a;
		top->prev = a;
	}
	n->brackets = a;
	n->nr_brackets++;
}

static void list_delete(struct equiv_search *s, struct node *n, int a)
{
	struct arc *old = &s->arc[a];

	s->arc[old->prev].next = old->next;
	s->arc[old->next].prev = old->prev;
	if (n->brackets == a)
		n->brackets = old->next == a ? NONE : old->next;
	n->nr_brackets--;
}

/* Puts child's brackets on top of n's. */
static void list_concat(struct equiv_search *s, struct node *n,
			const struct node *child)
{
	struct arc *top, *child_top;
	int last;

	if (child->brackets == NONE)
		return;
	if (n->brackets != NONE) {
		top = &s->arc[n->brackets];
		child_top = &s->arc[child->brackets];
		last = child_top->prev;
		s->arc[top->prev].next = child->brackets;
		child_top->prev = top->prev;
		s->arc[last].next = n->brackets;
		top->prev = last;
	}
	n->brackets = child->brackets;
	n->nr_brackets += child->nr_brackets;
}

/* Takes an arc at n: a child's brackets go to n's list, back arcs open or close. */
static void visit_arc(struct equiv_search *s, int n, int a, int *hi0, int *hi1,
		      int *hi2)
{
	struct node *node = &s->node[n], *other = &s->node[other_end(&s->arc[a], n)];

	if (!s->arc[a].inside || node->tree == a)
		return;
	if (other->tree == a) {
		list_concat(s, node, other);
		if (other->hi < *hi1) {
			*hi2 = *hi1;
			*hi1 = other->hi;
		} else if (other->hi < *hi2) {
			*hi2 = other->hi;
		}
	} else if (other->number < node->number && other->number < *hi0) {
		*hi0 = other->number;
	}
}

static void close_bracket(struct equiv_search *s, int n, int a)
{
	list_delete(s, &s->node[n], a);
	if (s->arc[a].class == NONE)
		s->arc[a].class = s->nr_classes++;
}

/* The class of the tree arc that leads to n. */
static void classify_tree_arc(struct equiv_search *s, struct node *node)
{
	struct arc *b = &s->arc[node->brackets];

	if (b->recent_size != node->nr_brackets) {
		b->recent_size = node->nr_brackets;
		b->recent_class = s->nr_classes++;
	}
	s->arc[node->tree].class = b->recent_class;
	if (b->recent_size == 1)
		b->class = b->recent_class;
}

enum { TO_DESCENDANT, TO_ANCESTOR };

/* Opens or closes the back arcs at n. */
static void pass_back_arcs(struct equiv_search *s, int n, int which)
{
	struct node *node = &s->node[n];

	for (int dir = 0; dir < 2; dir++) {
		int next, a = dir ? node->in : node->out;

		for (; a != NONE; a = next) {
			struct node *other = &s->node[other_end(&s->arc[a], n)];

			next = dir ? s->arc[a].in_next : s->arc[a].out_next;
			if (!s->arc[a].inside || node->tree == a || other->tree == a)
				continue;
			if (which == TO_DESCENDANT && other->number > node->number)
				close_bracket(s, n, a);
			else if (which == TO_ANCESTOR && other->number < node->number)
				list_push(s, node, a);
		}
	}
}

/* One node of PLDI'94 figure 4, its subtree being done. */
static void visit_node(struct equiv_search *s, int n)
{
	struct node *node = &s->node[n];
	int hi0 = s->nr_nodes + 1, hi1 = hi0, hi2 = hi0;

	for (int a = node->out; a != NONE; a = s->arc[a].out_next)
		visit_arc(s, n, a, &hi0, &hi1, &hi2);
	for (int a = node->in; a != NONE; a = s->arc[a].in_next)
		visit_arc(s, n, a, &hi0, &hi1, &hi2);
	node->hi = hi0 < hi1 ? hi0 : hi1;

	for (int a = node->caps; a != NONE; a = s->arc[a].cap_next)
		list_delete(s, node, a);
	pass_back_arcs(s, n, TO_DESCENDANT);
	pass_back_arcs(s, n, TO_ANCESTOR);
	if (hi2 < hi0 && hi2 < node->number) {
		struct node *end = &s->node[s->order[hi2]];
		int a = s->nr_arcs++;

		s->arc[a] = (struct arc){ .cap_next = end->caps };
		end->caps = a;
		list_push(s, node, a);
	}
	if (node->tree != NONE)
		classify_tree_arc(s, node);
}

/* Classes in the order of their first member; an arc on no cycle is alone. */
static int number_classes(struct equiv_search *s, const struct cfg *cfg,
			  struct arena *arena, struct equiv *out)
{
	int nr = cfg->nr_blocks + cfg->nr_edges;
	int *name = arena_array(arena, s->nr_classes + 1, sizeof(*name));
	int *class = arena_array(arena, nr, sizeof(*class));

	if (!name || !class)
		return -ENOMEM;
	for (int c = 0; c < s->nr_classes; c++)
		name[c] = NONE;
	out->nr = 0;
	for (int a = 0; a < nr; a++) {
		int c = s->arc[a].class;

		if (c == NONE)
			class[a] = out->nr++;
		else
			class[a] = name[c] = name[c] == NONE ? out->nr++ : name[c];
	}
	out->block = class;
	out->edge = class + cfg->nr_blocks;
	return 0;
}

int equiv_build(const struct cfg *cfg, struct arena *arena, struct equiv *out)
{
	struct equiv_search s = { 0 };
	int err, number = 0, first = 1;

	err = build_graph(&s, cfg, arena);
	if (err)
		return err;
	if (!cfg->missing_edges) {
		mark_components(&s);
		for (int n = 0; n < s.nr_nodes; n++) {
			if (s.node[n].number)
				continue;
			search_undirected(&s, n, &number);
			for (int i = number; i >= first; i--)
				visit_node(&s, s.order[i]);
			first = number + 1;
		}
	}
	return number_classes(&s, cfg, arena, out);
}

void equiv_dump(const struct cfg *cfg, const struct equiv *eq, struct buf *out)
{
	for (int b = 0; b < cfg->nr_blocks; b++)
		buf_printf(out, "equiv: block %d class %d\n", b, eq->block[b]);
	for (int e = 0; e < cfg->nr_edges; e++)
		buf_printf(out, "equiv: edge %d -> %d class %d\n", cfg->edge[e].from,
			   cfg->edge[e].to, eq->edge[e]);
}
