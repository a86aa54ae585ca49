/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_amount.c - samples of different weights: their errors, and machines that mix
 * them
 */
#include "config.h"

#include "report/fleet/amount.h"
#include "report/fleet/outliers.h"
#include "t/unit/unit.h"

#define NR_HOSTS 12
#define NR_PROCS 5
#define MAX_SUMS (NR_HOSTS * NR_PROCS * 2)

static const struct {
	uint64_t n[2];
	double weight[2], want;
} mixes[] = {
	{ { 400, 0 }, { 1e6, 0 }, 400 },
	{ { 300, 100 }, { 1e6, 1e6 }, 400 },
	/* relative error 16 %, not 1 % */
	{ { 9900, 10 }, { 1, 1000 }, 19900.0 * 19900 / (9900 + 1e7) },
	{ { 0, 10 }, { 1, 1000 }, 10 },
	{ { 0, 0 }, { 1, 1 }, 0 },
};

START_TEST(samples_of_one_weight_with_the_same_error)
{
	struct fleet_amount a = { 0 };

	for (int i = 0; i < 2; i++)
		fleet_amount_add(&a, mixes[_i].n[i],
				 (double)mixes[_i].n[i] * mixes[_i].weight[i]);
	ck_assert_uint_eq(a.n, mixes[_i].n[0] + mixes[_i].n[1]);
	ck_assert_double_eq_tol(fleet_amount_samples(&a), mixes[_i].want, 1e-6);
}
END_TEST

static const char *const hosts[NR_HOSTS] = { "h0", "h1", "h2", "h3", "h4",  "h5",
					     "h6", "h7", "h8", "h9", "h10", "h11" };
static const char *const procedures[NR_PROCS] = { "alpha", "beta", "gamma", "delta",
						  "eps" };
static const double ms[NR_PROCS] = { 3000, 3000, 1500, 800, 400 };

static void add_sum(struct fleet_outliers *f, const char *host, const char *procedure,
		    double amount, double weight)
{
	struct fleet_sums *s = &f->sums[0];

	ck_assert_uint_lt(s->nr, MAX_SUMS);
	s->sum[s->nr++] = (struct fleet_sum){ .host = host,
					      .cluster = "c",
					      .release = "",
					      .machine = "m",
					      .image = "/app",
					      .procedure = procedure,
					      .n = (uint64_t)(amount / weight),
					      .amount = amount,
					      .ns = amount };
}

/*
 * All machines spend the same times, but for h7, which spends `factor` of that in beta.
 * h3 ran alpha while it sent all samples, and the others while it sent one of 25.
 */
static void find(struct fleet_outliers *f, double factor)
{
	*f = (struct fleet_outliers){ .by = FLEET_PROCEDURE, .measure = FLEET_SHARE };
	f->sums[0].sum = calloc(MAX_SUMS, sizeof(*f->sums[0].sum));
	ck_assert_ptr_nonnull(f->sums[0].sum);
	for (int h = 0; h < NR_HOSTS; h++) {
		for (int p = 0; p < NR_PROCS; p++)
			add_sum(f, hosts[h], procedures[p],
				ms[p] * (h == 7 && p == 1 ? factor : 1),
				h == 3 && p ? 25 : 1);
	}
	ck_assert_int_eq(fleet_outliers_find(f, 0.05), 0);
}

static void end(struct fleet_outliers *f)
{
	free(f->sums[0].sum);
	free(f->found);
}

START_TEST(a_machine_with_samples_of_two_weights_is_no_outlier)
{
	struct fleet_outliers f;

	find(&f, 1);
	ck_assert_uint_gt(f.nr_tested, NR_HOSTS * (NR_PROCS - 1));
	ck_assert_uint_eq(f.nr, 0);
	end(&f);
}
END_TEST

START_TEST(the_machine_that_differs_is_found)
{
	struct fleet_outliers f;

	find(&f, 2);
	ck_assert_uint_eq(f.nr, 1);
	ck_assert_str_eq(f.found[0].host, "h7");
	ck_assert_str_eq(f.found[0].name, "beta");
	end(&f);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("amount");
	TCase *tc = tcase_create("amount");

	tcase_add_loop_test(tc, samples_of_one_weight_with_the_same_error, 0,
			    (int)NR(mixes));
	tcase_add_test(tc, a_machine_with_samples_of_two_weights_is_no_outlier);
	tcase_add_test(tc, the_machine_that_differs_is_found);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
