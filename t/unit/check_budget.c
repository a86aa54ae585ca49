/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/session/budget.h"

#include <errno.h>

#include "t/unit/unit.h"

#define SHARE  0.005
#define MIN_HZ 19
#define MAX_HZ 10000

static const struct {
	double hz;
	struct budget_cost cost;
	double want; /* after one check */
} checks[] = {
	/* within the budget nothing happens */
	{ 400, { 0.0045, 0, 0, 0 }, 400 },
	{ 400, { 0.0040, 0, 0, 0.0010 }, 400 },
	{ 400, { 0.0020, 0, 0, 0.0020 }, 400 },
	/* above it, to nine tenths of it */
	{ 400, { 0.0090, 0, 0, 0 }, 200 },
	{ 400, { 0.0050, 0, 0, 0.0020 }, 200 },
	{ 400, { 0.0050, 0.0010, 0, 0.0010 }, 200 },
	/* one step is a quarter at most */
	{ 4000, { 0.9, 0, 0, 0 }, 1000 },
	{ 4000, { 0.0040, 0, 0, 0.0100 }, 1000 },
	/* never below what is worth it */
	{ 40, { 0.9, 0, 0, 0 }, MIN_HZ },
	{ MIN_HZ, { 0.9, 0, 0, 0 }, MIN_HZ },
	{ 10, { 0.9, 0, 0, 0 }, 10 },
	/* a rate that has no part in the cost is no remedy */
	{ 400, { 0, 0.9, 0, 0 }, 400 },
	{ 400, { 0, 0, 0, 0.9 }, 400 },
	/* once is too seldom for a raise */
	{ 400, { 0.0010, 0, 0, 0 }, 400 },
	{ 400, { 0, 0, 0, 0 }, 400 },
};

START_TEST(one_check_lowers_what_is_above_and_nothing_else)
{
	struct budget b = budget_init(SHARE, MIN_HZ, MAX_HZ);

	ck_assert_double_eq_tol(budget_decide(&b, checks[_i].hz, &checks[_i].cost),
				checks[_i].want, 1e-9);
}
END_TEST

/* How many checks of c it takes until the rate changes; its new value in *hz. */
static int await_change(struct budget *b, double *hz, const struct budget_cost *c)
{
	for (int i = 1; i < 1000; i++) {
		double to = budget_decide(b, *hz, c);

		if (to != *hz) {
			*hz = to;
			return i;
		}
	}
	return 0;
}

static const struct {
	double hz;
	struct budget_cost cost;
	double want;
} raises[] = {
	{ 400, { 0.0010, 0, 0, 0 }, 500 },           /* a quarter at most */
	{ 400, { 0.0026, 0.0004, 0, 0.0004 }, 500 }, /* … that still fits */
	{ 400, { 0, 0, 0, 0 }, 500 },                /* no sample came */
	{ 9000, { 0.0010, 0, 0, 0 }, MAX_HZ },       /* up to what is allowed */
	{ 400, { 0.0010, 0.0014, 0, 0.0010 }, 500 }, /* what is fixed is left alone */
};

START_TEST(what_stays_clearly_below_is_raised_slowly)
{
	struct budget b = budget_init(SHARE, MIN_HZ, MAX_HZ);
	double hz = raises[_i].hz;

	ck_assert_int_ge(await_change(&b, &hz, &raises[_i].cost), 3);
	ck_assert_double_eq_tol(hz, raises[_i].want, 1e-9);
}
END_TEST

START_TEST(an_interruption_starts_the_wait_anew)
{
	const struct budget_cost low = { .by_rate = 0.001 },
				 usual = { .by_rate = 0.0045 };
	struct budget b = budget_init(SHARE, MIN_HZ, MAX_HZ), other = b;
	double hz = 400, same = 400;
	int patience = await_change(&other, &same, &low);

	for (int i = 0; i < 50; i++) {
		for (int n = 1; n < patience; n++)
			ck_assert_double_eq(budget_decide(&b, hz, &low), hz);
		ck_assert_double_eq(budget_decide(&b, hz, &usual), hz);
	}
	ck_assert_int_eq(await_change(&b, &hz, &low), patience);
}
END_TEST

START_TEST(at_the_limits_nothing_changes_for_ever)
{
	const struct budget_cost none = { 0 }, all = { 1, 0, 0, 0 };
	struct budget b = budget_init(SHARE, MIN_HZ, MAX_HZ);
	double high = MAX_HZ, low = MIN_HZ;

	ck_assert_int_eq(await_change(&b, &high, &none), 0);
	ck_assert_int_eq(await_change(&b, &low, &all), 0);
}
END_TEST

