/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfg_dump MODE FILE - the control flow of FILE's procedures, for the tests
 *
 * check     builds every CFG, checks its invariants, and prints a summary
 * schedule  the same, and times every block
 * blocks    lines "p ENTRY", then "b START END", "e FROM TO", "l FROM" (leaves), "m
 *           FROM" (missing edges); FROM is the last instruction's address
 * insns     lines "ADDRESS", of every instruction
 *
 * Addresses are link-time ones, in hexadecimal.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/cfg/cfg.h"
#include "analysis/image/image.h"
#include "base/err.h"

enum mode { CHECK, SCHEDULE, BLOCKS, INSNS, NR_MODES };

struct totals {
	size_t procedures, missing, failed, broken, bytes, insns, blocks, edges;
};

struct dump {
	struct image *im;
	struct isa *isa;
	enum mode mode;
	struct totals t;
};

static void broken(struct dump *d, const struct cfg *g, const char *what, int at)
{
	fprintf(stderr, "%s: %s (%d)\n", g->procedure->name, what, at);
	d->t.broken++;
}

static bool is_edge_before(const struct cfg_edge *a, const struct cfg_edge *b)
{
	if (a->from != b->from)
		return a->from < b->from;
	return a->to != b->to ? a->to < b->to : a->kind < b->kind;
}

static void check_blocks(struct dump *d, const struct cfg *g)
{
	int next = 0;

	for (int i = 0; i < g->exit; i++) {
		const struct cfg_block *b = &g->block[i];
		const struct insn *first = &g->insn[b->first_insn];
		uint64_t at = b->start + g->bias;

		if (b->first_insn != next || b->nr_insns < 1)
			broken(d, g, "instructions are not covered once", i);
		for (int k = 0; k < b->nr_insns; k++) {
			if (first[k].address != at)
				broken(d, g, "a hole in a block", i);
			at += first[k].size;
		}
		if (at != b->end + g->bias)
			broken(d, g, "a block's end", i);
		next += b->nr_insns;
		if (cfg_block_at(g, b->start) != i || cfg_block_at(g, b->end - 1) != i)
			broken(d, g, "a block is not found", i);
	}
	if (next != g->nr_insns || g->exit != g->nr_blocks - 1)
		broken(d, g, "instructions behind the last block", next);
	if (g->block[0].start != g->procedure->start)
		broken(d, g, "the first block is not the entry", 0);
	for (int p = 0; p < g->nr_parts; p++)
		for (int i = g->part[p] + 1; i < g->part[p + 1]; i++)
			if (g->block[i].start < g->block[i - 1].end)
				broken(d, g, "blocks overlap", i);
}

static void check_edges(struct dump *d, const struct cfg *g)
{
	int seen = 0;

	for (int i = 1; i < g->nr_edges; i++)
		if (!is_edge_before(&g->edge[i - 1], &g->edge[i]))
			broken(d, g, "edges are not sorted", i);
	for (int i = 0; i < g->nr_blocks; i++) {
		const struct cfg_block *b = &g->block[i];

		for (int k = 0; k < b->nr_out; k++)
			if (g->edge[b->first_out + k].from != i)
				broken(d, g, "an edge of another block", i);
		for (int k = 0; k < b->nr_in; k++) {
			if (g->edge[g->in[b->first_in + k]].to != i)
				broken(d, g, "an edge to another block", i);
			if (k && g->in[b->first_in + k] <= g->in[b->first_in + k - 1])
				broken(d, g, "edges in are not sorted", i);
		}
		if (i != g->exit && !b->nr_out && !b->missing_out)
			broken(d, g, "a block without a way out", i);
		seen += b->nr_in;
	}
	if (seen != g->nr_edges)
		broken(d, g, "edges without a block", seen);
}

/* Every direct jump inside goes to the beginning of a block. */
static void check_jumps(struct dump *d, const struct cfg *g)
{
	for (int i = 0; i < g->nr_insns; i++) {
		const struct insn *insn = &g->insn[i];
		int to;

		if (!(insn->kind & INSN_JUMP) || !insn->target)
			continue;
		to = cfg_block_at(g, insn->target - g->bias);
		if (to >= 0 && g->block[to].start != insn->target - g->bias) {
			bool is_start = false;
			const struct cfg_block *b = &g->block[to];

			for (int k = 0; k < b->nr_insns; k++)
				is_start |= g->insn[b->first_insn + k].address ==
					    insn->target;
			if (is_start)
				broken(d, g, "a jump into a block", to);
		}
	}
}

