/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/compare/outliers.h"

#include <math.h>
#include <string.h>

#include "analysis/math/distribution.h"
#include "t/unit/random.h"
#include "t/unit/unit.h"

#define MAX_ROWS    12
#define MAX_MEMBERS 24
#define RATE        0.05

struct drawn {
	struct outlier_value value[MAX_ROWS * MAX_MEMBERS];
	size_t group[MAX_MEMBERS];
	size_t nr_rows, nr_members;
	struct outlier out[MAX_ROWS * MAX_MEMBERS];
};

static void find(struct drawn *d)
{
	const struct outlier_input in = { .value = d->value,
					  .nr_rows = d->nr_rows,
					  .nr_members = d->nr_members,
					  .group = d->group,
					  .rate = RATE };

	ck_assert_int_eq(outliers_find(&in, d->out), 0);
}

/* Values around each row's mean: between sets how far members differ. */
static void draw(uint64_t *seed, struct drawn *d, size_t nr_rows, size_t nr_members,
		 double between, double sampling)
{
	memset(d, 0, sizeof(*d));
	d->nr_rows = nr_rows;
	d->nr_members = nr_members;
	for (size_t i = 0; i < nr_rows * nr_members; i++) {
		struct outlier_value *v = &d->value[i];

		v->variance = sampling * sampling * (0.3 + random_uniform(seed));
		v->y = -3 - (double)(i / nr_members) + between * random_normal(seed) +
		       sqrt(v->variance) * random_normal(seed);
	}
}

/* ---- the same by brute force ---- */

struct oracle {
	const struct drawn *d;
	bool gone[MAX_ROWS * MAX_MEMBERS];
	double p[MAX_ROWS * MAX_MEMBERS];
};

static bool is_other(const struct oracle *o, size_t at, size_t k)
{
	const size_t row = at / o->d->nr_members * o->d->nr_members;

	return row + k != at && !isnan(o->d->value[row + k].y) && !o->gone[row + k] &&
	       o->d->group[k] == o->d->group[at % o->d->nr_members];
}

/* Σ (y - m)² / (t + v) of the peers, summed as it stands. */
static double scatter(const struct oracle *o, size_t at, double t, double *mean,
		      double *weight, size_t *nr)
{
	const size_t row = at / o->d->nr_members * o->d->nr_members;
	double sum = 0;

	*mean = *weight = 0;
	*nr = 0;
	for (size_t k = 0; k < o->d->nr_members; k++) {
		const struct outlier_value *v = &o->d->value[row + k];

		if (!is_other(o, at, k))
			continue;
		*weight += 1 / (t + v->variance);
		*mean += v->y / (t + v->variance);
		++*nr;
	}
	*mean /= *weight;
	for (size_t k = 0; k < o->d->nr_members; k++) {
		const struct outlier_value *v = &o->d->value[row + k];

		if (is_other(o, at, k))
			sum += (v->y - *mean) * (v->y - *mean) / (t + v->variance);
	}
	return sum;
}

static double oracle_p(const struct oracle *o, size_t at)
{
	const struct outlier_value *v = &o->d->value[at];
	double low = 0, high = 1e4, mean, weight, t;
	size_t nr;

	if (isnan(v->y))
		return NAN;
	if (scatter(o, at, 0, &mean, &weight, &nr) <= (double)nr - 1.0)
		high = 0;
	if (nr < OUTLIERS_MIN_PEERS)
		return NAN;
	for (int i = 0; i < 200; i++) {
		t = (low + high) / 2;
		if (scatter(o, at, t, &mean, &weight, &nr) > (double)nr - 1)
			low = t;
		else
			high = t;
	}
	scatter(o, at, high, &mean, &weight, &nr);
	return 2 *
	       student_above(fabs(v->y - mean) / sqrt(high + v->variance + 1 / weight),
			     (double)nr - 1);
}