/* A load that comes and goes must not make a stream of each turn. */
START_TEST(raises_that_fail_become_rare)
{
	struct budget b = budget_init(SHARE, MIN_HZ, MAX_HZ);
	int nr_changes = 0, early = 0;
	double hz = 400;

	for (int i = 0; i < 2000; i++) {
		double heavy = i % 40 == 0 ? 3 : 0.2;
		struct budget_cost c = { .by_rate = hz * 12e-6 * heavy };
		double to = budget_decide(&b, hz, &c);

		nr_changes += to != hz;
		if (i == 400)
			early = nr_changes;
		hz = to;
	}
	ck_assert_int_gt(early, 0);
	/* in four times the time */
	ck_assert_int_lt(nr_changes - early, early);
}
END_TEST

struct machine {
	double sample_ns, fixed, daemon_fixed, daemon_sample_ns, noise;
};

static double unit_double(uint64_t *seed)
{
	return (double)(unit_random(seed) >> 11) / (double)(1ULL << 53);
}

static struct machine random_machine(uint64_t *seed)
{
	return (struct machine){
		.sample_ns = 300 + 40000 * unit_double(seed),
		.fixed = unit_random(seed) % 2 ? 0.2 * SHARE * unit_double(seed) : 0,
		.daemon_fixed = 0.3 * SHARE * unit_double(seed),
		.daemon_sample_ns = 3000 * unit_double(seed),
		.noise = 0.04 * unit_double(seed),
	};
}

static struct budget_cost cost_of(const struct machine *m, double hz, uint64_t *seed)
{
	double noise = 1 + m->noise * (2 * unit_double(seed) - 1);

	return (struct budget_cost){
		.by_rate = hz * m->sample_ns * 1e-9 * noise,
		.fixed = m->fixed,
		.daemon = (m->daemon_fixed + hz * m->daemon_sample_ns * 1e-9) * noise,
	};
}

/*
 * Any machine, one whose interrupts become dearer or cheaper in the middle: the
 * budget is exceeded for as many checks as quarters take, and then the rate stays.
 */
START_TEST(the_rate_of_random_machines_stays_within_the_budget)
{
	uint64_t seed = unit_seed() + (uint64_t)_i, first = seed;
	struct machine m = random_machine(&seed);
	struct budget b = budget_init(SHARE, MIN_HZ, MAX_HZ);
	double hz = MIN_HZ + (MAX_HZ - MIN_HZ) * unit_double(&seed);
	int nr_late = 0, exceeded = 0;

	for (int i = 0; i < 1200; i++) {
		struct budget_cost c;
		double to;

		if (i == 600) {
			m.sample_ns *= unit_random(&seed) % 2 ? 4 : 0.25;
			exceeded = nr_late = 0;
		}
		c = cost_of(&m, hz, &seed);
		exceeded = budget_total(&c) > SHARE && hz > MIN_HZ ? exceeded + 1 : 0;
		if (exceeded > 6)
			ck_abort_msg("SEED=%llu: exceeded %d times on end",
				     (unsigned long long)first, exceeded);
		to = budget_decide(&b, hz, &c);
		/* one more, if what was spent was just about to allow it */
		nr_late += to != hz && i % 600 > 300;
		if (nr_late > 1)
			ck_abort_msg("SEED=%llu: the rate does not stay",
				     (unsigned long long)first);
		hz = to;
		if (hz < MIN_HZ || hz > MAX_HZ)
			ck_abort_msg("SEED=%llu: %g Hz", (unsigned long long)first, hz);
	}
}
END_TEST

START_TEST(a_samples_cost_is_the_median_of_the_last_ones)
{
	struct budget b = budget_init(SHARE, MIN_HZ, MAX_HZ);
	double cost = -1;

	for (int i = 1; i < BUDGET_MIN_COSTS; i++)
		budget_note(&b, 12000);
	ck_assert_int_eq(budget_sample_cost(&b, &cost), -ENODATA);
	ck_assert_double_eq(cost, -1);
	budget_note(&b, 199999);
	ck_assert_int_eq(budget_sample_cost(&b, &cost), 0);
	ck_assert_double_eq(cost, 12000);
	for (int i = 0; i < BUDGET_COSTS; i++)
		budget_note(&b, 24000 + i);
	ck_assert_int_eq(budget_sample_cost(&b, &cost), 0);
	ck_assert_double_eq(cost, 24000 + BUDGET_COSTS / 2);
}
END_TEST

