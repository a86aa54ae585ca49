/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program of random procedures is run instruction by instruction, which knows each
 * execution and its paths; windows are cut out of that.
 *
 * The procedure is in image 1, from offset 0; its blocks have two instructions of 8
 * bytes, the first of which may call it again, or the callee in image 2, which may call
 * it, too. Whoever calls it is in image 3, in one of two places.
 */
#include "config.h"

#include "analysis/windows/pathcount.h"

#include <math.h>
#include <string.h>

#include "t/unit/cfg_make.h"
#include "t/unit/unit.h"

#define INSN        8
#define LENGTH      60 /* instructions of a window */
#define MAX_TRACE   20000
#define MAX_DEPTH   4
#define MAX_BLOCKS  12
#define CALLEE      0x4000
#define CALLER(way) (0x8000 + 0x100 * (way))

struct step {
	uint32_t image;
	uint64_t offset;
};

/* A path that was gone: from when until when, by the trace. */
struct gone {
	size_t from, to;
	int block[MAX_BLOCKS];
	int nr, end;
	struct pathwalk_caller caller;
};

struct program {
	struct cfg *cfg;
	bool is_anchor[MAX_BLOCKS];
	int calls[MAX_BLOCKS]; /* 1: itself, 2: the callee */
	uint64_t seed;
	int depth;
	struct step trace[MAX_TRACE];
	size_t nr;
	struct gone *gone;
	size_t nr_gone, max_gone;
};

static void step(struct program *p, uint32_t image, uint64_t offset)
{
	if (p->nr < MAX_TRACE)
		p->trace[p->nr++] = (struct step){ image, offset };
}

static void keep(struct program *p, const struct gone *g)
{
	if (p->nr_gone == p->max_gone) {
		p->max_gone = 2 * p->max_gone + 64;
		p->gone = realloc(p->gone, p->max_gone * sizeof(*p->gone));
		ck_assert_ptr_nonnull(p->gone);
	}
	p->gone[p->nr_gone++] = *g;
}

static void run_procedure(struct program *p, uint32_t image, uint64_t from);

static void run_call(struct program *p, int b)
{
	const uint64_t at = p->cfg->block[b].start;

	if (!p->calls[b] || p->depth == MAX_DEPTH || unit_random(&p->seed) % 3 == 0)
		return;
	if (p->calls[b] == 1) {
		run_procedure(p, 1, at);
		return;
	}
	step(p, 2, CALLEE);
	step(p, 2, CALLEE + INSN);
	if (unit_random(&p->seed) % 2)
		run_procedure(p, 2, CALLEE + INSN);
	step(p, 2, CALLEE + 2 * INSN);
}

/* Control is at the head of b, or at the exit. */
static void arrive(struct program *p, struct gone *g, int b)
{
	if (b == p->cfg->exit || p->is_anchor[b]) {
		g->to = p->nr;
		g->end = b;
		if (g->nr)
			keep(p, g);
		g->caller.known &= !g->nr;
		g->from = p->nr;
		g->nr = 0;
	}
	ck_assert_int_lt(g->nr, MAX_BLOCKS);
	g->block[g->nr++] = b;
}

static void run_procedure(struct program *p, uint32_t image, uint64_t from)
{
	struct gone g = { .caller = { true, image, from } };
	int b = 0;

	p->depth++;
	arrive(p, &g, b);
	while (b != p->cfg->exit && p->nr < MAX_TRACE) {
		const struct cfg_block *block = &p->cfg->block[b];

		step(p, 1, block->start);
		run_call(p, b);
		step(p, 1, block->start + INSN);
		b = p->cfg->edge[block->first_out +
				 (int)(unit_random(&p->seed) % block->nr_out)]
			    .to;
		arrive(p, &g, b);
	}
	if (b != p->cfg->exit) { /* nobody looks so far */
		g.to = SIZE_MAX;
		g.end = -1;
		keep(p, &g);
	}
	p->depth--;
}

static void run_program(struct program *p)
{
	while (p->nr < MAX_TRACE) {
		const int way = unit_random(&p->seed) % 4 == 0;

		step(p, 3, CALLER(way));
		run_procedure(p, 3, CALLER(way));
		step(p, 3, CALLER(way) + INSN);
	}
}

/* Depth first, with the recursion that pathwalk.c has not. */
static void find_heads(struct program *p, int b, int *state)
{
	const struct cfg_block *block = &p->cfg->block[b];

	state[b] = 1;
	for (int e = 0; e < block->nr_out; e++) {
		const int to = p->cfg->edge[block->first_out + e].to;

		if (state[to] == 1)
			p->is_anchor[to] = true;
		else if (!state[to])
			find_heads(p, to, state);
	}
	state[b] = 2;
}

