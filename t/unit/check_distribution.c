/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/math/distribution.h"

#include <math.h>

#include "t/unit/unit.h"

static void near(double got, double want, double relative, const char *what)
{
	ck_assert_msg(fabs(got - want) <= relative * fabs(want) + 1e-13,
		      "%s: %.15g, not %.15g", what, got, want);
}

/* From tables, and where a closed form is known. */
static const struct {
	double x, df, above;
} chi2s[] = {
	{ 0, 3, 1 },
	{ 3.841458820694124, 1, 0.05 },
	{ 18.307038053275146, 10, 0.05 },
	{ 2, 2, 0.36787944117144233 },     /* exp(-1) */
	{ 200, 2, 3.720075976020836e-44 }, /* exp(-100) */
	{ 1e4, 1e4, 0.4981192 },
};

START_TEST(chi_squared_has_its_tails)
{
	const double precision = chi2s[_i].df > 1e3 ? 1e-6 : 1e-10;

	near(chi2_above(chi2s[_i].x, chi2s[_i].df), chi2s[_i].above, precision, "tail");
}
END_TEST

static const struct {
	double t, df, above;
} students[] = {
	{ 0, 5, 0.5 },
	{ 1, 1, 0.25 }, /* atan */
	{ -1, 1, 0.75 },
	{ 2.7764451051977987, 4, 0.025 },
	{ 8.610301581379, 4, 0.0005 },
	{ 2.1009220402409601, 18, 0.025 },
	{ 1.959963984540054, (double)INFINITY, 0.025 },
	{ 1.959963984540054, 1e9, 0.025 },
};

START_TEST(student_has_its_tails_and_quantiles)
{
	const double t = students[_i].t, df = students[_i].df;

	near(student_above(t, df), students[_i].above, 2e-8, "tail");
	near(student_quantile_above(students[_i].above, df), t, 1e-8, "quantile");
}
END_TEST

/* The density of t, added up by Simpson's rule. */
static double integrate_student(double t, double df)
{
	const int nr = 20000;
	const double scale =
		exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(df * M_PI);
	const double h = t / nr;
	double sum = 0;

	for (int i = 0; i <= nr; i++) {
		const double x = i * h;
		const int weight = i == 0 || i == nr ? 1 : i % 2 ? 4 : 2;

		sum += weight * pow(1 + x * x / df, -(df + 1) / 2);
	}
	return 0.5 - scale * sum * h / 3;
}

START_TEST(student_is_the_integral_of_its_density)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;

	for (int i = 0; i < 50; i++) {
		const double t = unit_random(&state) % 6000 / 1000.0;
		const double df = 1 + unit_random(&state) % 90000 / 1000.0;
		const double got = student_above(t, df);

		ck_assert_msg(fabs(got - integrate_student(t, df)) < 1e-9,
			      "seed %llu: t %g, df %g: %g", (unsigned long long)seed, t,
			      df, got);
	}
}
END_TEST

START_TEST(gamma_functions_recur)
{
	near(digamma(1), -0.57721566490153286, 1e-12, "digamma");
	near(trigamma(1), M_PI * M_PI / 6, 1e-12, "trigamma");
	for (double x = 0.1; x < 40; x *= 1.3) {
		near(digamma(x + 1), digamma(x) + 1 / x, 1e-11, "digamma");
		near(trigamma(x + 1), trigamma(x) - 1 / (x * x), 1e-10, "trigamma");
		near(trigamma_inverse(trigamma(x)), x, 1e-10, "inverse");
	}
}
END_TEST

START_TEST(what_is_no_number_stays_none)
{
	ck_assert(isnan(chi2_above((double)NAN, 1)));
	ck_assert(isnan(student_above((double)NAN, 1)));
	ck_assert(isnan(student_above(1, (double)NAN)));
}
END_TEST

/* By its definition: the least over all that are not smaller. */
static double discovery(const double *p, size_t nr, size_t at)
{
	double least = 1;
	size_t tested = 0;

	for (size_t i = 0; i < nr; i++)
		tested += !isnan(p[i]);
	for (size_t i = 0; i < nr; i++) {
		size_t rank = 0;

		for (size_t k = 0; k < nr; k++)
			rank += p[k] <= p[i];
		if (p[i] >= p[at])
			least = fmin(least, p[i] * tested / rank);
	}
	return least;
}

START_TEST(false_discoveries_are_as_defined)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	double p[40], q[40];

	for (size_t i = 0; i < NR(p); i++) {
		p[i] = unit_random(&state) % 50 / 100.0;
		if (unit_random(&state) % 5 == 0)
			p[i] = (double)NAN;
	}
	ck_assert_int_eq(false_discovery(p, NR(p), q), 0);
	for (size_t i = 0; i < NR(p); i++)
		ck_assert_msg(isnan(p[i]) ? isnan(q[i])
					  : fabs(q[i] - discovery(p, NR(p), i)) < 1e-12,
			      "seed %llu, place %zu", (unsigned long long)seed, i);
}
END_TEST

static Suite *distribution_suite(void)
{
	Suite *s = suite_create("distribution");
	TCase *t = tcase_create("distribution");

	tcase_add_loop_test(t, chi_squared_has_its_tails, 0, NR(chi2s));
	tcase_add_loop_test(t, student_has_its_tails_and_quantiles, 0, NR(students));
	tcase_add_test(t, student_is_the_integral_of_its_density);
	tcase_add_test(t, gamma_functions_recur);
	tcase_add_test(t, what_is_no_number_stays_none);
	tcase_add_loop_test(t, false_discoveries_are_as_defined, 0, 100);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(distribution_suite)