START_TEST(tries_that_find_no_cost_do_not_end_the_learning)
{
	struct budget b = budget_init(SHARE, MIN_HZ, MAX_HZ);

	for (int i = 0; i < 3 * BUDGET_MIN_COSTS; i++)
		budget_note(&b, 0);
	ck_assert(budget_is_learning(&b));
	for (int i = 0; i <= BUDGET_MIN_COSTS; i++) {
		ck_assert(budget_is_learning(&b));
		budget_note(&b, 12000);
	}
	ck_assert(!budget_is_learning(&b));
}
END_TEST

START_TEST(learning_ends_where_no_cost_can_be_found)
{
	struct budget b = budget_init(SHARE, MIN_HZ, MAX_HZ);
	double cost;

	for (int i = 0; i <= BUDGET_EAGER_TRIES; i++)
		budget_note(&b, 0);
	ck_assert(!budget_is_learning(&b));
	ck_assert_int_eq(budget_sample_cost(&b, &cost), -ENODATA);
}
END_TEST

static const struct {
	double share, window_ns, hz, max_hz, want;
} windows[] = {
	/* a tenth of the budget */
	{ 0.005, 50000, 50, 50, 10 },
	{ 0.005, 25000, 50, 50, 20 },
	{ 0.010, 50000, 50, 50, 20 },
	/* no more than the full rate, where windows cost little */
	{ 0.005, 5000, 50, 50, 50 },
	{ 0.005, 5000, 10, 50, 50 },
	{ 0.005, 5000, 2, 3, 3 },
	/* and never nearly none */
	{ 0.005, 1e6, 50, 50, BUDGET_LEAST_WINDOWS_HZ },
	{ 0.005, 1e6, 3, 3, 3 },
	/* a small difference is not worth a change */
	{ 0.005, 11000, 50, 50, 50 },
	{ 0.005, 41000, 10, 50, 10 },
	{ 0.005, 39000, 10, 50, 500 / 39.0 },
	/* what is not known changes nothing */
	{ 0.005, 0, 50, 50, 50 },
};

START_TEST(interrupts_of_windows_take_a_tenth_of_the_budget)
{
	struct budget b = budget_init(windows[_i].share, MIN_HZ, MAX_HZ);
	const struct budget_windows w = { .hz = windows[_i].hz,
					  .max_hz = windows[_i].max_hz,
					  .window_ns = windows[_i].window_ns,
					  .may_raise = true };
	const struct budget_cost nothing = { 0 };

	ck_assert_double_eq_tol(budget_windows_hz(&b, &w, &nothing), windows[_i].want,
				1e-9);
}
END_TEST

static const struct {
	double hz;
	bool may_raise;
	struct budget_cost cost;
	double want;
} gives_way[] = {
	/* above the budget: what all else leaves of nine tenths of it */
	{ 20, false, { 0.001, 0, 0.003, 0.002 }, 10 },
	{ 20, false, { 0.001, 0.001, 0.003, 0.001 }, 10 },
	/* also by less than a quarter */
	{ 20, false, { 0.001, 0, 0.0020, 0.0021 }, 14 },
	/* and never nearly none */
	{ 20, false, { 0.001, 0, 0.001, 0.004 }, BUDGET_LEAST_WINDOWS_HZ },
	{ 5, false, { 0.001, 0, 0.001, 0.004 }, 5 },
	{ 20, true, { 0.001, 0, 0.001, 0.004 }, BUDGET_LEAST_WINDOWS_HZ },
	/* within the budget nothing changes */
	{ 10, true, { 0.001, 0, 0.001, 0.0029 }, 10 },
	{ 10, true, { 0.001, 0, 0.001, 0.0016 }, 10 },
	/* clearly below it, up to nine tenths of it, and to a tenth for interrupts */
	{ 10, true, { 0.001, 0, 0.001, 0.0014 }, 20 },
	{ 10, true, { 0.001, 0, 0.0015, 0.0005 }, 20 },
	{ 5, true, { 0.0015, 0, 0.001, 0.0009 }, 10.5 },
	/* but not again and again */
	{ 10, false, { 0.001, 0, 0.001, 0.0014 }, 10 },
};

