/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names are those of the paper's figure 6, except two: head is iloop_header, and
 * place is DFSP_pos (0: not on the current path of the walk).
 */
#include "config.h"

#include "analysis/cfg/loops.h"

#include <errno.h>

struct loop_walk {
	const struct cfg *cfg;
	int *head;  /* of the innermost loop around, which the block is not head of */
	int *place; /* on the way, from 1 on */
	int *next;  /* edge out */
	int *way;   /* blocks */
	bool *seen, *is_head;
};

/*
 * Notes that block is in head's loop. The heads of the loops around a block form a
 * chain, from the innermost loop outwards, with descending places.
 */
static void put_into(struct loop_walk *w, int block, int head)
{
	if (block == head || head == LOOPS_NONE)
		return;
	while (w->head[block] != LOOPS_NONE) {
		const int other = w->head[block];

		if (other == head)
			return;
		if (w->place[other] < w->place[head]) {
			w->head[block] = head;
			block = head;
			head = other;
		} else {
			block = other;
		}
	}
	w->head[block] = head;
}

/* An edge to a block that was seen before. */
static void meet(struct loop_walk *w, int from, int to)
{
	int head;

	if (w->place[to]) {
		w->is_head[to] = true;
		put_into(w, from, to);
		return;
	}
	for (head = w->head[to]; head != LOOPS_NONE; head = w->head[head]) {
		if (w->place[head]) {
			put_into(w, from, head);
			return;
		}
	}
}

static void walk_from(struct loop_walk *w, int root)
{
	int depth = 1;

	w->way[0] = root;
	w->seen[root] = true;
	w->place[root] = 1;
	while (depth) {
		const int from = w->way[depth - 1];
		int to;

		if (w->next[from] == w->cfg->block[from].nr_out) {
			w->place[from] = 0;
			if (--depth)
				put_into(w, w->way[depth - 1], w->head[from]);
			continue;
		}
		to = w->cfg->edge[w->cfg->block[from].first_out + w->next[from]++].to;
		if (w->seen[to]) {
			meet(w, from, to);
			continue;
		}
		w->seen[to] = true;
		w->way[depth++] = to;
		w->place[to] = depth;
	}
}

static int find_heads(struct loop_walk *w, struct arena *arena)
{
	const size_t nr = (size_t)w->cfg->nr_blocks;

	w->head = arena_array(arena, nr, sizeof(*w->head));
	w->place = arena_array(arena, nr, sizeof(*w->place));
	w->next = arena_array(arena, nr, sizeof(*w->next));
	w->way = arena_array(arena, nr, sizeof(*w->way));
	w->seen = arena_array(arena, nr, sizeof(*w->seen));
	w->is_head = arena_array(arena, nr, sizeof(*w->is_head));
	if (!w->head || !w->place || !w->next || !w->way || !w->seen || !w->is_head)
		return -ENOMEM;
	for (int b = 0; b < w->cfg->nr_blocks; b++)
		w->head[b] = LOOPS_NONE;
	for (int b = 0; b < w->cfg->nr_blocks; b++) {
		if (!w->seen[b])
			walk_from(w, b);
	}
	return 0;
}

const int *loops_find(const struct cfg *cfg, struct arena *arena)
{
	struct loop_walk w = { .cfg = cfg };

	if (find_heads(&w, arena))
		return NULL;
	for (int b = 0; b < cfg->nr_blocks; b++) {
		if (w.is_head[b])
			w.head[b] = b;
	}
	return w.head;
}

int loops_nest(const struct cfg *cfg, struct arena *arena, struct loop_nest *out)
{
	struct loop_walk w = { .cfg = cfg };
	int *inner = arena_array(arena, (size_t)cfg->nr_blocks, sizeof(*inner));
	int err = inner ? find_heads(&w, arena) : -ENOMEM;

	if (err)
		return err;
	for (int b = 0; b < cfg->nr_blocks; b++)
		inner[b] = w.is_head[b] ? b : w.head[b];
	*out = (struct loop_nest){ inner, w.head };
	return 0;
}