static void finish_program(struct program *p, struct arena *arena)
{
	int state[MAX_BLOCKS] = { 0 };
	struct cfg *cfg = p->cfg;

	cfg->insn = arena_array(arena, 2 * cfg->nr_blocks, sizeof(*cfg->insn));
	cfg->nr_insns = 2 * cfg->exit;
	for (int b = 0; b < cfg->exit; b++) {
		cfg->block[b].first_insn = 2 * b;
		cfg->block[b].nr_insns = 2;
		for (int i = 0; i < 2; i++)
			cfg->insn[2 * b + i] =
				(struct insn){ .address = 16 * b + INSN * i,
					       .size = INSN,
					       .kind = i ? INSN_JUMP : INSN_CALL };
	}
	cfg->nr_parts = 1;
	cfg->part[1] = cfg->exit;
	p->is_anchor[0] = true;
	for (int b = 0; b < cfg->nr_blocks; b++) {
		if (!state[b])
			find_heads(p, b, state);
	}
	run_program(p);
}

static struct program *random_program(struct arena *arena, uint64_t *seed)
{
	struct program *p = calloc(1, sizeof(*p));

	ck_assert_ptr_nonnull(p);
	p->cfg = cfg_make_random(arena, seed, MAX_BLOCKS, true);
	p->seed = *seed;
	for (int b = 0; b < p->cfg->exit; b++)
		p->calls[b] = (int)(unit_random(seed) % 5);
	finish_program(p, arena);
	return p;
}

static void free_program(struct program *p)
{
	free(p->gone);
	free(p);
}

/* By the number of their image. */
static void cut_window(const struct program *p, size_t start, int length,
		       struct windows *set[4])
{
	struct window_jump jump[LENGTH];
	struct window w = { .start = p->trace[start].offset,
			    .jump = jump,
			    .nr_insns = length,
			    .reason = length < LENGTH,
			    .n = 1 };

	for (int i = 0; i < length; i++) {
		const struct step *at = &p->trace[start + i], *to = at + 1;

		if (to->image != at->image || to->offset != at->offset + INSN)
			jump[w.nr_jumps++] =
				(struct window_jump){ at->offset, to->offset,
						      to->image };
	}
	w.end = p->trace[start + length].offset;
	ck_assert_int_eq(windows_add(set[p->trace[start].image], &w), 0);
}

static bool same_caller(const struct pathwalk_caller *a,
			const struct pathwalk_caller *b)
{
	return a->known == b->known &&
	       (!a->known || (a->image == b->image && a->offset == b->offset));
}

static bool is_same(const struct pathcount_path *p, const struct gone *g)
{
	return p->end == g->end && p->nr_blocks == g->nr &&
	       same_caller(&p->caller, &g->caller) &&
	       !memcmp(p->block, g->block, g->nr * sizeof(*g->block));
}

static const struct pathcount_path *find_path(const struct pathcount *c,
					      const struct gone *g)
{
	for (size_t i = 0; i < c->nr_paths; i++) {
		if (is_same(&c->path[i], g))
			return &c->path[i];
	}
	return NULL;
}

#define DEAD 5 /* no window comes further than this block, where it dies */

/* How many instructions until it is in the middle of that block. */
static int until_dead(const struct program *p, size_t start)
{
	int i = 1;

	while (i < LENGTH && (p->trace[start + i].image != 1 ||
			      p->trace[start + i].offset != 16 * DEAD + INSN))
		i++;
	return i;
}

static struct window_weights *follow(const struct program *p, const size_t *start,
				     size_t nr, bool dies)
{
	static const uint32_t map[] = { 0, 1, 2, 3 };
	struct window_weights *f = window_weights_new();
	struct windows *set[4];

	for (int i = 0; i < 4; i++)
		set[i] = windows_new(WINDOWS_LIMIT, 1);
	for (size_t i = 0; i < nr; i++)
		cut_window(p, start[i], dies ? until_dead(p, start[i]) : LENGTH, set);
	for (int i = 1; i < 4; i++)
		ck_assert_int_eq(window_weights_add(f, i, set[i], map, NR(map)), 0);
	ck_assert_int_eq(window_weights_solve(f), 0);
	for (int i = 0; i < 4; i++)
		windows_free(set[i]);
	return f;
}

/* Windows begin anywhere in what was executed. */
static void choose_starts(uint64_t *state, size_t *start, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		start[i] = unit_random(state) % (MAX_TRACE - LENGTH - 1);
}

