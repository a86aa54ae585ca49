/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_measure.c - how often a branch history tells which way control came (ProfileMe,
 *                  Figure 6): path_measure PROGRAM <TRACE
 *
 * PROGRAM is linked statically, TRACE what valgrind --tool=lackey --trace-mem=yes says
 * of it. Instructions are sampled at random; of each, the path over the last so many
 * conditional branches is reconstructed by three schemes and compared with the trace.
 * A line for each length: inside the procedure or across, the length, the percentages
 * of success of each scheme (below), and how many samples there were.
 */
#include "config.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"
#include "t/accuracy/branch_paths.h"

#define NR_SAMPLES 2000
#define FARTHEST   50 /* instructions between the two of a pair */

static const int lengths[] = { 1, 2, 4, 6, 8, 10, 12, 16 };

#define NR_LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

/* Each of the history with a pair behind it. */
enum scheme {
	COUNTS,
	HISTORY,
	HISTORY_PAIR,
	GONE, /* only ways that were gone at all, as execution counts tell */
	GONE_PAIR,
	LIKELIEST, /* of several that agree, the one that was gone most */
	LIKELIEST_PAIR,
	NR_SCHEMES
};

/* A node that was run through. */
struct visit {
	int node; /* -1: code of no procedure */
	bool taken;
	uint64_t at; /* instructions before it */
};

struct trace {
	struct path_graph *graph;
	uint64_t bias;
	struct visit *visit;
	size_t nr, room;
	uint64_t nr_insns;
	uint64_t state; /* of the random numbers */
};

static void check(int error, const char *what)
{
	if (error)
		errx(EXIT_FAILURE, "%s: %s", what, err_str(error));
}

static uint64_t draw(struct trace *t, uint64_t n)
{
	t->state += 0x9e3779b97f4a7c15;
	return hash_u64(t->state) % n;
}

static void add_procedures(struct trace *t, struct image *im, struct isa *isa)
{
	const struct symbol *const *symbol;
	size_t nr;

	symbol = image_symbols(im, &nr);
	for (size_t i = 0; i < nr; i++) {
		struct arena arena;
		struct cfg *cfg;

		arena_init(&arena, 0);
		if (!strstr(symbol[i]->raw, ".cold") &&
		    path_graph_find(t->graph, symbol[i]->start) < 0 &&
		    !cfg_build(im, isa, symbol[i], &arena, &cfg)) {
			t->bias = cfg->bias;
			check(path_graph_add(t->graph, cfg), symbol[i]->name);
		}
		arena_fini(&arena);
	}
	check(path_graph_link(t->graph), "graph");
}

static void open_program(struct trace *t, const char *path)
{
	struct image_desc desc = { .kind = IMAGE_FILE, .name = path };
	struct image *im;
	struct stat st;
	struct isa *isa;

	if (stat(path, &st) < 0)
		err(EXIT_FAILURE, "%s", path);
	desc.device = st.st_dev;
	desc.inode = st.st_ino;
	desc.size = st.st_size;
	desc.mtime_ns = st.st_mtim.tv_sec * 1000000000ULL + st.st_mtim.tv_nsec;
	check(image_open(&desc, NULL, &im), path);
	check(isa_open(image_machine(im), &isa), path);
	add_procedures(t, im, isa);
	isa_close(isa);
	image_close(im);
}

static void begin_visit(struct trace *t, int node)
{
	t->visit = grow(t->visit, t->nr, &t->room, sizeof(*t->visit));
	if (!t->visit)
		errx(EXIT_FAILURE, "out of memory");
	t->visit[t->nr++] = (struct visit){ .node = node, .at = t->nr_insns };
}

/* A repeated instruction is one. */
static void read_trace(struct trace *t)
{
	uint64_t last = 0, end = 0;
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		const struct path_node *now;
		uint64_t offset;
		int node;

		if (line[0] != 'I')
			continue;
		offset = strtoull(line + 1, NULL, 16) - t->bias;
		if (offset == last)
			continue;
		last = offset;
		node = path_graph_find(t->graph, offset);
		now = t->nr && t->visit[t->nr - 1].node >= 0
			      ? path_graph_node(t->graph, t->visit[t->nr - 1].node)
			      : NULL;
		if (node >= 0 || (now && (offset < now->start || offset >= end)))
			begin_visit(t, node);
		if (node >= 0)
			end = path_graph_node(t->graph, node)->end;
		t->nr_insns++;
	}
}

/* Code of no procedure, stubs of the PLT for instance, is as if it were not there. */
static void drop_unknown(struct trace *t)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr; i++) {
		if (t->visit[i].node >= 0)
			t->visit[nr++] = t->visit[i];
	}
	t->nr = nr;
}

