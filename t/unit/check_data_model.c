/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Made-up programs whose every access is known: a cache with replacement of the least
 * recently used is simulated for all of them, and the model sees only windows.
 */
#include "config.h"

#include "analysis/data/data_model.h"

#include <errno.h>
#include <math.h>

#include "t/unit/unit.h"

#define ACCESSES  400000
#define WINDOW    50
#define GAP       400
#define MAX_CACHE 4096
#define MAX_KINDS 4

/* An instruction's lines: from first on, nr of them, one after the other or at random.
 */
struct kind {
	uint32_t first, nr;
	bool random;
	uint32_t per_line; /* accesses to a line before the next one */
};

static const struct program {
	struct kind kind[MAX_KINDS];
	int nr;
	double l1, l2; /* entries */
	double slack;  /* how far the expected share may be from the simulated one */
} programs[] = {
	/* a table that does not fit in, and a few lines that do */
	{ { { 0, 5000, true, 1 }, { 8000, 10, true, 1 } }, 2, 256, 1024, 0.06 },
	/* of two tables one fits into the second cache */
	{ { { 0, 9000, true, 1 }, { 16000, 100, true, 1 } }, 2, 128, 2048, 0.1 },
	/* a walk by 8 bytes through more than the caches hold, and a variable */
	{ { { 0, 100000, false, 8 }, { 200000, 1, false, 1 } }, 2, 256, 1024, 0.02 },
	/* all of it fits */
	{ { { 0, 40, true, 1 }, { 64, 40, false, 1 } }, 2, 256, 1024, 0.001 },
	/* four tables */
	{ { { 0, 20000, true, 1 },
	    { 32768, 1000, true, 1 },
	    { 65536, 200, true, 1 },
	    { 98304, 8, true, 1 } },
	  4,
	  512,
	  4096,
	  0.12 },
};

/* The most recent first. */
struct lru {
	uint32_t line[MAX_CACHE];
	size_t nr, most;
};

static bool misses(struct lru *c, uint32_t line)
{
	size_t at = 0;
	bool miss;

	while (at < c->nr && c->line[at] != line)
		at++;
	miss = at == c->nr;
	if (miss && c->nr < c->most)
		c->nr++;
	else if (miss)
		at--;
	memmove(c->line + 1, c->line, at * sizeof(*c->line));
	c->line[0] = line;
	return miss;
}

static uint32_t next_line(const struct kind *k, uint32_t i, uint64_t *state)
{
	return k->first + (k->random ? (uint32_t)(unit_random(state) >> 32) % k->nr
				     : i / k->per_line % k->nr);
}

/* Runs a program; simulated shares of misses, by kind and level. */
static void run(const struct program *p, uint64_t seed, struct accesses *set,
		double miss[MAX_KINDS][2])
{
	static struct lru cache[2];
	struct access window[WINDOW];
	uint32_t runs[MAX_KINDS] = { 0 };
	uint64_t state = seed | 1;
	size_t in = 0, wait = GAP;

	cache[0] = (struct lru){ .most = (size_t)p->l1 };
	cache[1] = (struct lru){ .most = (size_t)p->l2 };
	for (size_t i = 0; i < ACCESSES; i++) {
		const int k = (int)(unit_random(&state) % (uint64_t)p->nr);
		const uint32_t line = next_line(&p->kind[k], runs[k]++, &state);

		if (i > ACCESSES / 10) /* all is warm */
			for (int l = 0; l < 2; l++)
				miss[k][l] += misses(&cache[l], line);
		else
			for (int l = 0; l < 2; l++)
				misses(&cache[l], line);
		if (wait && --wait)
			continue;
		window[in++] = (struct access){ .offset = (uint64_t)k,
						.address = line << 6,
						.known = true };
		if (in < WINDOW)
			continue;
		ck_assert_int_eq(accesses_add(set, window, in, 1), 0);
		in = 0;
		wait = unit_random(&state) % (2 * GAP) + 1;
	}
	for (int k = 0; k < p->nr; k++)
		for (int l = 0; l < 2; l++)
			miss[k][l] /= 0.9 * runs[k];
}

