/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pathwalk.c - the paths through a procedure that a window recorded
 *
 * A window may contain several nested executions of the procedure. They are kept on a
 * stack. The top one runs, or waits for a called procedure to return. If control enters
 * the procedure in a way that the stack does not explain (the window began in a called
 * procedure, or there was an exception), a new execution begins. Its path is not known
 * before the next anchor.
 */
#include "config.h"

#include "analysis/windows/pathwalk.h"

#define MAX_BLOCKS (WINDOW_MAX_INSNS + 1)  /* of all paths that are not at their end */
#define MAX_DEPTH  PATHWALK_MAX_EXECUTIONS /* each but the first one took a jump */

struct execution {
	int first, nr_blocks; /* of its path, in walk->block; 0: it has not reached an
				 anchor yet */
	struct pathwalk_caller caller;
	uint64_t since; /* instructions of the window before its path */
	uint64_t back;  /* image offset to which the procedure it called returns */
	int at;         /* the block that it is in, or was in; see pathwalk_path.from */
	int from;       /* of its path */
	uint32_t number;
};

struct pathwalk {
	const struct cfg *cfg;
	uint32_t image;
	bool *is_anchor; /* by block */
	struct execution *stack;
	int depth;
	uint32_t nr_executions; /* of the window */
	bool inside;            /* the top one runs */
	int *block;
	int nr_blocks;
	uint64_t bytes, jumps; /* bytes of straight parts, and taken jumps, until now */
	uint64_t nr_insns;     /* of the window */
	double insns_per_byte;
	pathwalk_fn fn;
	void *ctx;
	int err;
};

/* Marks the targets of back edges of a depth-first search from root. */
static void mark_heads(const struct cfg *cfg, int root, bool *seen, int *next,
		       int *stack, bool *is_anchor)
{
	int depth = 0;

	seen[root] = true;
	stack[depth++] = root;
	while (depth) {
		const int b = stack[depth - 1];
		int to;

		if (next[b] == cfg->block[b].nr_out) {
			next[b] = -1; /* off the stack */
			depth--;
			continue;
		}
		to = cfg->edge[cfg->block[b].first_out + next[b]++].to;
		if (!seen[to]) {
			seen[to] = true;
			stack[depth++] = to;
		} else if (next[to] >= 0) {
			is_anchor[to] = true;
		}
	}
}

static int find_anchors(const struct cfg *cfg, struct arena *arena, bool *is_anchor)
{
	bool *seen = arena_array(arena, cfg->nr_blocks, sizeof(*seen));
	int *next = arena_array(arena, cfg->nr_blocks, sizeof(*next));
	int *stack = arena_array(arena, cfg->nr_blocks, sizeof(*stack));

	if (!seen || !next || !stack)
		return -1;
	for (int b = 0; b < cfg->nr_blocks; b++) {
		if (!seen[b])
			mark_heads(cfg, b, seen, next, stack, is_anchor);
	}
	is_anchor[0] = true;
	return 0;
}

struct pathwalk *pathwalk_new(const struct cfg *cfg, uint32_t image,
			      struct arena *arena)
{
	struct pathwalk *walk = arena_alloc(arena, sizeof(*walk));

	if (!walk)
		return NULL;
	walk->cfg = cfg;
	walk->image = image;
	walk->is_anchor = arena_array(arena, cfg->nr_blocks, sizeof(*walk->is_anchor));
	walk->stack = arena_array(arena, MAX_DEPTH, sizeof(*walk->stack));
	walk->block = arena_array(arena, MAX_BLOCKS, sizeof(*walk->block));
	if (!walk->is_anchor || !walk->stack || !walk->block ||
	    find_anchors(cfg, arena, walk->is_anchor))
		return NULL;
	return walk;
}

/* The estimated number of instructions until now; exact at the window's end. */
static uint64_t now(const struct pathwalk *walk)
{
	return (uint64_t)((double)walk->bytes * walk->insns_per_byte) + walk->jumps;
}

/* Ends the path of the top execution. */
static void end_path(struct pathwalk *walk, int end)
{
	struct execution *top = &walk->stack[walk->depth - 1];
	const struct pathwalk_path p = {
		.block = &walk->block[top->first],
		.nr_blocks = top->nr_blocks,
		.end = end,
		.from = top->from,
		.execution = top->number,
		.caller = top->caller,
		.nr_insns = now(walk) - top->since,
		.left = walk->nr_insns - top->since,
	};

	if (p.nr_blocks && !walk->err)
		walk->err = walk->fn(walk->ctx, &p);
	walk->nr_blocks = top->first;
	top->nr_blocks = 0;
	top->caller.known = false;
}

static void push(struct pathwalk *walk, struct pathwalk_caller caller, int at)
{
	walk->stack[walk->depth++] = (struct execution){
		.first = walk->nr_blocks,
		.caller = caller,
		.at = at,
		.number = walk->nr_executions++,
	};
	walk->inside = true;
}

static void pop(struct pathwalk *walk, int end)
{
	end_path(walk, end);
	walk->depth--;
	walk->inside = false;
}

/* Forgets all executions, because control moved in an unknown way. */
static void lose(struct pathwalk *walk)
{
	while (walk->depth)
		pop(walk, -1);
}

/* Control is at the head of a block. */
static void come_to(struct pathwalk *walk, int b)
{
	struct execution *top = &walk->stack[walk->depth - 1];
	const int from = top->at;

	top->at = b;
	if (walk->is_anchor[b]) {
		if (top->nr_blocks)
			end_path(walk, b);
		top->since = now(walk);
		top->from = from;
	} else if (!top->nr_blocks) {
		return;
	}
	if (walk->nr_blocks == MAX_BLOCKS) {
		lose(walk);
		return;
	}
	walk->block[walk->nr_blocks++] = b;
	top->nr_blocks++;
}

