/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_values.c - values that windows see are those that a program had
 *
 * A program is run block by block. Its procedure, in image 1, has an outer loop with an
 * inner loop and an indirect call:
 *
 *   0 entry > 1 head of the outer loop > 2 head of the inner loop > 3 > 2 …, and 2 or 3
 *   > 4, which calls > 1 …, > 5 exit
 *
 * Blocks have 16 bytes and two instructions. Windows are cut out of what was executed,
 * and slow counting tells what they have to show.
 */
#include "config.h"

#include "analysis/values/values.h"

#include <math.h>
#include <stdlib.h>

#include "t/unit/cfg_make.h"
#include "t/unit/unit.h"

#define INSN       8
#define LENGTH     40 /* instructions of a window */
#define MAX_TRACE  60000
#define NR_BLOCKS  6
#define MAX_ROUNDS 40
#define CALLEE     0x4000
#define FAR_CALLER 0x8000

enum { OUTER = 1, INNER = 2, BODY = 3, CALLS = 4 };

struct step {
	uint32_t image;
	uint64_t offset;
};

/* A run of the inner loop, by the trace: its head is reached at from. */
struct run {
	size_t from, to;
	uint64_t rounds;
	size_t head[MAX_ROUNDS + 2]; /* each arrival at the head */
	int nr_heads;
};

struct program {
	struct cfg *cfg;
	uint64_t seed;
	struct step trace[MAX_TRACE + 64];
	size_t nr;
	struct run run[MAX_TRACE];
	size_t nr_runs;
	unsigned int (*rounds)(uint64_t *seed);
	unsigned int (*target)(uint64_t *seed);
	bool leaves_from_body; /* else from the head */
};

static void step(struct program *p, uint32_t image, uint64_t offset)
{
	if (p->nr < MAX_TRACE + 64)
		p->trace[p->nr++] = (struct step){ image, offset };
}

static void run_block(struct program *p, int b)
{
	step(p, 1, 16 * (uint64_t)b);
	if (b == CALLS) {
		const uint64_t at = CALLEE + 0x100 * p->target(&p->seed);

		step(p, 2, at);
		step(p, 2, at + INSN);
	}
	step(p, 1, 16 * (uint64_t)b + INSN);
}

static void run_inner(struct program *p)
{
	struct run *r = &p->run[p->nr_runs++];

	*r = (struct run){ .from = p->nr, .rounds = p->rounds(&p->seed) };
	for (uint64_t i = 0; i < r->rounds; i++) {
		r->head[r->nr_heads++] = p->nr;
		run_block(p, INNER);
		run_block(p, BODY);
	}
	if (!p->leaves_from_body) {
		r->head[r->nr_heads++] = p->nr;
		run_block(p, INNER);
	}
	r->to = p->nr;
}

static void run_program(struct program *p)
{
	while (p->nr < MAX_TRACE) {
		step(p, 3, FAR_CALLER);
		run_block(p, 0);
		for (int i = 0; i < 3 && p->nr < MAX_TRACE; i++) {
			run_block(p, OUTER);
			run_inner(p);
			run_block(p, CALLS);
		}
		step(p, 3, FAR_CALLER + INSN);
	}
}

static struct program *new_program(struct arena *arena, uint64_t seed, bool from_body,
				   unsigned int (*rounds)(uint64_t *),
				   unsigned int (*target)(uint64_t *))
{
	static const struct cfg_edge edge[] = {
		{ 0, OUTER, EDGE_FALL },      { OUTER, INNER, EDGE_FALL },
		{ INNER, BODY, EDGE_FALL },   { INNER, CALLS, EDGE_TAKEN },
		{ BODY, INNER, EDGE_TAKEN },  { BODY, CALLS, EDGE_FALL },
		{ CALLS, OUTER, EDGE_TAKEN }, { CALLS, NR_BLOCKS - 1, EDGE_RETURN },
	};
	struct program *p = calloc(1, sizeof(*p));
	struct cfg *cfg;

	ck_assert_ptr_nonnull(p);
	p->cfg = cfg = cfg_make(arena, NR_BLOCKS, edge, NR(edge));
	p->seed = seed;
	p->rounds = rounds;
	p->target = target;
	p->leaves_from_body = from_body;
	cfg->insn = arena_array(arena, 2 * NR_BLOCKS, sizeof(*cfg->insn));
	cfg->nr_insns = 2 * cfg->exit;
	for (int i = 0; i < cfg->nr_insns; i++) {
		const uint32_t kind = i == 2 * CALLS ? INSN_CALL | INSN_INDIRECT
				      : i % 2        ? INSN_JUMP
						     : INSN_LOAD;

		cfg->insn[i] = (struct insn){ .address = INSN * (uint64_t)i,
					      .size = INSN,
					      .kind = kind };
	}
	for (int b = 0; b < cfg->exit; b++) {
		cfg->block[b].first_insn = 2 * b;
		cfg->block[b].nr_insns = 2;
	}
	cfg->nr_parts = 1;
	cfg->part[1] = cfg->exit;
	run_program(p);
	return p;
}