static int schedule(struct dump *d, const struct cfg *g, struct arena *arena)
{
	struct isa_schedule s;
	int err = 0;

	for (int i = 0; i < g->exit && !err; i++) {
		struct isa_run run = { .insn = &g->insn[g->block[i].first_insn],
				       .nr = g->block[i].nr_insns };

		err = isa_schedule(d->isa, &run, arena, &s);
	}
	return err;
}

static void print_blocks(const struct cfg *g)
{
	printf("p %" PRIx64 "\n", g->block[0].start + g->bias);
	for (int i = 0; i < g->exit; i++) {
		const struct cfg_block *b = &g->block[i];
		const struct insn *last = &g->insn[b->first_insn + b->nr_insns - 1];

		printf("b %" PRIx64 " %" PRIx64 "\n", b->start + g->bias,
		       b->end + g->bias);
		for (int k = 0; k < b->nr_out; k++) {
			const struct cfg_edge *e = &g->edge[b->first_out + k];

			if (e->to == g->exit)
				printf("l %" PRIx64 "\n", last->address);
			else
				printf("e %" PRIx64 " %" PRIx64 "\n", last->address,
				       g->block[e->to].start + g->bias);
		}
		if (b->missing_out)
			printf("m %" PRIx64 "\n", last->address);
	}
}

static void report(struct dump *d, const struct cfg *g)
{
	switch (d->mode) {
	case CHECK:
	case SCHEDULE:
		check_blocks(d, g);
		check_edges(d, g);
		check_jumps(d, g);
		break;
	case BLOCKS:
		print_blocks(g);
		break;
	case INSNS:
		for (int i = 0; i < g->nr_insns; i++)
			printf("%" PRIx64 "\n", g->insn[i].address);
		break;
	case NR_MODES:
		break;
	}
}

static int dump(struct dump *d, const struct symbol *s)
{
	struct arena arena;
	struct cfg *g;
	int err;

	arena_init(&arena, 0);
	err = cfg_build(d->im, d->isa, s, &arena, &g);
	if (!err && d->mode == SCHEDULE)
		err = schedule(d, g, &arena);
	if (!err) {
		d->t.procedures++;
		d->t.bytes += s->end - s->start;
		d->t.insns += (size_t)g->nr_insns;
		d->t.blocks += (size_t)g->nr_blocks;
		d->t.edges += (size_t)g->nr_edges;
		d->t.missing += g->missing_edges;
		report(d, g);
	} else {
		d->t.failed++;
	}
	arena_fini(&arena);
	return err == -ENOMEM ? err : 0;
}

static int dump_all(struct dump *d)
{
	const struct symbol *const *s;
	const clock_t begin = clock();
	double seconds;
	size_t nr;
	int err = 0;

	s = image_symbols(d->im, &nr);
	for (size_t i = 0; i < nr && !err; i++)
		err = dump(d, s[i]);
	seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
	if (d->mode == CHECK || d->mode == SCHEDULE)
		printf("%zu procedures, %zu without code, %zu with missing edges, %zu "
		       "broken; %zu bytes, %zu instructions, %zu blocks, %zu edges; "
		       "%.1f MB/min\n",
		       d->t.procedures, d->t.failed, d->t.missing, d->t.broken,
		       d->t.bytes, d->t.insns, d->t.blocks, d->t.edges,
		       (double)d->t.bytes / 1e6 / seconds * 60);
	return err;
}

int main(int argc, char **argv)
{
	static const char *const modes[] = { "check", "schedule", "blocks", "insns" };
	struct image_desc desc = { .kind = IMAGE_FILE,
				   .name = argc == 3 ? argv[2] : "" };
	struct dump d = { .mode = CHECK };
	int err;

	while (argc == 3 && d.mode < NR_MODES && strcmp(modes[d.mode], argv[1]))
		d.mode++;
	if (argc != 3 || d.mode == NR_MODES) {
		fputs("usage: cfg_dump check|schedule|blocks|insns FILE\n", stderr);
		return 2;
	}
	err = image_open(&desc, NULL, &d.im);
	if (!err) {
		err = isa_open(image_machine(d.im), &d.isa);
		if (!err)
			err = dump_all(&d);
		image_close(d.im);
	}
	if (err)
		fprintf(stderr, "%s: %s\n", desc.name, err_str(err));
	isa_close(d.isa);
	return err || d.t.broken ? EXIT_FAILURE : EXIT_SUCCESS;
}