#define NR_WINDOWS 300

/* Every path that lies in a window is counted, and nothing else. */
START_TEST(paths_in_windows_are_all_seen)
{
	const uint64_t seed = unit_seed() + (uint64_t)_i;
	uint64_t state = seed | 1;
	struct arena arena;
	struct program *p;
	struct window_weights *f;
	struct pathcount c;
	size_t start[NR_WINDOWS];
	uint64_t all = 0, seen = 0, came = 0, visits = 0;

	arena_init(&arena, 0);
	p = random_program(&arena, &state);
	choose_starts(&state, start, NR_WINDOWS);
	f = follow(p, start, NR_WINDOWS, false);
	ck_assert_int_eq(pathcount_find(p->cfg, f, 1, &arena, &c), 0);
	for (size_t k = 0; k < p->nr_gone; k++) {
		const struct gone *g = &p->gone[k];

		for (size_t i = 0; i < NR_WINDOWS; i++) {
			came += g->from > start[i] && g->from <= start[i] + LENGTH;
			if (g->from <= start[i] || g->to > start[i] + LENGTH)
				continue;
			all++;
			ck_assert_msg(find_path(&c, g),
				      "seed %llu: path %zu is missing",
				      (unsigned long long)seed, k);
		}
	}
	for (size_t i = 0; i < c.nr_paths; i++) {
		uint64_t wanted = 0;

		for (size_t k = 0; k < p->nr_gone; k++) {
			for (size_t j = 0;
			     is_same(&c.path[i], &p->gone[k]) && j < NR_WINDOWS; j++)
				wanted += p->gone[k].from > start[j] &&
					  p->gone[k].to <= start[j] + LENGTH;
		}
		ck_assert_msg(c.path[i].seen == wanted, "seed %llu: %llu of %llu",
			      (unsigned long long)seed,
			      (unsigned long long)c.path[i].seen,
			      (unsigned long long)wanted);
		ck_assert_uint_le(c.path[i].windows, c.path[i].seen);
		seen += c.path[i].seen;
	}
	for (size_t i = 0; i < c.nr_anchors; i++)
		visits += c.anchor[i].seen;
	ck_assert_msg(seen == all && visits == came,
		      "seed %llu: %llu of %llu, %llu of %llu", (unsigned long long)seed,
		      (unsigned long long)seen, (unsigned long long)all,
		      (unsigned long long)visits, (unsigned long long)came);
	window_weights_free(f);
	free_program(p);
	arena_fini(&arena);
}
END_TEST

#define LONG      9 /* blocks between the entry and the last one, or none of them */
#define TOLERANCE 0.02
#define MANY      8000

static struct program *two_ways(struct arena *arena, uint64_t seed)
{
	struct program *p = calloc(1, sizeof(*p));
	struct cfg_edge edge[LONG + 4] = { { 0, LONG + 1, EDGE_TAKEN } };

	ck_assert_ptr_nonnull(p);
	for (int b = 0; b <= LONG + 1; b++)
		edge[b + 1] = (struct cfg_edge){ b, b + 1, EDGE_FALL };
	p->cfg = cfg_make(arena, LONG + 3, edge, LONG + 3);
	p->seed = seed;
	finish_program(p, arena);
	return p;
}

/* Of all paths that were gone, those that were short. */
static double short_share(const struct program *p)
{
	double nr = 0;

	for (size_t k = 0; k < p->nr_gone; k++)
		nr += p->gone[k].nr == 2;
	return nr / (double)p->nr_gone;
}

/* What all callers have together, of paths that are short or long. */
static struct interval share_of(const struct pathcount *c, bool is_short)
{
	struct interval sum = { 0 };

	for (size_t i = 0; i < c->nr_paths; i++) {
		if ((c->path[i].nr_blocks == 2) != is_short)
			continue;
		sum.value += c->path[i].share.value;
		sum.low += c->path[i].share.low;
		sum.high += c->path[i].share.high;
	}
	return sum;
}

