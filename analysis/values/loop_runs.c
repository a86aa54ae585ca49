/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loop_runs.c - follows the paths of a window through innermost loops
 */
#include "config.h"

#include "analysis/values/loop_runs.h"

#include "analysis/cfg/loops.h"

/* One execution of the procedure. */
struct state {
	int head;    /* of the loop that it is in, or LOOPS_NONE */
	int last;    /* block */
	bool begun;  /* the run's begin is in the window */
	uint64_t nr; /* arrivals at head */
};

struct loop_runs {
	const struct cfg *cfg;
	struct pathwalk *walk;
	const int *inner;    /* by block: the head of its innermost loop */
	bool *is_outer;      /* by head: there is a loop in this loop */
	bool *has_body;      /* by head: the loop has other blocks than its head */
	struct state *state; /* by execution */
	uint32_t nr_states;  /* that are used */
	loop_runs_fn fn;
	void *ctx;
};

struct loop_runs *loop_runs_new(const struct cfg *cfg, uint32_t image,
				struct arena *arena)
{
	struct loop_runs *r = arena_alloc(arena, sizeof(*r));
	struct loop_nest nest;

	if (!r || loops_nest(cfg, arena, &nest))
		return NULL;
	r->cfg = cfg;
	r->inner = nest.inner;
	r->walk = pathwalk_new(cfg, image, arena);
	r->is_outer = arena_array(arena, cfg->nr_blocks, sizeof(*r->is_outer));
	r->has_body = arena_array(arena, cfg->nr_blocks, sizeof(*r->has_body));
	r->state = arena_array(arena, PATHWALK_MAX_EXECUTIONS, sizeof(*r->state));
	if (!r->walk || !r->is_outer || !r->has_body || !r->state)
		return NULL;
	for (int b = 0; b < cfg->nr_blocks; b++) {
		const int head = nest.inner[b];

		if (head == b && nest.around[b] != LOOPS_NONE)
			r->is_outer[nest.around[b]] = true;
		if (head != LOOPS_NONE && head != b)
			r->has_body[head] = true;
	}
	return r;
}

/* The head of the innermost loop of a block, if it has no loops inside. */
static int loop_of(const struct loop_runs *r, int b)
{
	const int head = b < 0 || b == r->cfg->exit ? LOOPS_NONE : r->inner[b];

	return head != LOOPS_NONE && r->is_outer[head] ? LOOPS_NONE : head;
}

bool loop_runs_has(const struct loop_runs *r, int block)
{
	return block != r->cfg->exit && loop_of(r, block) == block;
}

static int end_run(struct loop_runs *r, struct state *s, bool complete)
{
	const bool only_test = s->last == s->head && r->has_body[s->head];
	const struct loop_run run = { s->head, s->nr - only_test, complete };

	s->head = LOOPS_NONE;
	return s->begun ? r->fn(r->ctx, &run) : 0;
}

/* Control comes to block b from block from, as in struct pathwalk_path. */
static int visit(struct loop_runs *r, struct state *s, int from, int b)
{
	const int head = loop_of(r, b);
	int err = 0;

	if (s->head != LOOPS_NONE && head != s->head)
		err = end_run(r, s, true);
	if (head != LOOPS_NONE && s->head == LOOPS_NONE) {
		s->head = head;
		s->nr = 0;
		s->begun = b == head && from >= 0 && loop_of(r, from) != head;
	}
	s->nr += head != LOOPS_NONE && b == head;
	s->last = b;
	return err;
}

static struct state *state_of(struct loop_runs *r, uint32_t execution)
{
	for (; r->nr_states <= execution; r->nr_states++)
		r->state[r->nr_states].head = LOOPS_NONE;
	return &r->state[execution];
}

static int on_path(void *ctx, const struct pathwalk_path *p)
{
	struct loop_runs *r = ctx;
	struct state *s = state_of(r, p->execution);
	int from = p->from, err = 0;

	for (int i = 0; !err && i < p->nr_blocks; i++) {
		err = visit(r, s, from, p->block[i]);
		from = p->block[i];
	}
	if (!err && s->head != LOOPS_NONE && (p->end == r->cfg->exit || p->end < 0))
		err = end_run(r, s, p->end >= 0);
	return err;
}

int loop_runs_window(struct loop_runs *r, const struct window *w, uint32_t start,
		     loop_runs_fn fn, void *ctx)
{
	int err;

	r->fn = fn;
	r->ctx = ctx;
	r->nr_states = 0;
	err = pathwalk_window(r->walk, w, start, on_path, r);
	for (uint32_t i = 0; !err && i < r->nr_states; i++) {
		if (r->state[i].head != LOOPS_NONE) /* the path was too long */
			err = end_run(r, &r->state[i], false);
	}
	return err;
}
