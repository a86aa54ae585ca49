/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_operand_values.c - shares of values, if the windows were stored in small sets
 *
 * Each set has 5 or 8 windows, so it has only some of the values. It becomes a row of
 * its own, or is merged into the last row. Counting all executions tells the truth.
 */
#include "config.h"

#include "analysis/values/operand_values.h"

#include <math.h>

#include "base/buf.h"
#include "t/unit/cfg_make.h"
#include "t/unit/unit.h"

#define FLUSHES   60
#define RUNS      100
#define NR_ROWS   FLUSHES
#define NR_SHARES 4
#define NR_VALUES (NR_SHARES + 60)
#define MANY      400 /* windows that tell more than the classes do */
#define Z_90      1.645
#define EQUAL     0.7 /* what windows of unequal weight are worth */

static const struct {
	int windows;    /* of a flush */
	int executions; /* of a window, at most */
	/* Of the first values; the others share the rest. */
	double share[NR_SHARES];
} programs[] = {
	{ 5, 1, { 0.75, 0.25, 0, 0 } },   { 5, 1, { 0.5, 0.3, 0.1, 0.1 } },
	{ 8, 1, { 0.5, 0.25, 0.25, 0 } }, { 8, 3, { 0.9, 0.05, 0.05, 0 } },
	{ 5, 4, { 0.6, 0.1, 0.1, 0.2 } }, { 8, 1, { 0.25, 0.25, 0.25, 0.25 } },
	{ 399, 1, { 0.75, 0.25, 0, 0 } }, { 5, 4, { 0.6, 0.1, 0, 0 } },
	{ 8, 4, { 0.1, 0, 0.1, 0 } },     { MANY, 3, { 0.3, 0.1, 0, 0 } },
};

static int64_t value_of(int i)
{
	static const int64_t first[NR_SHARES] = { 10, 7, 0, 4096 };

	return i < NR_SHARES ? first[i] : 100 + i;
}

struct run {
	struct operands *sum;  /* of all rows */
	uint64_t n[NR_VALUES]; /* executions, by value */
	uint64_t all, windows;
};

static int draw(const double *share, uint64_t *seed)
{
	double at = (double)(unit_random(seed) % 1000000) / 1e6;
	int i = 0;

	while (i < NR_SHARES && at >= share[i])
		at -= share[i++];
	if (i == NR_SHARES)
		i += (int)(unit_random(seed) % (NR_VALUES - NR_SHARES));
	return i;
}

static struct operands *flush_of(int program, uint64_t *seed, struct run *run)
{
	struct operands *set = operands_new(OPERANDS_MAX_SITES);

	for (int w = 0; w < programs[program].windows; w++) {
		const int nr = 1 + (int)(unit_random(seed) %
					 (unsigned int)programs[program].executions);
		struct operand o[8];

		for (int i = 0; i < nr; i++) {
			const int which = draw(programs[program].share, seed);

			o[i] = (struct operand){ .kind = OPERAND_DIVISOR,
						 .known = true,
						 .value = value_of(which) };
			run->n[which]++;
		}
		run->all += (uint64_t)nr;
		ck_assert_int_eq(operands_add(set, o, (size_t)nr), 0);
	}
	run->windows += (uint64_t)programs[program].windows;
	return set;
}

static void read_row(const struct buf *row, struct operands *into)
{
	const uint8_t *at = (const uint8_t *)row->data;

	ck_assert_int_eq(operands_get(&at, at + row->len, into), 0);
}

static struct run run_of(int program, uint64_t *seed)
{
	static struct buf row[NR_ROWS];
	struct run run = { .sum = operands_new(OPERANDS_MAX_SITES) };
	size_t nr = 0;

	for (int f = 0; f < FLUSHES; f++) {
		struct operands *set = flush_of(program, seed, &run);

		if (nr && unit_random(seed) % 2)
			read_row(&row[--nr], set);
		buf_reset(&row[nr]);
		operands_put(set, &row[nr++]);
		operands_free(set);
	}
	for (size_t i = 0; i < nr; i++)
		read_row(&row[i], run.sum);
	for (size_t i = 0; i < NR_ROWS; i++)
		buf_fini(&row[i]);
	return run;
}

static struct interval true_share(const struct run *run, uint64_t n)
{
	const double windows = (double)run->windows;

	return interval_share_at((double)n / (double)run->all * EQUAL * windows,
				 EQUAL * windows, Z_90);
}

/* Finds the values of the only site, which has half of all stalls. */
static struct operand_site site_of(const struct run *run, struct arena *arena)
{
	const struct cfg_edge edge = { .from = 0, .to = 1 };
	const struct cfg *cfg = cfg_make(arena, 2, &edge, 1);
	const double stalls[] = { 0.5, 0 };
	struct operand_sites found;

	ck_assert_int_eq(operand_values_find(cfg, run->sum, 0, stalls, arena, &found),
			 0);
	ck_assert_uint_eq(found.nr, 1);
	return found.site[0];
}