/* Of 60 instructions the long one has 22: windows cut it more often. */
START_TEST(long_paths_count_for_those_that_were_cut)
{
	uint64_t state = getenv("SEED") ? unit_seed() | 1 : 42;
	double seen = 0, all = 0, truth;
	size_t start[MANY];
	struct arena arena;
	struct program *p;
	struct window_weights *f;
	struct pathcount c;

	arena_init(&arena, 0);
	p = two_ways(&arena, state);
	truth = short_share(p);
	choose_starts(&state, start, MANY);
	f = follow(p, start, MANY, false);
	ck_assert_int_eq(pathcount_find(p->cfg, f, 1, &arena, &c), 0);
	for (size_t i = 0; i < c.nr_paths; i++) {
		all += (double)c.path[i].seen;
		seen += c.path[i].nr_blocks == 2 ? (double)c.path[i].seen : 0;
	}
	ck_assert_msg(seen / all > truth + 2 * TOLERANCE, "%g of %g, %g", seen, all,
		      truth);
	ck_assert_msg(fabs(share_of(&c, true).value - truth) < TOLERANCE,
		      "%g is not %g", share_of(&c, true).value, truth);
	ck_assert(share_of(&c, false).low < 1 - truth &&
		  share_of(&c, false).high > 1 - truth);
	ck_assert_uint_eq(c.nr_anchors, 1);
	ck_assert(c.anchor[0].known > 1 - TOLERANCE);
	window_weights_free(f);
	free_program(p);
	arena_fini(&arena);
}
END_TEST

/* No window has the long path whole: it is no reason to call all of them short. */
START_TEST(what_ends_windows_stays_unknown)
{
	uint64_t state = getenv("SEED") ? unit_seed() | 1 : 43;
	struct arena arena;
	struct program *p;
	struct window_weights *f;
	struct pathcount c;
	size_t start[MANY];
	double truth;

	arena_init(&arena, 0);
	p = two_ways(&arena, state);
	truth = short_share(p);
	choose_starts(&state, start, MANY);
	f = follow(p, start, MANY, true);
	ck_assert_int_eq(pathcount_find(p->cfg, f, 1, &arena, &c), 0);
	ck_assert(share_of(&c, false).value == 0);
	ck_assert_msg(fabs(share_of(&c, true).value - truth) < 2 * TOLERANCE,
		      "%g is not %g", share_of(&c, true).value, truth);
	ck_assert(fabs(c.anchor[0].known - truth) < 2 * TOLERANCE);
	window_weights_free(f);
	free_program(p);
	arena_fini(&arena);
}
END_TEST

/* Jumps that no program has. */
static void add_nonsense(struct windows *set, uint64_t *state)
{
	struct window_jump jump[LENGTH];
	struct window w = { .jump = jump, .nr_insns = LENGTH, .n = 1 };
	uint64_t at = unit_random(state) % (16 * MAX_BLOCKS);

	w.start = at;
	for (; w.nr_jumps < LENGTH; w.nr_jumps++) {
		struct window_jump *j = &jump[w.nr_jumps];

		j->from = at + INSN * (unit_random(state) % 3);
		j->to = at = INSN * (unit_random(state) % (2 * MAX_BLOCKS + 2));
		j->image = unit_random(state) % 4 ? 1 : 2;
	}
	w.end = at;
	w.reason = unit_random(state) % 2;
	windows_add(set, &w); /* those that run too far in all are none */
}

START_TEST(nonsense_is_survived)
{
	static const uint32_t map[] = { 0, 1, 2 };
	const uint64_t seed = unit_seed() + (uint64_t)_i;
	uint64_t state = seed | 1;
	struct windows *set = windows_new(WINDOWS_LIMIT, 1);
	struct window_weights *f = window_weights_new();
	struct arena arena;
	struct program *p;
	struct pathcount c;
	double share[MAX_BLOCKS] = { 0 };

	arena_init(&arena, 0);
	p = random_program(&arena, &state);
	for (int i = 0; i < NR_WINDOWS; i++)
		add_nonsense(set, &state);
	ck_assert_int_eq(window_weights_add(f, 1, set, map, NR(map)), 0);
	ck_assert_int_eq(window_weights_solve(f), 0);
	ck_assert_int_eq(pathcount_find(p->cfg, f, 1, &arena, &c), 0);
	for (size_t i = 0; i < c.nr_paths; i++) {
		ck_assert(p->is_anchor[c.path[i].block[0]]);
		share[c.path[i].block[0]] += c.path[i].share.value;
	}
	for (int b = 0; b < MAX_BLOCKS; b++)
		ck_assert_msg(share[b] < 1 + 1e-9, "seed %llu: %g",
			      (unsigned long long)seed, share[b]);
	window_weights_free(f);
	windows_free(set);
	free_program(p);
	arena_fini(&arena);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("pathcount");
	TCase *t = tcase_create("pathcount");

	tcase_set_timeout(t, 600);
	tcase_add_loop_test(t, paths_in_windows_are_all_seen, 0, 20);
	tcase_add_test(t, long_paths_count_for_those_that_were_cut);
	tcase_add_test(t, what_ends_windows_stays_unknown);
	tcase_add_loop_test(t, nonsense_is_survived, 0, 20);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
