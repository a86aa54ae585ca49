/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated program whose rare rounds take longer: windows begin by time, and the
 * weights give the shares of executions.
 */
#include "config.h"

#include "daemon/windows/startweights.h"

#include <math.h>

#include "t/unit/unit.h"

#define BLOCKS  6 /* of a round; each ends in a jump */
#define HOLDS   8 /* jumps in a window */
#define WINDOWS 20000

/*
 * A round draws one of two kinds. Its second block is another one for each kind, and is
 * the slow one; what is counted is seen in block `seen`.
 */
static const struct {
	double rare, slow; /* share of rounds, and their second block's time */
	int seen;
	double bias; /* of the raw share, at least */
} programs[] = {
	{ 0.4, 10, 3, 0.1 },
	{ 0.1, 20, 3, 0.1 },
	{ 0.1, 20, 5, 0.1 },
	{ 0.4, 1, 3, -0.02 },
};

static double draw(uint64_t *state)
{
	return (double)(unit_random(state) >> 11) * 0x1p-53;
}

/* The rare kind's second block has another jump. */
static uint64_t jump_of(int block, bool rare)
{
	return (uint64_t)block + (block == 1 && rare ? 100 : 0);
}

START_TEST(weights_turn_shares_of_time_into_shares_of_executions)
{
	struct startweights *s = startweights_new();
	uint64_t state = unit_seed() + (uint64_t)_i + 1;
	double raw[2] = { 0 }, fair[2] = { 0 }, share;

	for (int w = 0; w < WINDOWS; w++) {
		uint64_t jump[HOLDS];
		unsigned int times;
		bool rare, seen = false, kind = false;
		int block;

		/* A round and a block by time: all others take 1. */
		do {
			rare = draw(&state) < programs[_i].rare;
			block = (int)(draw(&state) * BLOCKS);
		} while (draw(&state) * fmax(programs[_i].slow, 1) >
			 (block == 1 && rare ? programs[_i].slow : 1));
		for (int i = 0; i < HOLDS; i++) {
			jump[i] = jump_of(block, rare);
			if (block == programs[_i].seen && !seen) {
				seen = true;
				kind = rare;
			}
			if (++block == BLOCKS) {
				block = 0;
				rare = draw(&state) < programs[_i].rare;
			}
		}
		times = startweights_add(s, jump, HOLDS);
		ck_assert_uint_le(times, STARTWEIGHTS_MOST);
		raw[kind] += seen;
		fair[kind] += seen * times;
	}
	share = raw[1] / (raw[0] + raw[1]);
	ck_assert_msg(share >= programs[_i].rare + programs[_i].bias, "raw: %g of %g",
		      share, programs[_i].rare);
	share = fair[1] / (fair[0] + fair[1]);
	ck_assert_msg(fabs(share - programs[_i].rare) < 0.03, "weighted: %g of %g",
		      share, programs[_i].rare);
	startweights_free(s);
}
END_TEST

START_TEST(windows_without_a_jump_count_once)
{
	struct startweights *s = startweights_new();

	for (int i = 0; i < 100; i++)
		ck_assert_uint_eq(startweights_add(s, NULL, 0), 1);
	startweights_free(s);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("startweights");
	TCase *t = tcase_create("startweights");

	tcase_add_loop_test(t, weights_turn_shares_of_time_into_shares_of_executions, 0,
			    NR(programs));
	tcase_add_test(t, windows_without_a_jump_count_once);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