static const struct operand_value *find(const struct operand_site *s, int64_t wanted)
{
	for (size_t i = 0; i < s->nr; i++) {
		if (s->value[i].value == wanted)
			return &s->value[i];
	}
	return NULL;
}

START_TEST(intervals_include_what_all_executions_say)
{
	uint64_t seed = 1;

	for (int r = 0; r < RUNS; r++) {
		struct run run = run_of(_i, &seed);
		struct arena arena;
		struct operand_site s;
		uint64_t listed = 0;

		arena_init(&arena, 0);
		s = site_of(&run, &arena);
		ck_assert_uint_eq(s.from->known, run.all);
		for (int i = 0; i < NR_VALUES; i++) {
			const struct operand_value *v = find(&s, value_of(i));
			const struct interval is = true_share(&run, run.n[i]);

			if (!v)
				continue;
			listed += v->n;
			ck_assert_double_le(v->share.value, is.value + 1e-9);
			ck_assert_double_ge(v->most, is.value - 1e-9);
			ck_assert_double_le(v->share.low, is.low + 1e-9);
			ck_assert_double_ge(v->share.high, is.high - 1e-9);
			ck_assert_double_le(v->most,
					    s.class[operands_class(value_of(i))].value +
						    1e-9);
			if (programs[_i].windows == MANY)
				ck_assert_double_le(v->most, is.value + 0.1);
			if (!value_of(i)) /* no other value has its class */
				ck_assert_double_eq_tol(v->share.value, is.value, 1e-9);
		}
		ck_assert_uint_eq(s.unlisted, run.all - listed);
		operands_free(run.sum);
		arena_fini(&arena);
	}
}
END_TEST

/* An interval of 90 % holds at least as often, as far as 100 runs can tell. */
START_TEST(intervals_hold_for_the_most_frequent_value)
{
	uint64_t seed = 2;
	int held = 0;

	for (int r = 0; r < RUNS; r++) {
		struct run run = run_of(_i, &seed);
		const struct operand_value *v;
		struct operand_site s;
		struct arena arena;

		arena_init(&arena, 0);
		s = site_of(&run, &arena);
		v = find(&s, value_of(0));
		held += !v || (v->share.low <= programs[_i].share[0] &&
			       programs[_i].share[0] <= v->share.high);
		operands_free(run.sum);
		arena_fini(&arena);
	}
	ck_assert_int_ge(held, 85);
}
END_TEST

/* Adds n windows of an operand of 64 bits. */
static void add(struct operands *set, enum operand_kind kind, int64_t v, int n)
{
	const struct operand o = {
		.kind = (uint8_t)kind, .size = 3, .known = true, .value = v
	};

	for (int i = 0; i < n; i++)
		ck_assert_int_eq(operands_add(set, &o, 1), 0);
}

static const struct {
	enum operand_kind kind;
	int64_t value[2];
	int windows[2];
	int tested; /* windows that a test would be for; 0: no test is suggested */
} tests[] = {
	{ OPERAND_DIVISOR, { 10, 7 }, { 90, 10 }, 90 },
	{ OPERAND_DIVISOR, { 10, 7 }, { 9, 1 }, 9 }, /* the low end is 59 % */
	{ OPERAND_DIVISOR, { 10, 7 }, { 50, 50 }, 0 },
	{ OPERAND_COMPARED, { 10, 7 }, { 90, 10 }, 0 },
	{ OPERAND_DIVIDEND, { 20, 9 }, { 60, 40 }, 100 },
	{ OPERAND_DIVIDEND, { 20, 40 }, { 90, 10 }, 90 },
	{ OPERAND_DIVIDEND, { 31, 32 }, { 90, 10 }, 90 }, /* 2^31 is no int32_t */
	{ OPERAND_DIVIDEND, { 20, 40 }, { 40, 60 }, 0 },
};

/* No test can save more than the upper end of the share of the stalls. */
START_TEST(savings_are_an_upper_bound)
{
	struct run run = { .sum = operands_new(OPERANDS_MAX_SITES) };
	const int n = tests[_i].windows[0] + tests[_i].windows[1];
	const double high =
		interval_share_at(EQUAL * tests[_i].tested, EQUAL * n, Z_90).high;
	struct operand_site s;
	struct arena arena;

	for (int i = 0; i < 2; i++)
		add(run.sum, tests[_i].kind, tests[_i].value[i], tests[_i].windows[i]);
	arena_init(&arena, 0);
	s = site_of(&run, &arena);
	ck_assert_double_eq_tol(s.saves, tests[_i].tested ? 0.5 * high : 0, 1e-9);
	operands_free(run.sum);
	arena_fini(&arena);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("operand_values");
	TCase *t = tcase_create("operand_values");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, intervals_include_what_all_executions_say, 0,
			    (int)NR(programs));
	tcase_add_loop_test(t, intervals_hold_for_the_most_frequent_value, 0,
			    (int)NR(programs));
	tcase_add_loop_test(t, savings_are_an_upper_bound, 0, (int)NR(tests));
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