static void cut_window(const struct program *p, size_t start, struct windows *set[4])
{
	struct window_jump jump[LENGTH];
	struct window w = { .start = p->trace[start].offset,
			    .jump = jump,
			    .nr_insns = LENGTH,
			    .n = 1 };

	for (int i = 0; i < LENGTH; i++) {
		const struct step *at = &p->trace[start + i], *to = at + 1;

		if (to->image != at->image || to->offset != at->offset + INSN)
			jump[w.nr_jumps++] =
				(struct window_jump){ at->offset, to->offset,
						      to->image };
	}
	w.end = p->trace[start + LENGTH].offset;
	ck_assert_int_eq(windows_add(set[p->trace[start].image], &w), 0);
}

static struct window_weights *follow(const struct program *p, const size_t *start,
				     size_t nr)
{
	static const uint32_t map[] = { 0, 1, 2, 3 };
	struct window_weights *f = window_weights_new();
	struct windows *set[4];

	for (int i = 0; i < 4; i++)
		set[i] = windows_new(WINDOWS_LIMIT, 1);
	for (size_t i = 0; i < nr; i++)
		cut_window(p, start[i], set);
	for (int i = 1; i < 4; i++)
		ck_assert_int_eq(window_weights_add(f, i, set[i], map, NR(map)), 0);
	ck_assert_int_eq(window_weights_solve(f), 0);
	for (int i = 0; i < 4; i++)
		windows_free(set[i]);
	return f;
}

static void choose_starts(uint64_t *state, size_t *start, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		start[i] = unit_random(state) % (MAX_TRACE - LENGTH - 1);
}

static const struct value_site *find_site(const struct values *v, enum value_kind kind)
{
	const struct value_site *found = NULL;

	for (size_t i = 0; i < v->nr; i++) {
		if (v->site[i].kind != kind)
			continue;
		ck_assert_ptr_null(found);
		found = &v->site[i];
	}
	return found;
}

static uint64_t seen_of(const struct value_site *s, uint64_t value)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < s->nr; i++)
		seen += s->value[i].value == value ? s->value[i].seen : 0;
	return seen;
}

/* Runs in windows: those that are whole by rounds; all that begin there. */
static void count_runs(const struct program *p, const size_t *start, size_t nr,
		       uint64_t *whole, uint64_t *all)
{
	for (size_t i = 0; i < nr; i++) {
		const size_t end = start[i] + LENGTH;

		for (size_t k = 0; k < p->nr_runs; k++) {
			const struct run *r = &p->run[k];

			/* The first instruction of a window is no arrival. */
			if (r->from <= start[i] || r->from > end)
				continue;
			++*all;
			if (r->to <= end)
				whole[r->rounds]++;
		}
	}
}

static void count_targets(const struct program *p, const size_t *start, size_t nr,
			  uint64_t *times)
{
	for (size_t i = 0; i < nr; i++)
		for (size_t k = start[i]; k < start[i] + LENGTH; k++) {
			const struct step *to = &p->trace[k + 1];

			if (p->trace[k].image == 1 && p->trace[k].offset == 16 * CALLS)
				times[(to->offset - CALLEE) / 0x100]++;
		}
}

static unsigned int any_rounds(uint64_t *seed)
{
	return 1 + (unsigned int)(unit_random(seed) % 9);
}

static unsigned int any_target(uint64_t *seed)
{
	return (unsigned int)(unit_random(seed) % 8);
}

