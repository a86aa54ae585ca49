/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The second half: makes blocks and edges from bytes that are marked as instructions. A
 * block begins at the target of a jump, where unwinding enters, and behind the end of
 * another one: a jump, a return, or a call that does not return.
 */
#include "config.h"

#include "analysis/cfg/cfg.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cfg/cfg_code.h"
#include "base/err.h"
#include "base/search.h"

struct builder {
	struct code *code;
	struct cfg *cfg;
	size_t cap_edges;
};

/* Whether the next instruction begins another block. */
static bool ends_block(const struct code *c, const struct insn *insn)
{
	return insn->kind & (INSN_JUMP | INSN_RETURN | INSN_TRAP) ||
	       code_state_at(c, insn->address) & CODE_NORETURN;
}

static void begin_block(struct builder *b, uint8_t state)
{
	struct cfg *g = b->cfg;

	g->block[g->nr_blocks++] = (struct cfg_block){
		.start = g->insn[g->nr_insns].address - g->bias,
		.first_insn = g->nr_insns,
		.landing_pad = state & CODE_LANDING,
	};
}

static void add_part(struct builder *b, const struct code_part *p)
{
	struct cfg *g = b->cfg;
	bool ended = true;
	uint64_t next = 0;

	g->part[g->nr_parts++] = g->nr_blocks;
	for (size_t at = 0; at < p->size; at++) {
		const uint8_t state = p->state[at];
		struct insn *insn = &g->insn[g->nr_insns];

		if (!(state & CODE_START))
			continue;
		code_insn_at(b->code, p->start + at, insn);
		if (ended || state & CODE_LEADER || insn->address != next)
			begin_block(b, state);
		next = insn->address + insn->size;
		g->block[g->nr_blocks - 1].end = next - g->bias;
		g->block[g->nr_blocks - 1].nr_insns++;
		g->nr_insns++;
		ended = ends_block(b->code, insn);
	}
}

static int make_blocks(struct builder *b)
{
	struct cfg *g = b->cfg;

	g->insn = arena_array(b->code->arena, b->code->nr_insns, sizeof(*g->insn));
	g->block =
		arena_array(b->code->arena, b->code->nr_insns + 1, sizeof(*g->block));
	if (!g->insn || !g->block)
		return -ENOMEM;
	for (int i = 0; i < b->code->nr_parts; i++)
		add_part(b, &b->code->part[i]);
	g->part[g->nr_parts] = g->exit = g->nr_blocks++;
	g->block[g->exit] = (struct cfg_block){ .first_insn = g->nr_insns };
	return 0;
}