/* The least rate at which p is found, straight from the definition. */
static double oracle_q(const double *p, size_t nr, size_t at)
{
	double least = 1;
	size_t tested = 0;

	for (size_t i = 0; i < nr; i++)
		tested += !isnan(p[i]);
	for (size_t i = 0; i < nr; i++) {
		size_t below = 0;

		if (isnan(p[i]) || p[i] < p[at])
			continue;
		for (size_t k = 0; k < nr; k++)
			below += p[k] <= p[i];
		least = fmin(least, p[i] * (double)tested / (double)below);
	}
	return least;
}

static int by_value(const void *x, const void *y)
{
	const double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

/* The median of the group's values of a row, less base and positive if asked for. */
static double median(const struct oracle *o, size_t row, size_t group, double base)
{
	double v[MAX_MEMBERS];
	size_t nr = 0;

	for (size_t k = 0; k < o->d->nr_members; k++) {
		const double y = o->d->value[row + k].y;

		if (!isnan(y) && o->d->group[k] == group)
			v[nr++] = isnan(base) ? y : fabs(y - base);
	}
	qsort(v, nr, sizeof(*v), by_value);
	return nr ? (v[(nr - 1) / 2] + v[nr / 2]) / 2 : NAN;
}

/* Takes away what hides others, each time with all figures anew. */
static void oracle_row(struct oracle *o, size_t row, size_t group)
{
	const double middle = median(o, row, group, NAN);
	const double deviation = 1.4826 * median(o, row, group, middle);
	size_t taken[MAX_MEMBERS], nr = 0, kept = 0, all = 0;

	for (size_t k = 0; k < o->d->nr_members; k++)
		all += o->d->group[k] == group && !isnan(o->d->value[row + k].y);
	while (nr < all / 2) {
		double least = INFINITY, p;
		size_t best = SIZE_MAX;

		for (size_t k = 0; k < o->d->nr_members; k++) {
			const struct outlier_value *v = &o->d->value[row + k];

			if (o->d->group[k] != group || isnan(v->y) ||
			    o->gone[row + k] ||
			    !(fabs(v->y - middle) >
			      2.5 * sqrt(deviation * deviation + v->variance)))
				continue;
			p = oracle_p(o, row + k);
			if (best == SIZE_MAX || p < least) {
				best = row + k;
				least = p;
			}
		}
		if (best == SIZE_MAX)
			break;
		if (least * (double)(o->d->nr_rows * o->d->nr_members) <= RATE)
			kept = nr + 1;
		taken[nr++] = best;
		o->gone[best] = true;
	}
	while (nr > kept)
		o->gone[taken[--nr]] = false;
}

static void oracle(struct oracle *o, const struct drawn *d, double *q)
{
	const size_t nr = d->nr_rows * d->nr_members;

	memset(o, 0, sizeof(*o));
	o->d = d;
	for (size_t row = 0; row < nr; row += d->nr_members) {
		for (size_t group = 0; group < 3; group++)
			oracle_row(o, row, group);
	}
	for (size_t i = 0; i < nr; i++)
		o->p[i] = oracle_p(o, i);
	for (size_t i = 0; i < nr; i++)
		q[i] = isnan(o->p[i]) ? NAN : oracle_q(o->p, nr, i);
}

START_TEST(figures_are_those_of_brute_force)
{
	uint64_t seed = unit_seed();
	size_t found = 0;

	for (int round = 0; round < 60; round++) {
		static struct drawn d;
		static struct oracle o;
		double q[MAX_ROWS * MAX_MEMBERS];

		draw(&seed, &d, 1 + unit_random(&seed) % 4,
		     3 + unit_random(&seed) % (MAX_MEMBERS - 3), round % 3 ? 0.2 : 0,
		     0.1);
		for (size_t k = 0; k < d.nr_members; k++)
			d.group[k] = unit_random(&seed) % (1 + (unsigned)round % 3);
		for (int n = 0; n < round % 4; n++)
			d.value[unit_random(&seed) % (d.nr_rows * d.nr_members)].y += 4;
		if (round % 5 == 0)
			d.value[unit_random(&seed) % (d.nr_rows * d.nr_members)].y =
				NAN;
		find(&d);
		oracle(&o, &d, q);
		for (size_t i = 0; i < d.nr_rows * d.nr_members; i++) {
			ck_assert_int_eq(isnan(d.out[i].p), isnan(o.p[i]));
			if (isnan(q[i]))
				continue;
			ck_assert_double_eq_tol(log(d.out[i].p + 1e-12),
						log(o.p[i] + 1e-12), 0.05);
			if (fabs(q[i] - RATE) > 0.005)
				ck_assert_int_eq(d.out[i].found, q[i] <= RATE);
			found += d.out[i].found;
		}
	}
	ck_assert_uint_gt(found, 40);
}
END_TEST

/* Without sampling's noise the test is that of externally studentized residuals. */
START_TEST(exact_values_give_students_test)
{
	uint64_t seed = unit_seed();
	static struct drawn d;

	draw(&seed, &d, 1, 10, 1, 1e-7);
	find(&d);
	for (size_t i = 0; i < 10; i++) {
		double sum = 0, squares = 0, t;

		for (size_t k = 0; k < 10; k++)
			sum += k == i ? 0 : d.value[k].y;
		for (size_t k = 0; k < 10; k++)
			squares += k == i ? 0 : pow(d.value[k].y - sum / 9, 2);
		t = fabs(d.value[i].y - sum / 9) / sqrt(squares / 8 * (1 + 1.0 / 9));
		ck_assert_double_eq_tol(d.out[i].p, 2 * student_above(t, 8), 0.01);
	}
}
END_TEST

static const struct {
	double between, sampling;
	size_t nr_members;
	int planted; /* in the first row */
} chances[] = {
	{ 0, 0.1, 8, 0 },     { 0.1, 0.1, 8, 0 },   { 0.3, 0.05, 20, 0 },
	{ 0.1, 0.05, 20, 1 }, { 0.1, 0.05, 20, 3 }, { 0.1, 0.05, 24, 6 },
};

/* Members that differ by chance are found no more often than the rate says. */
START_TEST(discoveries_are_rarely_false)
{
	enum { ROUNDS = 400 };
	const bool none = !chances[_i].planted;
	uint64_t seed = unit_seed() + (uint64_t)_i;
	double false_part = 0;
	size_t right = 0;

	for (int round = 0; round < ROUNDS; round++) {
		static struct drawn d;
		size_t wrong = 0, hits = 0;

		draw(&seed, &d, 6, chances[_i].nr_members, chances[_i].between,
		     chances[_i].sampling);
		for (int i = 0; i < chances[_i].planted; i++)
			d.value[i].y += 1.5;
		find(&d);
		for (size_t i = 0; i < d.nr_rows * d.nr_members; i++) {
			const bool is = i < (size_t)chances[_i].planted;

			hits += d.out[i].found && is;
			wrong += d.out[i].found && !is;
		}
		right += hits;
		if (wrong)
			false_part += (double)wrong / (double)(wrong + hits);
	}
	/* Three standard errors of a share of 0.05 are 0.033. */
	ck_assert_double_le(false_part / ROUNDS, RATE + 0.033);
	if (!none)
		ck_assert_uint_ge(right,
				  (size_t)chances[_i].planted * ROUNDS * 95 / 100);
}
END_TEST

START_TEST(few_peers_are_not_tested)
{
	uint64_t seed = unit_seed();
	static struct drawn d;

	draw(&seed, &d, 1, OUTLIERS_MIN_PEERS, 0.1, 0.1);
	d.value[0].y += 100;
	find(&d);
	for (size_t i = 0; i < OUTLIERS_MIN_PEERS; i++) {
		ck_assert(isnan(d.out[i].p) && isnan(d.out[i].q));
		ck_assert(!d.out[i].found);
	}
	d.nr_rows = 0;
	find(&d);
}
END_TEST

static Suite *outliers_suite(void)
{
	Suite *s = suite_create("outliers");
	TCase *t = tcase_create("outliers");

	tcase_add_test(t, figures_are_those_of_brute_force);
	tcase_add_test(t, exact_values_give_students_test);
	tcase_add_loop_test(t, discoveries_are_rarely_false, 0,
			    sizeof(chances) / sizeof(chances[0]));
	tcase_add_test(t, few_peers_are_not_tested);
	tcase_set_timeout(t, 60);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(outliers_suite)