START_TEST(expected_misses_are_near_those_of_a_simulated_cache)
{
	const struct program *p = &programs[_i];
	const struct data_geometry g = {
		.entries = { [DATA_L1] = p->l1, [DATA_L2] = p->l2 }
	};
	struct accesses *set = accesses_new(ACCESSES_MAX_INSNS);
	double miss[MAX_KINDS][2] = { 0 };
	struct data_model *m;
	struct arena arena;

	arena_init(&arena, 0);
	run(p, unit_seed() + (uint64_t)_i, set, miss);
	ck_assert_int_eq(data_model_make(set, &g, &arena, &m), 0);
	ck_assert_uint_eq(m->nr, p->nr);
	for (int k = 0; k < p->nr; k++)
		for (int l = 0; l < 2; l++) {
			const struct data_estimate *e = &m->insn[k].miss[l];

			ck_assert_msg(fabs(e->value - miss[k][l]) <= p->slack,
				      "kind %d level %d: %g expected, %g simulated", k,
				      l, e->value, miss[k][l]);
			ck_assert_msg(e->low <= miss[k][l] + 1e-3 &&
					      miss[k][l] <= e->high + 1e-3,
				      "kind %d level %d: %g to %g, %g simulated", k, l,
				      e->low, e->high, miss[k][l]);
			ck_assert(e->low >= 0 && e->low <= e->value &&
				  e->value <= e->high && e->high <= 1);
		}
	arena_fini(&arena);
	accesses_free(set);
}
END_TEST

/* Random lines of a memory: all of its lines, or one of each page. */
static const struct {
	uint32_t lines, apart;
	bool walks; /* walks take longer than misses in caches */
} spreads[] = {
	{ 4 << 20, 1, false }, /* 256 MiB: a walk's entry stays in the second cache */
	{ 1 << 20, 1, false },
	{ 6000, 65, true }, /* all lines fit into the second cache */
};

START_TEST(walks_are_short_where_pages_are_dense)
{
	const struct data_geometry g = {
		.entries = { 768, 32768, 524288, 64, 2048 },
		.cycles = { 20, 200, 320, 10, 30 },
		.most_cycles = { 20, 600, 920, 10, 990 },
	};
	struct accesses *set = accesses_new(ACCESSES_MAX_INSNS);
	uint64_t state = unit_seed() + (uint64_t)_i + 1;
	struct data_model *m;
	struct arena arena;

	arena_init(&arena, 0);
	for (int w = 0; w < 200; w++) {
		struct access window[WINDOW];

		for (int i = 0; i < WINDOW; i++) {
			const uint32_t line = (uint32_t)(unit_random(&state) >> 32) %
					      spreads[_i].lines;

			window[i] = (struct access){ .address = line * spreads[_i].apart
								<< 6,
						     .known = true };
		}
		ck_assert_int_eq(accesses_add(set, window, WINDOW, 1), 0);
	}
	ck_assert_int_eq(data_model_make(set, &g, &arena, &m), 0);
	ck_assert_msg((m->insn[0].wait[ACCESSES_PAGES].alone >
		       m->insn[0].wait[ACCESSES_LINES].alone) == spreads[_i].walks,
		      "%g for walks, %g for lines",
		      m->insn[0].wait[ACCESSES_PAGES].alone,
		      m->insn[0].wait[ACCESSES_LINES].alone);
	for (int k = 0; k < ACCESSES_NR_GRANULES; k++)
		ck_assert(m->insn[0].wait[k].alone <= m->insn[0].wait[k].most);
	arena_fini(&arena);
	accesses_free(set);
}
END_TEST

START_TEST(nothing_is_said_of_unknown_addresses)
{
	const struct data_geometry g = { .entries = { 512, 8192, 65536, 64, 2048 } };
	const struct access a[] = { { .offset = 1 }, { .offset = 2 } };
	struct accesses *set = accesses_new(ACCESSES_MAX_INSNS);
	struct data_model *m;
	struct arena arena;

	arena_init(&arena, 0);
	ck_assert_int_eq(data_model_make(set, &g, &arena, &m), 0);
	ck_assert_uint_eq(m->nr, 0);
	ck_assert_int_eq(accesses_add(set, a, 2, 1), 0);
	ck_assert_int_eq(data_model_make(set, &g, &arena, &m), 0);
	ck_assert_uint_eq(m->nr, 2);
	for (int l = 0; l < DATA_NR_LEVELS; l++) {
		ck_assert(m->insn[1].miss[l].low <= 0);
		ck_assert(m->insn[1].miss[l].high >= 1);
	}
	arena_fini(&arena);
	accesses_free(set);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("data_model");
	TCase *t = tcase_create("data_model");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, expected_misses_are_near_those_of_a_simulated_cache, 0,
			    NR(programs));
	tcase_add_loop_test(t, walks_are_short_where_pages_are_dense, 0, NR(spreads));
	tcase_add_test(t, nothing_is_said_of_unknown_addresses);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
