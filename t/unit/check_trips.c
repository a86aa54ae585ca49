/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trips.c: on compiled loops whose numbers of rounds their names say.
 */
#include "config.h"

#include "analysis/cfg/trips.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/image.h"
#include "t/unit/unit.h"

#define MOST_LOOPS 4

static const char *const files[] = {
	"x86-gcc-trips",
	"x86-clang-trips",
	"arm-gcc-trips",
	"arm-clang-trips",
};

/* The rounds of the loops that the code fixes, in the order of their edges. */
struct found {
	int rounds[MOST_LOOPS];
	int nr;
};

static void add_loop(const struct cfg *cfg, const double *fixed, int e,
		     struct found *out)
{
	const struct cfg_block *b = &cfg->block[cfg->edge[e].from];
	const int other = e == b->first_out ? e + 1 : b->first_out;

	ck_assert_double_eq_tol(fixed[e] + fixed[other], 1, 1e-12);
	if (fixed[e] < fixed[other] || (fixed[e] == fixed[other] && e > other))
		return;
	ck_assert_int_lt(out->nr, MOST_LOOPS);
	out->rounds[out->nr++] = (int)lround(1 / fixed[other]);
}

static struct found find(const char *file, const char *procedure)
{
	struct image_desc desc = { .kind = IMAGE_FILE };
	struct found found = { .nr = 0 };
	const struct symbol *s;
	struct arena arena;
	struct image *im;
	struct isa *isa;
	struct cfg *cfg;
	double *fixed;
	char path[4096];

	snprintf(path, sizeof(path), "%s/t/fixtures/cfg/%s", getenv("srcdir"), file);
	desc.name = path;
	ck_assert_int_eq(image_open(&desc, NULL, &im), 0);
	ck_assert_int_eq(isa_open(image_machine(im), &isa), 0);
	arena_init(&arena, 0);
	ck_assert_int_eq(image_symbol_named(im, procedure, &s), 0);
	ck_assert_int_eq(cfg_build(im, isa, s, &arena, &cfg), 0);
	ck_assert_int_eq(trips_find(isa, cfg, &arena, &fixed), 0);
	for (int e = 0; e < cfg->nr_edges; e++) {
		if (!isnan(fixed[e]))
			add_loop(cfg, fixed, e, &found);
	}
	arena_fini(&arena);
	isa_close(isa);
	image_close(im);
	return found;
}

/* Compilers may change what a loop counts, so that its rounds are not seen. */
static const struct {
	const char *procedure;
	int rounds;
	int least; /* files in which they are seen */
} fixed[] = {
	{ "rounds_142", 142, 4 }, { "rounds_9", 9, 4 },   { "rounds_34", 34, 2 },
	{ "rounds_41", 41, 1 },   { "rounds_60", 60, 1 }, { "rounds_1000", 1000, 3 },
	{ "rounds_12", 12, 3 },
};

START_TEST(fixed_rounds_are_counted)
{
	int seen = 0;

	for (size_t f = 0; f < NR(files); f++) {
		const struct found found = find(files[f], fixed[_i].procedure);

		ck_assert_int_le(found.nr, 1);
		if (found.nr)
			ck_assert_int_eq(found.rounds[0], fixed[_i].rounds);
		seen += found.nr;
	}
	ck_assert_msg(seen >= fixed[_i].least, "%s: %d", fixed[_i].procedure, seen);
}
END_TEST

START_TEST(loops_in_loops_are_counted)
{
	const struct found found = find("x86-gcc-trips", "rounds_7_in_5");

	ck_assert_int_eq(found.nr, 2);
	ck_assert_int_eq(found.rounds[0] + found.rounds[1], 12);
	ck_assert_int_eq(abs(found.rounds[0] - found.rounds[1]), 2);
}
END_TEST

static const char *const unknown[] = { "unknown_end", "unknown_begin", "unknown_break",
				       "unknown_step", "unknown_begins" };

START_TEST(other_rounds_are_not_known)
{
	for (size_t f = 0; f < NR(files); f++)
		ck_assert_int_eq(find(files[f], unknown[_i]).nr, 0);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("trips");
	TCase *t = tcase_create("trips");

	tcase_add_loop_test(t, fixed_rounds_are_counted, 0, NR(fixed));
	tcase_add_test(t, loops_in_loops_are_counted);
	tcase_add_loop_test(t, other_rounds_are_not_known, 0, NR(unknown));
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
