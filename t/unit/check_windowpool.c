/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs never overlap, and nothing is refused that a search of the whole map finds. */
#include "config.h"

#include "daemon/windows/windowpool.h"

#include <stdbool.h>
#include <string.h>

#include "t/unit/unit.h"

#define NR_GRANULES 300
#define NR_RUNS     64

struct run {
	uint32_t first, nr_cells; /* 0: none */
};

static bool taken[NR_GRANULES];

static void mark(const struct windowpool *p, const struct run *r, bool on,
		 uint64_t seed)
{
	const uint32_t at = r->first / p->granule;

	for (uint32_t i = at; i < at + windowpool_granules(p, r->nr_cells); i++) {
		ck_assert_msg(i > 0 && i < NR_GRANULES && taken[i] != on, "seed %#llx",
			      (unsigned long long)seed);
		taken[i] = on;
	}
}

static bool is_there_room(uint32_t nr_granules)
{
	uint32_t run = 0;

	for (uint32_t i = 1; i < NR_GRANULES; i++) {
		run = taken[i] ? 0 : run + 1;
		if (run == nr_granules)
			return true;
	}
	return false;
}

START_TEST(runs_are_apart_and_found_where_there_is_room)
{
	const uint64_t seed = unit_seed() + (uint64_t)_i;
	const uint32_t granule = _i % 2 ? 1 : 16;
	uint64_t random = seed | 1;
	struct run run[NR_RUNS] = { 0 };
	struct windowpool p;
	uint32_t nr_taken = 1;

	memset(taken, 0, sizeof(taken));
	ck_assert_int_eq(
		windowpool_init(&p, NR_GRANULES * granule + granule / 2, granule), 0);
	for (int i = 0; i < 2000; i++) {
		struct run *r = &run[unit_random(&random) % NR_RUNS];
		const uint32_t nr = 1 + unit_random(&random) % (19 * granule);

		if (r->nr_cells) {
			mark(&p, r, false, seed);
			nr_taken -= windowpool_granules(&p, r->nr_cells);
			windowpool_give_back(&p, r->first, r->nr_cells);
			r->nr_cells = 0;
			continue;
		}
		r->first = windowpool_take(&p, nr);
		ck_assert_msg(!r->first == !is_there_room(windowpool_granules(&p, nr)),
			      "seed %#llx", (unsigned long long)seed);
		if (!r->first)
			continue;
		r->nr_cells = nr;
		mark(&p, r, true, seed);
		nr_taken += windowpool_granules(&p, nr);
		ck_assert_uint_eq(p.nr_free, NR_GRANULES - nr_taken);
	}
	windowpool_clear(&p);
	ck_assert_uint_eq(windowpool_take(&p, (NR_GRANULES - 1) * granule), granule);
	windowpool_fini(&p);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("windowpool");
	TCase *tc = tcase_create("windowpool");

	tcase_add_loop_test(tc, runs_are_apart_and_found_where_there_is_room, 0, 20);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