#define NR_WINDOWS 400

static void check_shares(const struct value_site *s)
{
	double sum = s->unknown;

	for (size_t i = 0; i < s->nr; i++) {
		const struct value *v = &s->value[i];

		sum += v->share.value;
		ck_assert(v->share.low <= v->share.value + 1e-12 &&
			  v->share.value <= v->share.high + 1e-12);
		ck_assert(!i || v->share.value <= s->value[i - 1].share.value);
		ck_assert(v->windows > 0 && v->windows <= v->seen);
	}
	ck_assert_msg(fabs(sum - 1) < 1e-9, "%g", sum);
	ck_assert(s->distinct >= (double)s->nr);
}

START_TEST(each_value_in_a_window_is_counted)
{
	const uint64_t seed = unit_seed() + (uint64_t)_i;
	uint64_t state = seed | 1, whole[MAX_ROUNDS + 1] = { 0 }, all = 0;
	uint64_t times[8] = { 0 }, calls = 0;
	static size_t start[NR_WINDOWS];
	const struct value_site *loop, *call;
	struct window_weights *f;
	struct values v;
	struct arena arena;
	struct program *p;

	arena_init(&arena, 0);
	p = new_program(&arena, state, _i % 2, any_rounds, any_target);
	choose_starts(&state, start, NR_WINDOWS);
	f = follow(p, start, NR_WINDOWS);
	ck_assert_int_eq(values_find(p->cfg, f, 1, &arena, &v), 0);
	loop = find_site(&v, VALUE_ITERATIONS);
	call = find_site(&v, VALUE_TARGET);
	ck_assert(loop && call && v.nr == 2);
	ck_assert_int_eq(loop->insn, 2 * INNER);
	ck_assert_int_eq(call->insn, 2 * CALLS);
	check_shares(loop);
	check_shares(call);
	count_runs(p, start, NR_WINDOWS, whole, &all);
	for (int r = 0; r <= MAX_ROUNDS; r++)
		ck_assert_msg(seen_of(loop, r) == whole[r],
			      "seed %llu: %d rounds: %llu, not %llu",
			      (unsigned long long)seed, r,
			      (unsigned long long)seen_of(loop, r),
			      (unsigned long long)whole[r]);
	ck_assert_uint_eq(loop->seen, all);
	count_targets(p, start, NR_WINDOWS, times);
	for (int i = 0; i < 8; i++) {
		ck_assert_uint_eq(seen_of(call, CALLEE + 0x100 * i), times[i]);
		calls += times[i];
	}
	ck_assert_uint_eq(call->seen, calls);
	window_weights_free(f);
	free(p);
	arena_fini(&arena);
}
END_TEST

/* 70 % have 3 rounds, the others up to 15: windows cut these far more often. */
static unsigned int mostly_short(uint64_t *seed)
{
	return unit_random(seed) % 10 < 7 ? 3
					  : 12 + (unsigned int)(unit_random(seed) % 4);
}

static unsigned int mostly_first(uint64_t *seed)
{
	return unit_random(seed) % 4 ? 0 : 1 + (unsigned int)(unit_random(seed) % 7);
}

#define MANY      8000
#define TOLERANCE 0.03

START_TEST(long_runs_count_for_those_that_were_cut)
{
	uint64_t state = getenv("SEED") ? unit_seed() | 1 : 45;
	double shorts = 0, targets = 0, seen = 0;
	static size_t start[MANY];
	const struct value_site *loop, *call;
	struct window_weights *f;
	struct values v;
	struct arena arena;
	struct program *p;

	arena_init(&arena, 0);
	p = new_program(&arena, state, true, mostly_short, mostly_first);
	choose_starts(&state, start, MANY);
	f = follow(p, start, MANY);
	ck_assert_int_eq(values_find(p->cfg, f, 1, &arena, &v), 0);
	for (size_t k = 0; k < p->nr_runs; k++)
		shorts += p->run[k].rounds == 3;
	for (size_t k = 0; k < p->nr; k++)
		targets += p->trace[k].image == 2 && p->trace[k].offset == CALLEE;
	loop = find_site(&v, VALUE_ITERATIONS);
	call = find_site(&v, VALUE_TARGET);
	ck_assert(loop && call);
	for (size_t i = 0; i < loop->nr; i++)
		seen += (double)loop->value[i].seen;
	ck_assert_uint_eq(loop->value[0].value, 3);
	ck_assert_msg(fabs(loop->value[0].share.value - shorts / (double)p->nr_runs) <
			      TOLERANCE,
		      "%g is not %g", loop->value[0].share.value,
		      shorts / (double)p->nr_runs);
	ck_assert_msg((double)loop->value[0].seen / seen >
			      shorts / (double)p->nr_runs + 2 * TOLERANCE,
		      "windows cut long runs: %g", (double)loop->value[0].seen / seen);
	ck_assert_uint_eq(call->value[0].value, CALLEE);
	ck_assert_msg(fabs(call->value[0].share.value - targets / (double)p->nr_runs) <
			      TOLERANCE,
		      "%g is not %g", call->value[0].share.value,
		      targets / (double)p->nr_runs);
	window_weights_free(f);
	free(p);
	arena_fini(&arena);
}
END_TEST

