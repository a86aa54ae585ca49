/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/collect/calibrate.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "base/err.h"
#include "base/times.h"
#include "t/unit/unit.h"

static const struct {
	struct calibrate_pair pairs[4];
	size_t nr;
	double want;
	int err;
} costs[] = {
	{ { { 1200, 200, 100 } }, 1, 10, 0 },
	/* the median forgets a pair that something else disturbed */
	{ { { 1000, 0, 100 }, { 999999, 0, 100 }, { 1200, 0, 100 } }, 3, 12, 0 },
	{ { { 1000, 0, 100 }, { 0, 999999, 100 }, { 800, 0, 100 } }, 3, 8, 0 },
	/* an even number has two in the middle */
	{ { { 100, 0, 10 }, { 200, 0, 10 }, { 300, 0, 10 }, { 9000, 0, 10 } },
	  4,
	  25,
	  0 },
	/* a window without samples says nothing */
	{ { { 1000, 0, 0 }, { 1000, 0, 100 } }, 2, 10, 0 },
	{ { { 1000, 0, 0 }, { 1000, 0, 100 }, { 1000, 0, 0 } }, 3, 0, -ENODATA },
	{ { { 1000, 0, 0 } }, 1, 0, -ENODATA },
	{ { { 0 } }, 0, 0, -ENODATA },
	/* noise above the cost */
	{ { { 100, 200, 10 } }, 1, 0, -ENODATA },
	{ { { 0, 0, 10 } }, 1, 0, -ENODATA },
};

START_TEST(the_cost_is_the_median_over_pairs)
{
	double cost = -1;

	ck_assert_int_eq(calibrate_cost(costs[_i].pairs, costs[_i].nr, &cost),
			 costs[_i].err);
	ck_assert_double_eq_tol(cost, costs[_i].err ? -1 : costs[_i].want, 1e-9);
}
END_TEST

static const struct {
	double budget, cost_ns, hz;
} rates[] = {
	{ 0.005, 12000, 0.005 * 1e9 / 12000 }, { 0.01, 10000, 1000 },
	{ 0.005, 100, CALIBRATE_MAX_HZ },      { 0.0001, 12000, CALIBRATE_MIN_HZ },
	{ 0.005, 0, CALIBRATE_MAX_HZ },
};

START_TEST(the_rate_spends_the_budget_within_limits)
{
	ck_assert_double_eq_tol(calibrate_rate(rates[_i].budget, rates[_i].cost_ns),
				rates[_i].hz, 1e-6);
}
END_TEST

START_TEST(an_interrupt_costs_what_is_possible)
{
	cpu_set_t before, after;
	double cost_ns = -1;
	int err;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	err = calibrate_interrupt(NULL, &cost_ns);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(after), &after), 0);
	ck_assert(CPU_EQUAL(&before, &after));
	if (err) {
		ck_assert_double_eq(cost_ns, -1);
		printf("# not measured: %s\n", err_str(err));
		/* what stands in the way is the machine's, and known */
		ck_assert(err == -EACCES || err == -EPERM || err == -ENOSYS ||
			  err == -ENODATA);
		return;
	}
	printf("# an interrupt costs %.1f us\n", cost_ns / 1e3);
	ck_assert_double_gt(cost_ns, 100);
	ck_assert_double_lt(cost_ns, 200000);
}
END_TEST

/* Signals stand for interrupts: what they take is planted, some of them are samples. */
#define PLANTED_NS    50000
#define SIGNAL_GAP_NS 1000000
#define SPIN_NS       200000000

static volatile sig_atomic_t nr_signals, nr_samples, samples_each;

static void on_alarm(int number)
{
	uint64_t begin = time_mono_ns();

	nr_signals++;
	nr_samples += samples_each && nr_signals % samples_each == 0;
	while (time_mono_ns() - begin < PLANTED_NS)
		;
}

static uint64_t count_samples(void *ctx, int cpu)
{
	return (uint64_t)nr_samples;
}

static const struct {
	int samples_each; /* so many signals; 0: none is one */
	int err;
} spins[] = { { 1, 0 }, { 3, 0 }, { 0, -ENODATA } };

START_TEST(a_samples_cost_is_what_it_takes_while_others_are_not)
{
	const struct calibrate_samples samples = { count_samples, NULL };
	const struct itimerval every = { { 0, SIGNAL_GAP_NS / 1000 },
					 { 0, SIGNAL_GAP_NS / 1000 } };
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	cpu_set_t before, after;
	double cost_ns = -1;
	int err = -ENODATA;

	samples_each = spins[_i].samples_each;
	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	/* On a busy machine others' turns hide samples. */
	for (int i = 0; i < (spins[_i].err ? 1 : 20) && err == -ENODATA; i++)
		err = calibrate_sample(&samples, SPIN_NS, &cost_ns);
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(after), &after), 0);
	ck_assert(CPU_EQUAL(&before, &after));
	ck_assert_int_gt(nr_signals, 0);
	ck_assert_int_eq(err, spins[_i].err);
	if (err)
		ck_assert_double_eq(cost_ns, -1);
	else
		ck_assert_double_ge(cost_ns, PLANTED_NS * 0.99);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("calibrate");
	TCase *tc = tcase_create("calibrate");

	tcase_add_loop_test(tc, the_cost_is_the_median_over_pairs, 0, NR(costs));
	tcase_add_loop_test(tc, the_rate_spends_the_budget_within_limits, 0, NR(rates));
	tcase_add_test(tc, an_interrupt_costs_what_is_possible);
	tcase_add_loop_test(tc, a_samples_cost_is_what_it_takes_while_others_are_not, 0,
			    NR(spins));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
