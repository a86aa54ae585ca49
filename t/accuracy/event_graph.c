/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "t/accuracy/event_graph.h"

#include <err.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "analysis/cfg/cfg.h"
#include "analysis/freq/freq.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/grow.h"

struct graph {
	const char *name;
	struct cfg *cfg;
	uint64_t *runs, *passed;   /* by block, edge */
	double *sampled[EVENT_NR]; /* by instruction */
};

struct place {
	int graph, insn, block;
	bool first, last; /* of its block */
};

struct graphs {
	struct image *im; /* or NULL */
	struct isa *isa;
	struct arena arena;
	struct graph *graph;
	size_t nr, room;
	struct place *place;
	size_t nr_places, room_places;
	int *at; /* by address - base: place + 1; 0: not looked at; -1: none */
	uint64_t base, size;
	double period[EVENT_NR];
};

static void check(int error, const char *what)
{
	if (error)
		errx(EXIT_FAILURE, "%s: %s", what, err_str(error));
}

static void *get(void *p)
{
	if (!p)
		errx(EXIT_FAILURE, "out of memory");
	return p;
}

static void open_image(struct graphs *g, const char *path)
{
	struct image_desc desc = { .kind = IMAGE_FILE, .name = path };
	const struct symbol *const *symbol;
	struct stat st;
	size_t nr;

	if (stat(path, &st) < 0)
		err(EXIT_FAILURE, "%s", path);
	desc.device = st.st_dev;
	desc.inode = st.st_ino;
	desc.size = st.st_size;
	desc.mtime_ns = st.st_mtim.tv_sec * 1000000000ULL + st.st_mtim.tv_nsec;
	check(image_open(&desc, NULL, &g->im), path);
	check(isa_open(image_machine(g->im), &g->isa), path);
	symbol = image_symbols(g->im, &nr);
	g->size = desc.size;
	for (size_t i = 0; i < nr && !g->base; i++) {
		struct cfg *cfg;

		if (!cfg_build(g->im, g->isa, symbol[i], &g->arena, &cfg))
			g->base = cfg->bias;
	}
	g->at = get(calloc(g->size, sizeof(*g->at)));
}

struct graphs *graphs_new(const char *program)
{
	struct graphs *g = get(calloc(1, sizeof(*g)));

	arena_init(&g->arena, 0);
	if (program)
		open_image(g, program);
	return g;
}

void graphs_free(struct graphs *g)
{
	isa_close(g->isa);
	image_close(g->im);
	arena_fini(&g->arena);
	free(g->graph);
	free(g->place);
	free(g->at);
	free(g);
}

static void add_place(struct graphs *g, struct place p)
{
	const struct cfg *cfg = g->graph[p.graph].cfg;
	const uint64_t at = cfg->insn[p.insn].address - g->base;

	g->place =
		get(grow(g->place, g->nr_places, &g->room_places, sizeof(*g->place)));
	g->place[g->nr_places++] = p;
	if (at < g->size && g->at[at] <= 0)
		g->at[at] = (int)g->nr_places;
}

static void add_graph(struct graphs *g, const char *name, struct cfg *cfg)
{
	struct graph *new;

	g->graph = get(grow(g->graph, g->nr, &g->room, sizeof(*g->graph)));
	new = &g->graph[g->nr++];
	*new = (struct graph){ .name = name, .cfg = cfg };
	new->runs = get(arena_array(&g->arena, cfg->nr_blocks, sizeof(*new->runs)));
	new->passed =
		get(arena_array(&g->arena, cfg->nr_edges + 1, sizeof(*new->passed)));
	for (int e = 0; e < EVENT_NR; e++)
		new->sampled[e] =
			get(arena_array(&g->arena, cfg->nr_insns, sizeof(double)));
	for (int b = 0; b < cfg->exit; b++) {
		const struct cfg_block *block = &cfg->block[b];

		for (int i = 0; i < block->nr_insns; i++)
			add_place(g,
				  (struct place){ (int)g->nr - 1, block->first_insn + i,
						  b, !i, i == block->nr_insns - 1 });
	}
}

void graphs_trace(struct graphs *g, const uint64_t *pc, size_t nr)
{
	struct cfg *cfg = event_trace_cfg(pc, nr, &g->arena);

	g->base = cfg->bias;
	for (int i = 0; i < cfg->nr_insns; i++)
		if (cfg->insn[i].address - g->base >= g->size)
			g->size = cfg->insn[i].address - g->base + 1;
	g->at = get(calloc(g->size, sizeof(*g->at)));
	add_graph(g, "trace", cfg);
}