static unsigned int endless(uint64_t *seed)
{
	(void)seed;
	return MAX_ROUNDS; /* 160 instructions: no window has all of them */
}

START_TEST(a_run_that_no_window_holds_is_unknown)
{
	uint64_t state = 7;
	static size_t start[MANY];
	const struct value_site *loop;
	struct window_weights *f;
	struct values v;
	struct arena arena;
	struct program *p;

	arena_init(&arena, 0);
	p = new_program(&arena, state, true, endless, any_target);
	choose_starts(&state, start, MANY);
	f = follow(p, start, MANY);
	ck_assert_int_eq(values_find(p->cfg, f, 1, &arena, &v), 0);
	loop = find_site(&v, VALUE_ITERATIONS);
	ck_assert(loop && loop->seen && !loop->nr);
	ck_assert(loop->unknown == 1);
	window_weights_free(f);
	free(p);
	arena_fini(&arena);
}
END_TEST

/* Jumps that no program has. */
static void add_nonsense(struct windows *set, uint64_t *state)
{
	struct window_jump jump[LENGTH];
	struct window w = { .jump = jump, .nr_insns = LENGTH, .n = 1 };
	uint64_t at = unit_random(state) % (16 * NR_BLOCKS);

	w.start = at;
	for (; w.nr_jumps < LENGTH; w.nr_jumps++) {
		struct window_jump *j = &jump[w.nr_jumps];

		j->from = at + INSN * (unit_random(state) % 3);
		j->to = at = INSN * (unit_random(state) % (2 * NR_BLOCKS + 2));
		j->image = unit_random(state) % 4 ? 1 : 2;
	}
	w.end = at;
	w.reason = (uint8_t)(unit_random(state) % 10);
	windows_add(set, &w); /* those that run too far in all are none */
}

START_TEST(nonsense_is_survived)
{
	static const uint32_t map[] = { 0, 1, 2 };
	uint64_t state = (unit_seed() + (uint64_t)_i) | 1;
	struct windows *set = windows_new(WINDOWS_LIMIT, 1);
	struct window_weights *f = window_weights_new();
	struct arena arena;
	struct program *p;
	struct values v;

	arena_init(&arena, 0);
	p = new_program(&arena, state, _i % 2, any_rounds, any_target);
	for (int i = 0; i < NR_WINDOWS; i++)
		add_nonsense(set, &state);
	ck_assert_int_eq(window_weights_add(f, 1, set, map, NR(map)), 0);
	ck_assert_int_eq(window_weights_solve(f), 0);
	ck_assert_int_eq(values_find(p->cfg, f, 1, &arena, &v), 0);
	for (size_t i = 0; i < v.nr; i++)
		check_shares(&v.site[i]);
	window_weights_free(f);
	windows_free(set);
	free(p);
	arena_fini(&arena);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("values");
	TCase *t = tcase_create("values");

	tcase_set_timeout(t, 600);
	tcase_add_loop_test(t, each_value_in_a_window_is_counted, 0, 10);
	tcase_add_test(t, long_runs_count_for_those_that_were_cut);
	tcase_add_test(t, a_run_that_no_window_holds_is_unknown);
	tcase_add_loop_test(t, nonsense_is_survived, 0, 10);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