/* Control lands in the procedure from elsewhere. */
static void land(struct pathwalk *walk, uint64_t at, struct pathwalk_caller from)
{
	const int b = cfg_block_at(walk->cfg, at);
	const bool is_start = b >= 0 && walk->cfg->block[b].start == at;

	if (b < 0)
		return;
	if (walk->cfg->block[0].start == at) {
		push(walk, from, walk->cfg->exit);
	} else if (walk->depth && walk->stack[walk->depth - 1].back == at) {
		walk->inside = true;
	} else {
		lose(walk);
		push(walk, (struct pathwalk_caller){ .known = false },
		     is_start ? -1 : b);
	}
	if (is_start)
		come_to(walk, b);
}

/* Runs straight from an offset in the procedure to another one. */
static void go_straight(struct pathwalk *walk, uint64_t from, uint64_t to)
{
	const struct cfg *cfg = walk->cfg;
	const uint64_t start = walk->bytes;
	int b = cfg_block_at(cfg, from);

	while (walk->inside && cfg->block[b].end <= to) {
		if (b + 1 == cfg->exit ||
		    cfg->block[b + 1].start != cfg->block[b].end) {
			lose(walk);
			break;
		}
		b++;
		walk->bytes = start + (cfg->block[b].start - from);
		come_to(walk, b);
	}
	walk->bytes = start + (to - from);
}

static const struct insn *insn_at(const struct cfg *cfg, int b, uint64_t at)
{
	const struct cfg_block *block = &cfg->block[b];

	for (int i = 0; i < block->nr_insns; i++) {
		const struct insn *insn = &cfg->insn[block->first_insn + i];

		if (insn->address - cfg->bias == at)
			return insn;
	}
	return NULL;
}

static bool has_edge(const struct cfg *cfg, int from, int to)
{
	const struct cfg_block *block = &cfg->block[from];
	bool has = block->missing_out;

	for (int e = 0; e < block->nr_out; e++)
		has |= cfg->edge[block->first_out + e].to == to;
	return has;
}

/* The block of the procedure to which the graph has an edge for this jump, or -1. */
static int jumps_to(const struct pathwalk *walk, int b, const struct insn *insn,
		    const struct window_jump *jump)
{
	const struct cfg *cfg = walk->cfg;
	const int to = jump->image == walk->image ? cfg_block_at(cfg, jump->to) : -1;

	if (to < 0 || cfg->block[to].start != jump->to ||
	    insn->kind & (INSN_CALL | INSN_RETURN) || !has_edge(cfg, b, to))
		return -1;
	return to;
}

/* Control leaves a block of the procedure by a jump, call or return. */
static void depart(struct pathwalk *walk, const struct window_jump *jump)
{
	const struct cfg *cfg = walk->cfg;
	const int b = cfg_block_at(cfg, jump->from);
	const struct insn *insn = b < 0 ? NULL : insn_at(cfg, b, jump->from);
	bool is_last;
	int to;

	if (!insn) {
		lose(walk);
		return;
	}
	is_last = jump->from + insn->size == cfg->block[b].end;
	to = jumps_to(walk, b, insn, jump);
	if (is_last && to >= 0) {
		come_to(walk, to);
	} else if (is_last && has_edge(cfg, b, cfg->exit)) {
		pop(walk, cfg->exit);
	} else if (insn->kind & INSN_CALL) {
		walk->stack[walk->depth - 1].back = jump->from + insn->size;
		walk->inside = false;
	} else {
		lose(walk);
	}
}

/* Walks part i of the nr_jumps + 1 straight parts, and the jump at its end. */
static void walk_part(struct pathwalk *walk, const struct window *w, uint32_t i,
		      uint32_t start)
{
	const uint32_t image = i ? w->jump[i - 1].image : start;
	const uint64_t from = i ? w->jump[i - 1].to : w->start;
	const uint64_t to = i < w->nr_jumps ? w->jump[i].from : w->end;

	if (!walk->inside && image == walk->image && i)
		land(walk, from,
		     (struct pathwalk_caller){ true,
					       i > 1 ? w->jump[i - 2].image : start,
					       w->jump[i - 1].from });
	if (!i && image == walk->image && cfg_block_at(walk->cfg, from) >= 0)
		push(walk, (struct pathwalk_caller){ .known = false },
		     cfg_block_at(walk->cfg, from));
	if (walk->inside)
		go_straight(walk, from, to);
	else
		walk->bytes += to - from;
	walk->jumps += i < w->nr_jumps;
	if (walk->inside && i < w->nr_jumps)
		depart(walk, &w->jump[i]);
}

/* Straight parts contain all instructions except the jumps. */
static void begin_clock(struct pathwalk *walk, const struct window *w)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i <= w->nr_jumps; i++)
		bytes += (i < w->nr_jumps ? w->jump[i].from : w->end) -
			 (i ? w->jump[i - 1].to : w->start);
	walk->bytes = bytes;
	walk->jumps = w->nr_jumps;
	walk->insns_per_byte =
		bytes ? (double)(w->nr_insns - w->nr_jumps) / (double)bytes : 0;
	walk->nr_insns = now(walk);
	walk->bytes = 0;
	walk->jumps = 0;
}

int pathwalk_window(struct pathwalk *walk, const struct window *w, uint32_t start,
		    pathwalk_fn fn, void *ctx)
{
	walk->fn = fn;
	walk->ctx = ctx;
	walk->err = 0;
	walk->nr_executions = 0;
	begin_clock(walk, w);
	for (uint32_t i = 0; i <= w->nr_jumps && !walk->err; i++)
		walk_part(walk, w, i, start);
	lose(walk);
	walk->inside = false;
	return walk->err;
}