/* The procedure at an address, once. */
static void look_at(struct graphs *g, uint64_t at)
{
	const struct symbol *s = image_symbol_at(g->im, at);
	struct cfg *cfg;

	g->at[at] = -1;
	if (s && !cfg_build(g->im, g->isa, s, &g->arena, &cfg))
		add_graph(g, s->raw, cfg);
}

int graphs_find(struct graphs *g, uint64_t address)
{
	const uint64_t at = address - g->base;

	if (at >= g->size)
		return -1;
	if (!g->at[at] && g->im)
		look_at(g, at);
	return g->at[at] > 0 ? g->at[at] - 1 : -1;
}

const struct insn *graphs_insn(const struct graphs *g, int at)
{
	return &g->graph[g->place[at].graph].cfg->insn[g->place[at].insn];
}

/* The edge that control took from block b: to a block's first instruction, or out. */
static int edge_to(const struct cfg *cfg, int b, int to)
{
	const struct cfg_block *block = &cfg->block[b];

	for (int e = block->first_out; e < block->first_out + block->nr_out; e++)
		if (cfg->edge[e].to == to)
			return e;
	return -1;
}

void graphs_count(struct graphs *g, int at, int next)
{
	const struct place *p = &g->place[at], *n = next < 0 ? NULL : &g->place[next];
	struct graph *graph = &g->graph[p->graph];
	const struct cfg_block *block = &graph->cfg->block[p->block];
	int edge = -1;

	if (!p->last)
		return;
	graph->runs[p->block]++;
	if (n && n->graph == p->graph && n->first)
		edge = edge_to(graph->cfg, p->block, n->block);
	if (edge < 0)
		edge = edge_to(graph->cfg, p->block, graph->cfg->exit);
	if (edge < 0 && block->nr_out == 1) /* behind a call */
		edge = block->first_out;
	if (edge >= 0)
		graph->passed[edge]++;
}

void graphs_set_period(struct graphs *g, int event, double period)
{
	g->period[event] = period;
}

void graphs_add_sample(struct graphs *g, int event, int at)
{
	g->graph[g->place[at].graph].sampled[event][g->place[at].insn]++;
}

static void write_graph(const struct graph *graph, const struct freq *f)
{
	const struct cfg *cfg = graph->cfg;

	printf("procedure %s\n", graph->name);
	for (int b = 0; b < cfg->exit; b++) {
		const struct cfg_block *block = &cfg->block[b];
		double sum = 0;

		for (int i = 0; i < block->nr_insns; i++)
			sum += graph->sampled[EVENT_CYCLES][block->first_insn + i];
		printf("block %" PRIx64 " %" PRIx64 " %g %.9g %.4g %d %" PRIu64 "\n",
		       block->start, block->end, sum, f->block[b], f->block_sd[b],
		       f->shape[b], graph->runs[b]);
	}
	for (int e = 0; e < cfg->nr_edges; e++)
		printf("edge %" PRIx64 " 0 %" PRIx64 " %d %.9g %.4g %d %" PRIu64 "\n",
		       cfg->block[cfg->edge[e].from].start,
		       cfg->block[cfg->edge[e].to].start, cfg->edge[e].kind, f->edge[e],
		       f->edge_sd[e], f->edge_shape[e], graph->passed[e]);
}

/* What the samples of an event stand for; the arena's. */
static double *amounts(const struct graphs *g, const struct graph *graph, int event,
		       struct arena *arena)
{
	const int nr = graph->cfg->nr_insns;
	double *out = get(arena_array(arena, nr, sizeof(*out)));

	for (int i = 0; i < nr; i++)
		out[i] = graph->sampled[event][i] * g->period[event];
	return out;
}

enum variant { TIME, INSTRUCTIONS, NR_VARIANTS };

static void estimate(const struct graphs *g, const struct graph *graph,
		     enum variant variant)
{
	struct freq_input in = { .cfg = graph->cfg,
				 .samples = graph->sampled[EVENT_CYCLES],
				 .period_cycles = g->period[EVENT_CYCLES] };
	struct freq_retired retired = { NULL, g->period[EVENT_INSTRUCTIONS] };
	struct arena arena;
	struct freq *f;

	arena_init(&arena, 0);
	retired.n = amounts(g, graph, EVENT_INSTRUCTIONS, &arena);
	if (variant != TIME)
		in.retired = &retired;
	check(freq_estimate(&in, &arena, NULL, &f), graph->name);
	write_graph(graph, f);
	arena_fini(&arena);
}

void graphs_write(const struct graphs *g)
{
	static const char *const name[] = {
		[TIME] = "time", [INSTRUCTIONS] = "instructions"
	};

	for (int v = 0; v < NR_VARIANTS; v++) {
		printf("variant %s\n", name[v]);
		for (size_t i = 0; i < g->nr; i++)
			estimate(g, &g->graph[i], v);
	}
}