START_TEST(windows_give_way_when_the_budget_is_exceeded)
{
	struct budget b = budget_init(SHARE, MIN_HZ, MAX_HZ);
	/* at this cost a tenth of the budget pays for 20 */
	const struct budget_windows w = { .hz = gives_way[_i].hz,
					  .max_hz = 50,
					  .window_ns = 25000,
					  .may_raise = gives_way[_i].may_raise };

	ck_assert_double_eq_tol(budget_windows_hz(&b, &w, &gives_way[_i].cost),
				gives_way[_i].want, 1e-9);
}
END_TEST

/* But the tenth for interrupts holds for windows all the same. */
START_TEST(many_samples_give_way_before_windows)
{
	const struct budget_cost much = { .by_rate = 0.003,
					  .windows = 0.001,
					  .daemon = 0.002 },
				 none_by_rate = { .windows = 0.001, .daemon = 0.005 };
	struct budget b = budget_init(SHARE, MIN_HZ, MAX_HZ);
	struct budget_windows w = { .hz = 20, .max_hz = 50, .window_ns = 25000 };

	w.samples_first = budget_samples_first(BUDGET_FEW_HZ + 1, &much);
	ck_assert(w.samples_first);
	ck_assert_double_eq_tol(budget_windows_hz(&b, &w, &much), 20, 1e-9);
	w.hz = 50;
	ck_assert_double_eq_tol(budget_windows_hz(&b, &w, &much), 20, 1e-9);
	ck_assert(!budget_samples_first(BUDGET_FEW_HZ, &much));
	ck_assert(!budget_samples_first(1000, &none_by_rate));
}
END_TEST

/*
 * Machines of all kinds: once per check the windows are decided first, and the samples
 * only if windows cannot give way. Within ten checks the budget is kept, or both are at
 * their least; then neither changes any more.
 */
START_TEST(both_rates_of_random_machines_keep_the_budget)
{
	uint64_t seed = unit_seed() + (uint64_t)_i, first = seed;
	struct machine m = random_machine(&seed);
	struct budget b = budget_init(SHARE, MIN_HZ, MAX_HZ);
	const double window_ns = 2 * m.sample_ns, work_ns = 300000 * unit_double(&seed),
		     work = 0.1 * SHARE * unit_double(&seed);
	struct budget_windows w = { .hz = 50, .max_hz = 50, .window_ns = window_ns };
	double hz = MIN_HZ + 200 * unit_double(&seed);
	int nr_changes = 0;

	m.noise = 0;
	for (int i = 0; i < 200; i++) {
		struct budget_cost c = cost_of(&m, hz, &seed);
		double to;

		c.windows = w.hz * (window_ns + work_ns) * 1e-9 + work;
		w.samples_first = budget_samples_first(hz, &c);
		to = budget_windows_hz(&b, &w, &c);
		nr_changes += i > 10 && to != w.hz;
		if (i > 10 && budget_total(&c) > SHARE &&
		    (w.hz > BUDGET_LEAST_WINDOWS_HZ || hz > MIN_HZ))
			ck_abort_msg("SEED=%llu: exceeded", (unsigned long long)first);
		if (to == w.hz)
			hz = budget_decide(&b, hz, &c);
		w.hz = to;
	}
	if (nr_changes)
		ck_abort_msg("SEED=%llu: windows do not stay",
			     (unsigned long long)first);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("budget");
	TCase *tc = tcase_create("budget");

	tcase_add_loop_test(tc, one_check_lowers_what_is_above_and_nothing_else, 0,
			    NR(checks));
	tcase_add_loop_test(tc, what_stays_clearly_below_is_raised_slowly, 0,
			    NR(raises));
	tcase_add_test(tc, an_interruption_starts_the_wait_anew);
	tcase_add_test(tc, at_the_limits_nothing_changes_for_ever);
	tcase_add_test(tc, raises_that_fail_become_rare);
	tcase_add_loop_test(tc, the_rate_of_random_machines_stays_within_the_budget, 0,
			    200);
	tcase_add_test(tc, a_samples_cost_is_the_median_of_the_last_ones);
	tcase_add_test(tc, tries_that_find_no_cost_do_not_end_the_learning);
	tcase_add_test(tc, learning_ends_where_no_cost_can_be_found);
	tcase_add_loop_test(tc, interrupts_of_windows_take_a_tenth_of_the_budget, 0,
			    NR(windows));
	tcase_add_loop_test(tc, windows_give_way_when_the_budget_is_exceeded, 0,
			    NR(gives_way));
	tcase_add_test(tc, many_samples_give_way_before_windows);
	tcase_add_loop_test(tc, both_rates_of_random_machines_keep_the_budget, 0, 200);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