static int add_edge(struct builder *b, int from, int to, enum edge_kind kind)
{
	struct cfg *g = b->cfg;
	struct cfg_edge *bigger;

	if ((size_t)g->nr_edges == b->cap_edges) {
		const size_t cap = b->cap_edges * 2;

		bigger = arena_array(b->code->arena, cap, sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		memcpy(bigger, g->edge, b->cap_edges * sizeof(*bigger));
		g->edge = bigger;
		b->cap_edges = cap;
	}
	g->edge[g->nr_edges++] = (struct cfg_edge){ from, to, kind };
	g->block[from].nr_out++;
	return 0;
}

/* The block that begins at an address, or -1. */
static int block_from(const struct cfg *g, uint64_t address)
{
	const int block = cfg_block_at(g, address - g->bias);

	return block >= 0 && g->block[block].start == address - g->bias ? block : -1;
}

static int add_edge_to(struct builder *b, int from, uint64_t address,
		       enum edge_kind kind)
{
	const int to = block_from(b->cfg, address);

	return to < 0 ? add_edge(b, from, b->cfg->exit, EDGE_LEAVE)
		      : add_edge(b, from, to, kind);
}

static int add_indirect_edges(struct builder *b, int from, const struct insn *last)
{
	const struct code_indirect *jump = code_indirect_at(b->code, last->address);
	int err = 0;

	switch (jump->kind) {
	case INDIRECT_UNKNOWN:
		b->cfg->block[from].missing_out = b->cfg->missing_edges = true;
		break;
	case INDIRECT_LEAVES:
		err = add_edge(b, from, b->cfg->exit, EDGE_LEAVE);
		break;
	case INDIRECT_TABLE:
		for (int i = 0; i < jump->nr_targets && !err; i++)
			err = add_edge_to(b, from, jump->target[i], EDGE_INDIRECT);
		break;
	}
	return err;
}

static int add_edges_of(struct builder *b, int from)
{
	const struct cfg_block *block = &b->cfg->block[from];
	const struct insn *last =
		&b->cfg->insn[block->first_insn + block->nr_insns - 1];
	int err = 0;

	if (last->kind & INSN_RETURN)
		return add_edge(b, from, b->cfg->exit, EDGE_RETURN);
	if (last->kind & INSN_TRAP ||
	    code_state_at(b->code, last->address) & CODE_NORETURN)
		return add_edge(b, from, b->cfg->exit, EDGE_LEAVE);
	if (last->kind & INSN_JUMP && last->kind & INSN_INDIRECT)
		return add_indirect_edges(b, from, last);
	if (last->kind & INSN_JUMP)
		err = add_edge_to(b, from, last->target, EDGE_TAKEN);
	if (!err && code_falls_through(b->code, last))
		err = add_edge_to(b, from, last->address + last->size, EDGE_FALL);
	return err;
}

static int compare_edges(const void *va, const void *vb)
{
	const struct cfg_edge *a = va, *b = vb;

	if (a->from != b->from)
		return a->from - b->from;
	return a->to != b->to ? a->to - b->to : (int)a->kind - (int)b->kind;
}

/* One edge of each kind between two blocks. */
static void sort_edges(struct cfg *g)
{
	int kept = 0;

	if (g->nr_edges)
		qsort(g->edge, (size_t)g->nr_edges, sizeof(*g->edge), compare_edges);
	for (int i = 0; i < g->nr_blocks; i++)
		g->block[i].nr_out = 0;
	for (int i = 0; i < g->nr_edges; i++) {
		struct cfg_block *from = &g->block[g->edge[i].from];

		if (kept && !compare_edges(&g->edge[kept - 1], &g->edge[i]))
			continue;
		if (!from->nr_out++)
			from->first_out = kept;
		g->edge[kept++] = g->edge[i];
	}
	g->nr_edges = kept;
}

/* As edge[] is sorted by from, each block's share of in[] is, too. */
static void list_in(struct cfg *g)
{
	int at = 0;

	for (int i = 0; i < g->nr_edges; i++)
		g->block[g->edge[i].to].nr_in++;
	for (int i = 0; i < g->nr_blocks; i++) {
		g->block[i].first_in = at;
		at += g->block[i].nr_in;
		g->block[i].nr_in = 0;
	}
	for (int i = 0; i < g->nr_edges; i++) {
		struct cfg_block *to = &g->block[g->edge[i].to];

		g->in[to->first_in + to->nr_in++] = i;
	}
}

static int make_edges(struct builder *b)
{
	struct cfg *g = b->cfg;
	int err = 0;

	b->cap_edges = 2 * (size_t)g->nr_blocks + 16;
	g->edge = arena_array(b->code->arena, b->cap_edges, sizeof(*g->edge));
	if (!g->edge)
		return -ENOMEM;
	for (int i = 0; i < g->exit && !err; i++)
		err = add_edges_of(b, i);
	if (err)
		return err;
	sort_edges(g);
	g->in = arena_array(b->code->arena, (size_t)g->nr_edges, sizeof(*g->in));
	if (!g->in)
		return -ENOMEM;
	list_in(g);
	return 0;
}

int cfg_build(struct image *im, struct isa *isa, const struct symbol *procedure,
	      struct arena *arena, struct cfg **out)
{
	struct code code = {
		.im = im, .isa = isa, .procedure = procedure, .arena = arena
	};
	struct builder b = { .code = &code };
	int err;

	err = code_explore(&code);
	if (err)
		return err;
	b.cfg = arena_alloc(arena, sizeof(*b.cfg));
	if (!b.cfg)
		return -ENOMEM;
	b.cfg->procedure = procedure;
	b.cfg->bias = code.bias;
	err = make_blocks(&b);
	if (!err)
		err = make_edges(&b);
	if (err)
		return err;
	*out = b.cfg;
	return 0;
}

int cfg_block_at(const struct cfg *cfg, uint64_t offset)
{
	for (int i = 0; i < cfg->nr_parts; i++) {
		const struct cfg_block *block = &cfg->block[cfg->part[i]];
		const size_t nr = cfg->part[i + 1] - cfg->part[i];
		const size_t at = SEARCH(k, nr, block[k].end > offset);

		if (at < nr && block[at].start <= offset)
			return cfg->part[i] + (int)at;
	}
	return -1;
}

void cfg_dump(const struct cfg *cfg, struct buf *out)
{
	static const char *const kinds[] = { "fall", "taken", "indirect", "return",
					     "leave" };

	for (int b = 0; b < cfg->exit; b++) {
		const struct cfg_block *block = &cfg->block[b];

		buf_printf(out, "cfg: block %d 0x%" PRIx64 " to 0x%" PRIx64 "%s%s\n", b,
			   block->start, block->end,
			   block->landing_pad ? ", landing pad" : "",
			   block->missing_out ? ", edges missing" : "");
	}
	for (int i = 0; i < cfg->nr_edges; i++)
		buf_printf(out, "cfg: edge %d from %d to %d, %s\n", i,
			   cfg->edge[i].from, cfg->edge[i].to,
			   kinds[cfg->edge[i].kind]);
}