static void observe(struct trace *t)
{
	for (size_t i = 0; i + 1 < t->nr; i++) {
		struct visit *v = &t->visit[i];

		v->taken = path_graph_node(t->graph, v[1].node)->start !=
			   path_graph_node(t->graph, v->node)->end;
		check(path_graph_observe(t->graph, v->node, v[1].node, v->taken),
		      "graph");
	}
	check(path_graph_sort(t->graph), "graph");
}

static enum path_end ends(const struct trace *t, size_t visit)
{
	return path_graph_node(t->graph, t->visit[visit].node)->ends;
}

/* The directions of the last branches before a visit. */
static bool read_bits(const struct trace *t, size_t visit, int nr, uint64_t *bits)
{
	int n = 0;

	*bits = 0;
	while (n < nr && visit-- > 0) {
		if (ends(t, visit) == PATH_JUMPS)
			*bits |= (uint64_t)t->visit[visit].taken << n++;
	}
	return n == nr;
}

/* What really ran. */
static bool read_path(const struct trace *t, size_t visit, const struct path_query *q,
		      struct path *out)
{
	int nr_bits = 0, depth = 0;

	out->nr = 0;
	for (;; visit--) {
		if (out->nr == PATHS_MAX_NODES)
			return false;
		out->node[out->nr++] = t->visit[visit].node;
		if (nr_bits == q->nr_bits)
			return true;
		if (!visit)
			return false;
		switch (ends(t, visit - 1)) {
		case PATH_JUMPS:
			nr_bits++;
			break;
		case PATH_RETURNS:
			depth++;
			break;
		case PATH_CALLS:
			if (q->inside && !depth)
				return true;
			depth--;
			break;
		case PATH_FALLS:
			break;
		}
	}
}

static size_t visit_of(const struct trace *t, uint64_t insn)
{
	size_t low = 0, high = t->nr;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (t->visit[middle].at <= insn)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static bool same(const struct path *a, const struct path *b)
{
	return a->nr == b->nr && !memcmp(a->node, b->node, a->nr * sizeof(a->node[0]));
}

static bool succeeds(const struct trace *t, enum scheme scheme, struct path_query q,
		     const struct path *truth)
{
	static struct path got;
	int err;

	if (scheme != HISTORY_PAIR && scheme != GONE_PAIR && scheme != LIKELIEST_PAIR)
		q.distance = 0;
	q.observed = scheme >= GONE;
	q.likeliest = scheme >= LIKELIEST;
	err = scheme == COUNTS ? path_likely(t->graph, &q, &got)
			       : path_find(t->graph, &q, &got);
	if (err == -ENOMEM)
		check(err, "path");
	return !err && same(&got, truth);
}

static void measure(struct trace *t, bool inside, int length)
{
	static struct path truth;
	int nr = 0, good[NR_SCHEMES] = { 0 };

	t->state = 1;
	for (int i = 0; i < NR_SAMPLES; i++) {
		const uint64_t insn = FARTHEST + draw(t, t->nr_insns - FARTHEST);
		const size_t visit = visit_of(t, insn);
		struct path_query q = {
			.node = t->visit[visit].node,
			.nr_bits = length,
			.inside = inside,
			.insn = (int)(insn - t->visit[visit].at),
			.distance = 1 + (int)draw(t, FARTHEST),
		};

		q.before = t->visit[visit_of(t, insn - q.distance)].node;
		if (!read_bits(t, visit, length, &q.bits) ||
		    !read_path(t, visit, &q, &truth))
			continue;
		nr++;
		for (int s = 0; s < NR_SCHEMES; s++)
			good[s] += succeeds(t, s, q, &truth);
	}
	printf("%s %d", inside ? "inside" : "across", length);
	for (int s = 0; s < NR_SCHEMES; s++)
		printf(" %.1f", 100.0 * good[s] / (nr ? nr : 1));
	printf(" %d\n", nr);
}

int main(int argc, char **argv)
{
	struct trace t = { .graph = path_graph_new() };

	if (argc != 2)
		errx(EXIT_FAILURE, "usage: path_measure PROGRAM <TRACE");
	if (!t.graph)
		errx(EXIT_FAILURE, "out of memory");
	open_program(&t, argv[1]);
	read_trace(&t);
	if (t.nr_insns <= 2 * FARTHEST)
		errx(EXIT_FAILURE, "%s: no trace of it", argv[1]);
	drop_unknown(&t);
	observe(&t);
	fprintf(stderr, "%s: %" PRIu64 " instructions, %zu nodes\n", argv[1],
		t.nr_insns, t.nr);
	for (int inside = 1; inside >= 0; inside--) {
		for (size_t i = 0; i < NR_LENGTHS; i++)
			measure(&t, inside, lengths[i]);
	}
	path_graph_free(t.graph);
	free(t.visit);
	return EXIT_SUCCESS;
}
