/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_weighted.c - weighted quantiles, against values that are repeated
 */
#include "config.h"

#include "analysis/math/weighted.h"

#include <math.h>
#include <stdlib.h>

#include "t/unit/unit.h"

#define MAX_VALUES 40

static int ascending(const void *va, const void *vb)
{
	const double *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

/* Each value as often as its weight says, in ascending order; returns their number. */
static size_t repeat(const struct weighted_value *v, size_t nr, double *out)
{
	size_t n = 0;

	for (size_t i = 0; i < nr; i++) {
		for (int k = 0; k < v[i].weight; k++)
			out[n++] = v[i].value;
	}
	qsort(out, n, sizeof(*out), ascending);
	return n;
}

START_TEST(quantiles_are_those_of_repeated_values)
{
	uint64_t seed = unit_seed();

	for (int round = 0; round < 2000; round++) {
		struct weighted_value v[MAX_VALUES];
		const size_t nr = 1 + unit_random(&seed) % MAX_VALUES;
		const int percent = unit_random(&seed) % 101;
		double repeated[9 * MAX_VALUES], found;
		size_t n, at;

		for (size_t i = 0; i < nr; i++)
			v[i] = (struct weighted_value){ unit_random(&seed) % 20,
							1 + unit_random(&seed) % 9 };
		n = repeat(v, nr, repeated);
		at = (n * percent + 99) / 100; /* so many at least */
		found = weighted_quantile(v, nr, percent / 100.0);
		/* A share is a fraction of two, so it may be rounded up. */
		ck_assert(found == repeated[at ? at - 1 : 0] ||
			  found == repeated[at < n ? at : n - 1]);
		ck_assert(weighted_median(v, nr) ==
			  (repeated[(n - 1) / 2] + repeated[n / 2]) / 2);
	}
}
END_TEST

START_TEST(without_values_or_weights_there_is_no_quantile)
{
	struct weighted_value one = { 3, 0 };

	ck_assert(isnan(weighted_quantile(NULL, 0, 0.5)));
	ck_assert(weighted_median(NULL, 0) == 0);
	ck_assert(weighted_quantile(&one, 1, 0.5) == 3);
	ck_assert(weighted_median(&one, 1) == 3);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("weighted");
	TCase *tc = tcase_create("core");

	tcase_add_test(tc, quantiles_are_those_of_repeated_values);
	tcase_add_test(tc, without_values_or_weights_there_is_no_quantile);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
