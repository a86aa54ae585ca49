/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs are drawn: counts are Poisson's around rates that vary from run to run, rows by
 * different amounts, and with tails heavier than normal ones.
 */
#include "config.h"

#include "analysis/compare/compare.h"

#include <math.h>
#include <string.h>

#include "analysis/compare/compare_parts.h"
#include "analysis/compare/compare_prior.h"
#include "t/unit/random.h"
#include "t/unit/unit.h"

#define MAX_RUNS 160
#define NR_ROWS  40
#define SAMPLE   1e6 /* ns */

struct drawn {
	struct compare_run run[MAX_RUNS];
	size_t nr_runs;
	double time[NR_ROWS * MAX_RUNS];
	double within[NR_ROWS * MAX_RUNS];
	struct compare_input in;
};

/* What is drawn. */
struct shape {
	size_t a, b, earlier;
	double samples;  /* of a run */
	double cv;       /* of most rows */
	double wild;     /* of each eighth row */
	double planted;  /* growth of row 2 in the runs of B */
	bool heavy;      /* t with 4 degrees of freedom, not normal */
	double together; /* of the two busiest rows, of both by the same */
	size_t rows;     /* the first ones; 0: all */
	double bursts;   /* of every row with an odd number */
};

static double noise(uint64_t *state, bool heavy)
{
	double squares = 0;

	if (!heavy)
		return random_normal(state);
	for (int i = 0; i < 4; i++) {
		const double x = random_normal(state);

		squares += x * x / 4;
	}
	return random_normal(state) / sqrt(2 * squares);
}

/* Shares fall off geometrically: row 2 has a tenth of all. */
static void draw(uint64_t *state, const struct shape *shape, struct drawn *d)
{
	double share[NR_ROWS], sum = 0, together[MAX_RUNS];

	d->nr_runs = shape->a + shape->b + shape->earlier;
	for (size_t i = 0; i < d->nr_runs; i++) {
		d->run[i] =
			(struct compare_run){ i < shape->a ? COMPARE_A
					      : i < shape->a + shape->b
						      ? COMPARE_B
						      : COMPARE_EARLIER,
					      1 + random_uniform(state), SAMPLE, 1, 1 };
		together[i] =
			shape->together ? shape->together * random_normal(state) : 0;
	}
	for (size_t row = 0; row < NR_ROWS; row++)
		sum += share[row] = pow(0.85, (double)row);
	for (size_t row = 0; row < NR_ROWS; row++) {
		const double cv = row % 2 && shape->bursts ? shape->bursts
				  : row % 8 == 5           ? shape->wild
							   : shape->cv;

		for (size_t i = 0; i < d->nr_runs; i++) {
			double mean = shape->samples * d->run[i].seconds * share[row] /
				      sum * exp(cv * noise(state, shape->heavy));

			if (row == 2 && d->run[i].side == COMPARE_B)
				mean *= 1 + shape->planted;
			if (row < 2)
				mean *= exp(together[i]);
			d->time[row * d->nr_runs + i] =
				SAMPLE * random_poisson(state, mean);
		}
	}
	d->in = (struct compare_input){ .run = d->run,
					.nr_runs = d->nr_runs,
					.time = d->time,
					.nr_rows = shape->rows ? shape->rows : NR_ROWS,
					.rate = 0.05 };
}

/* How many of so many comparisons find anything; *right: row 2 with the least p. */
static int count_findings(uint64_t *state, const struct shape *shape, int nr,
			  int *right)
{
	struct drawn d;
	struct compare c;
	int found = 0;

	*right = 0;
	for (int i = 0; i < nr; i++) {
		bool first = true;

		draw(state, shape, &d);
		ck_assert_int_eq(compare_runs(&d.in, &c), 0);
		found += c.nr_found > 0;
		for (size_t row = 0; row < d.in.nr_rows; row++)
			first &= !(c.row[row].p < c.row[2].p);
		*right += c.row[2].found && first;
		compare_fini(&c);
	}
	return found;
}

#define NR_NULL 100
/* One in twenty is 5 of 100; 16 and more come once in 27,000 times. */
#define MOST_NULL 15

/* The quick tests have the first ones. */
static const struct shape nulls[] = {
	{ 3, 3, 0, 4000, 0.03, 0.2, 0, true, 0, 0, 0 },
	{ 1, 1, 8, 4000, 0.02, 0.1, 0, false, 0, 0, 0 },
	{ 3, 3, 0, 60000, 0.01, 0.03, 0, false, 0.1, 7, 0 },
	{ 5, 4, 0, 20000, 0.03, 0, 0, true, 0, 0, 1.5 },
	{ 3, 3, 0, 4000, 0, 0, 0, false, 0, 0, 0 },
	{ 3, 3, 0, 4000, 0.03, 0.03, 0, false, 0, 0, 0 },
	{ 3, 3, 0, 4000, 0.02, 0.3, 0, false, 0, 0, 0 },
	{ 4, 3, 0, 20000, 0.01, 0.1, 0, false, 0, 0, 0 },
	{ 5, 5, 0, 4000, 0.02, 0.2, 0, true, 0, 0, 0 },
	{ 10, 10, 0, 10000, 0.01, 0.1, 0, true, 0, 0, 0 },
	{ 2, 2, 6, 4000, 0.03, 0.2, 0, true, 0, 0, 0 },
	{ 10, 10, 0, 60000, 0.005, 0.03, 0, false, 0.1, 7, 0 },
	{ 5, 5, 0, 20000, 0.01, 0.03, 0, true, 0.1, 0, 0 },
	{ 3, 3, 0, 20000, 0.03, 0, 0, false, 0, 0, 1.5 },
	{ 10, 10, 0, 20000, 0.03, 0, 0, false, 0, 0, 3 },
	{ 5, 5, 0, 20000, 0.1, 0, 0, true, 0.3, 0, 1 },
};

START_TEST(equal_runs_seldom_differ)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	int right, found = count_findings(&state, &nulls[_i], NR_NULL, &right);

	ck_assert_msg(found <= MOST_NULL, "seed %llu: %d of %d",
		      (unsigned long long)seed, found, NR_NULL);
}
END_TEST

#define NR_PLANTED 100

/*
 * Growth, and of NR_PLANTED comparisons those that must find it, the right row first:
 * 90 and more do on average; fewer than this come by chance once in 76,000 times.
 */
static const struct {
	struct shape shape;
	int least;
} planted[] = {
	{ { 1, 1, 10, 20000, 0.01, 0.02, 0.2, false, 0, 0, 0 }, 76 },
	{ { 5, 4, 0, 20000, 0.05, 0, 1, true, 0, 0, 2 }, 76 },
	{ { 10, 10, 0, 120000, 0.01, 0.02, 0.03, false, 0, 0, 0 }, 76 },
	{ { 3, 3, 0, 20000, 0.01, 0.01, 0.2, false, 0, 0, 0 }, 76 },
	{ { 5, 5, 0, 20000, 0.02, 0.02, -0.2, false, 0, 0, 0 }, 76 },
	{ { 10, 10, 0, 60000, 0.005, 0.03, 0.03, false, 0.1, 7, 0 }, 76 },
	{ { 5, 4, 0, 20000, 0.03, 0, 1, false, 0, 0, 1.5 }, 76 },
};

START_TEST(growth_is_found)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	int right;

	count_findings(&state, &planted[_i].shape, NR_PLANTED, &right);
	ck_assert_msg(right >= planted[_i].least, "seed %llu: %d of %d",
		      (unsigned long long)seed, right, NR_PLANTED);
}
END_TEST

/*
 * Nine minutes of a service between other programs: its hash does twice as much per run
 * in the last four, and each run waits a little longer for memory, so that there are
 * fewer. Compared by itself or among rows that come and go, only hash has changed.
 */
START_TEST(two_rows_apart_do_not_change_the_others)
{
	static const double service[][9] = {
		{ 2392, 2567, 2271, 2023, 1976, 3402, 3390, 2949, 3737 }, /* hash */
		{ 2405, 2420, 2172, 1938, 1949, 1642, 1594, 1457, 1767 }, /* mean */
		{ 2443, 2588, 2432, 2138, 2457, 2097, 1954, 1793, 2227 }, /* chase */
		{ 303, 299, 315, 234, 257, 203, 203, 205, 247 },          /* copy */
		{ 128, 117, 127, 89, 98, 76, 122, 70, 74 },               /* main */
	};
	const size_t nr_own = sizeof(service) / sizeof(service[0]);
	uint64_t state = unit_seed() | 1;
	struct drawn d = { .nr_runs = 9 };
	struct compare c;

	for (size_t i = 0; i < 9; i++)
		d.run[i] = (struct compare_run){ i < 5 ? COMPARE_A : COMPARE_B, 60,
						 3.6e6, 1, 1 };
	for (size_t i = 0; i < 9 * NR_ROWS; i++)
		d.time[i] = i < 9 * nr_own ? 1e6 * service[i / 9][i % 9]
					   : 5e8 * exp(2 * random_normal(&state));
	d.in = (struct compare_input){ .run = d.run,
				       .nr_runs = 9,
				       .time = d.time,
				       .nr_rows = _i ? NR_ROWS : nr_own,
				       .rate = 0.05 };
	ck_assert_int_eq(compare_runs(&d.in, &c), 0);
	ck_assert_msg(c.row[0].found && c.row[0].low > log(1.5), "q %g, from %g",
		      c.row[0].q, c.row[0].low);
	for (size_t row = 1; row < nr_own; row++)
		ck_assert_msg(!c.row[row].found, "row %zu: q %g", row, c.row[row].q);
	compare_fini(&c);
}
END_TEST

/* Half of the rows are steady, half vary by ten times as much. */
START_TEST(a_prior_may_have_two_peaks)
{
	static double variance[400], df[400];
	double weight[COMPARE_PRIOR_SIZE], low = 0, mean[2] = { 0 };
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	struct compare_prior p;

	for (size_t i = 0; i < 400; i++) {
		df[i] = 3 + i % 5;
		variance[i] = 0;
		for (int k = 0; k < df[i]; k++) {
			const double x = random_normal(&state) * (i % 2 ? 10 : 1);

			variance[i] += x * x / df[i];
		}
	}
	ck_assert_int_eq(compare_prior_fit(variance, df, 400, &p), 0);
	for (size_t k = 0; k < p.nr; k++)
		low += p.scale[k] < 10 ? p.weight[k] : 0;
	ck_assert_msg(low > 0.42 && low < 0.58, "seed %llu: %g",
		      (unsigned long long)seed, low);
	for (int i = 0; i < 2; i++) {
		compare_prior_posterior(&p, i ? 100 : 1, 4, weight);
		for (size_t k = 0; k < p.nr; k++)
			mean[i] += weight[k] * p.scale[k];
	}
	ck_assert_msg(mean[0] < 3 && mean[1] > 50 && mean[1] < 200, "seed %llu: %g, %g",
		      (unsigned long long)seed, mean[0], mean[1]);
}
END_TEST

/* Bayes' rule, with the density of chi-squared written out. */
START_TEST(a_posterior_is_prior_times_density)
{
	uint64_t seed = unit_seed(), state = seed | 1;

	for (int i = 0; i < 200; i++) {
		struct compare_prior p = { .nr = COMPARE_PRIOR_SIZE };
		const double s2 = exp(random_normal(&state)), df = i % 9;
		double weight[COMPARE_PRIOR_SIZE], want[COMPARE_PRIOR_SIZE], sum = 0;

		for (size_t k = 0; k < p.nr; k++) {
			const double scale = exp(2 * random_normal(&state));
			const double x = df * s2 / scale;

			p.scale[k] = scale;
			p.weight[k] = random_uniform(&state);
			want[k] = p.weight[k];
			if (df > 0)
				want[k] *= pow(x, df / 2 - 1) * exp(-x / 2) / scale;
			sum += want[k];
		}
		compare_prior_posterior(&p, s2, df, weight);
		for (size_t k = 0; k < p.nr; k++)
			ck_assert_msg(fabs(weight[k] - want[k] / sum) < 1e-9,
				      "seed %llu, case %d", (unsigned long long)seed,
				      i);
	}
}
END_TEST

/* An interval of 95% holds the truth in 95 of 100 rows, or more: it is careful. */
START_TEST(intervals_hold_the_truth)
{
	static const struct shape shape = { 5,   5,     0, 20000, 0.03, 0.03,
					    0.1, false, 0, 0,     0 };
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	int held = 0, nr = 0;
	struct drawn d;
	struct compare c;

	for (int i = 0; i < 100; i++) {
		draw(&state, &shape, &d);
		ck_assert_int_eq(compare_runs(&d.in, &c), 0);
		for (size_t row = 0; row < 10; row++) {
			const double truth = row == 2 ? log(1.1) : 0;

			held += c.row[row].low <= truth && truth <= c.row[row].high;
			nr++;
		}
		compare_fini(&c);
	}
	ck_assert_msg(held >= 0.93 * nr, "seed %llu: %d of %d",
		      (unsigned long long)seed, held, nr);
}
END_TEST

/* One row doubles, and with it the total; the others' time stays what it is. */
START_TEST(one_row_moves_no_other)
{
	static const struct shape shape = { 3, 3, 0, 1e5, 0, 0, 1, false, 0, 0, 0 };
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	struct drawn d;
	struct compare c;

	draw(&state, &shape, &d);
	ck_assert_int_eq(compare_runs(&d.in, &c), 0);
	ck_assert(c.by_median);
	for (size_t row = 0; row < 10; row++)
		ck_assert_msg(fabs(c.row[row].change - (row == 2 ? log(2) : 0)) < 0.05,
			      "seed %llu, row %zu: %g", (unsigned long long)seed, row,
			      c.row[row].change);
	compare_fini(&c);
}
END_TEST

/* Without a third run nobody knows what runs differ by. */
static const struct {
	struct shape shape;
	enum compare_basis basis;
} bases[] = {
	{ { 1, 1, 0, 1000, 0, 0, 5, false, 0, 0, 0 }, COMPARE_SAMPLING },
	{ { 2, 9, 0, 1000, 0, 0, 5, false, 0, 0, 0 }, COMPARE_SAMPLING },
	{ { 1, 1, 2, 1000, 0, 0, 5, false, 0, 0, 0 }, COMPARE_SAMPLING },
	{ { 1, 1, 3, 1000, 0, 0, 5, false, 0, 0, 0 }, COMPARE_HISTORY },
	{ { 3, 3, 0, 1000, 0, 0, 5, false, 0, 0, 0 }, COMPARE_RUNS },
};

START_TEST(few_runs_have_no_significance)
{
	uint64_t state = unit_seed() | 1;
	struct drawn d;
	struct compare c;

	draw(&state, &bases[_i].shape, &d);
	ck_assert_int_eq(compare_runs(&d.in, &c), 0);
	ck_assert_int_eq(c.basis, bases[_i].basis);
	ck_assert_int_eq(isnan(c.row[2].p), c.basis == COMPARE_SAMPLING);
	ck_assert(c.row[2].low > 0);
	compare_fini(&c);
}
END_TEST

START_TEST(what_is_below_the_threshold_is_none)
{
	static const struct shape shape = { 5,    5,     0, 1e6, 0.001, 0.001,
					    0.03, false, 0, 0,   0 };
	uint64_t state = unit_seed() | 1;
	struct drawn d;
	struct compare c;

	draw(&state, &shape, &d);
	ck_assert_int_eq(compare_runs(&d.in, &c), 0);
	ck_assert(c.row[2].found);
	compare_fini(&c);
	d.in.threshold = log(1.05);
	ck_assert_int_eq(compare_runs(&d.in, &c), 0);
	ck_assert(!c.row[2].found);
	compare_fini(&c);
}
END_TEST

/* Rows without any samples, on one side or both; and no row at all. */
START_TEST(nothing_is_no_error)
{
	static const struct shape shape = { 3, 3, 0, 1000, 0, 0, 0, false, 0, 0, 0 };
	uint64_t state = unit_seed() | 1;
	struct drawn d;
	struct compare c;

	draw(&state, &shape, &d);
	memset(d.time, 0, 3 * sizeof(d.time[0]));
	memset(d.time + 6, 0, 6 * sizeof(d.time[0]));
	ck_assert_int_eq(compare_runs(&d.in, &c), 0);
	ck_assert(c.row[0].change > 3 && isfinite(c.row[0].change));
	ck_assert(!c.row[1].tested && fabs(c.row[1].change) < 1);
	compare_fini(&c);
	d.in.nr_rows = 0;
	ck_assert_int_eq(compare_runs(&d.in, &c), 0);
	ck_assert(!c.by_median && !c.nr_tested);
	compare_fini(&c);
}
END_TEST

/* Adds up each so many runs of a side, as a roll-up does. */
static void roll_up(const struct drawn *d, size_t each, struct drawn *out)
{
	struct compare_sums sums[NR_ROWS];
	struct compare_parts parts;

	out->nr_runs = d->nr_runs / each;
	for (size_t day = 0; day < out->nr_runs; day++) {
		memset(sums, 0, sizeof(sums));
		memset(&parts, 0, sizeof(parts));
		out->run[day] = d->run[day * each];
		out->run[day].seconds = 0;
		for (size_t i = day * each; i < (day + 1) * each; i++) {
			double all = 0;

			for (size_t row = 0; row < NR_ROWS; row++)
				all += d->time[row * d->nr_runs + i];
			for (size_t row = 0; row < NR_ROWS; row++) {
				const double x = d->time[row * d->nr_runs + i];

				sums[row].time += x;
				sums[row].squares += x * x;
				sums[row].cross += x * all;
			}
			compare_parts_add(&parts, all);
			out->run[day].seconds += d->run[i].seconds;
		}
		out->run[day].squares = compare_parts_squares(&parts);
		out->run[day].cubes = compare_parts_cubes(&parts);
		for (size_t row = 0; row < NR_ROWS; row++) {
			out->time[row * out->nr_runs + day] = sums[row].time;
			out->within[row * out->nr_runs + day] =
				compare_parts_within(&parts, &sums[row]);
		}
	}
	out->in = d->in;
	out->in.run = out->run;
	out->in.nr_runs = out->nr_runs;
	out->in.time = out->time;
	out->in.within = out->within;
}

START_TEST(sums_tell_of_the_parts_what_looking_at_each_does)
{
	uint64_t seed = unit_seed(), state = seed | 1;

	for (int i = 0; i < 200; i++) {
		const int nr = 1 + i % 30;
		struct compare_parts parts = { 0 };
		struct compare_sums sums = { 0 };
		double x[30], t[30], within = 0, squares = 0, cubes = 0;

		for (int k = 0; k < nr; k++) {
			t[k] = 1e12 * (0.1 + random_uniform(&state));
			x[k] = t[k] * random_uniform(&state) * (i % 2 ? 1e-3 : 1);
			compare_parts_add(&parts, t[k]);
			sums.time += x[k];
			sums.squares += x[k] * x[k];
			sums.cross += x[k] * t[k];
		}
		for (int k = 0; k < nr; k++) {
			within += pow(x[k] / sums.time - t[k] / parts.time, 2);
			squares += pow(t[k] / parts.time, 2);
			cubes += pow(t[k] / parts.time, 3);
		}
		ck_assert_msg(
			fabs(compare_parts_within(&parts, &sums) - within) < 1e-12 &&
				fabs(compare_parts_squares(&parts) - squares) < 1e-12 &&
				fabs(compare_parts_cubes(&parts) - cubes) < 1e-12,
			"seed %llu, case %d", (unsigned long long)seed, i);
	}
}
END_TEST

static const struct {
	double times[3];
	struct compare_sums sums;
} damaged[] = {
	{ { 0, 0, 0 }, { 1, 1, 1 } },           { { 1, 1, 1 }, { 0, 0, 0 } },
	{ { 1, 2, 1 }, { -1, 1, 1 } },          { { 1, 1, 1 }, { 3, 1e300, 1e300 } },
	{ { NAN, -1, INFINITY }, { 1, 1, 1 } }, { { 1, 1, 1 }, { NAN, 1, 1 } },
	{ { 1, 1, 1 }, { 3, 3, 3e300 } },       { { 1, 1, 1 }, { 3, INFINITY, 3 } },
};

START_TEST(damaged_sums_are_not_believed)
{
	struct compare_parts parts = { 0 };
	double within;

	for (int i = 0; i < 3; i++)
		compare_parts_add(&parts, damaged[_i].times[i]);
	within = compare_parts_within(&parts, &damaged[_i].sums);
	ck_assert(isnan(within) || (within >= 0 && isfinite(within)));
	ck_assert(compare_parts_squares(&parts) > 0 &&
		  compare_parts_squares(&parts) <= 1);
}
END_TEST

/* Sides, and the earlier ones, in hours. */
static const struct shape weeks[] = {
	{ 48, 48, 0, 20000, 0.01, 0.02, 0, false, 0, 0, 0 },
	{ 48, 48, 0, 20000, 0.01, 0.02, 0.1, false, 0, 0, 0 },
	{ 48, 48, 0, 20000, 0.05, 0.1, 0.3, false, 0, 0, 0 },
	{ 24, 24, 0, 100000, 0, 0, -0.1, false, 0, 0, 0 },
	{ 24, 24, 72, 20000, 0.02, 0.1, 0.15, false, 0, 0, 0 },
};

/* What is planted is found either way, as large and about as certain: which rows tell
 * the runs' sizes may differ. */
START_TEST(days_tell_what_their_hours_did)
{
	const uint64_t seed = getenv("SEED") ? unit_seed() : 1;
	uint64_t state = seed | 1;
	int agree = 0, nr = 0;

	for (int i = 0; i < 10; i++) {
		static struct drawn hours, days;
		struct compare before, after;

		draw(&state, &weeks[_i], &hours);
		roll_up(&hours, 24, &days);
		ck_assert_int_eq(compare_runs(&hours.in, &before), 0);
		ck_assert_int_eq(compare_runs(&days.in, &after), 0);
		ck_assert_int_eq(after.basis, before.basis);
		for (size_t row = 0; row < 10; row++) {
			const struct compare_row *a = &before.row[row];
			const struct compare_row *b = &after.row[row];
			const double size = (a->high - a->low) / 2;

			agree += a->found == b->found;
			nr++;
			ck_assert_msg(fabs(a->change - b->change) < 1.5 * size &&
					      fabs((b->high - b->low) / 2 - size) <
						      0.5 * size,
				      "seed %llu, row %zu: %g [%g %g], %g [%g %g]",
				      (unsigned long long)seed, row, a->change, a->low,
				      a->high, b->change, b->low, b->high);
		}
		if (fabs(weeks[_i].planted) > 0)
			ck_assert(before.row[2].found && after.row[2].found);
		compare_fini(&before);
		compare_fini(&after);
	}
	ck_assert_msg(agree >= nr - 4, "seed %llu: %d of %d", (unsigned long long)seed,
		      agree, nr);
}
END_TEST

static const struct shape rolled_nulls[] = {
	{ 24, 24, 0, 4000, 0.02, 0.1, 0, false, 0, 0, 0 },
	{ 48, 48, 0, 4000, 0.03, 0.1, 0, true, 0, 0, 0 },
	{ 24, 24, 24, 4000, 0, 0, 0, false, 0, 0, 0 },
};

START_TEST(equal_days_seldom_differ)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	int found = 0;

	for (int i = 0; i < NR_NULL; i++) {
		static struct drawn hours, days;
		struct compare c;

		draw(&state, &rolled_nulls[_i], &hours);
		roll_up(&hours, 24, &days);
		ck_assert_int_eq(compare_runs(&days.in, &c), 0);
		ck_assert_uint_gt(c.nr_tested, 10);
		found += c.nr_found > 0;
		compare_fini(&c);
	}
	ck_assert_msg(found <= MOST_NULL, "seed %llu: %d of %d",
		      (unsigned long long)seed, found, NR_NULL);
}
END_TEST

/* A day without spreads, and one hour of another, say nothing of what hours differ by.
 */
START_TEST(rows_without_a_spread_have_no_p_of_one_day)
{
	static const struct shape shape = { 24,  24,    0, 20000, 0.02, 0.02,
					    0.5, false, 0, 0,     0 };
	static struct drawn hours, days;
	uint64_t state = unit_seed() | 1;
	struct compare c;

	draw(&state, &shape, &hours);
	roll_up(&hours, 24, &days);
	days.within[2 * days.nr_runs] = days.within[2 * days.nr_runs + 1] = NAN;
	ck_assert_int_eq(compare_runs(&days.in, &c), 0);
	ck_assert(!c.row[2].tested && isnan(c.row[2].p) && c.row[1].tested);
	ck_assert(c.row[2].low < c.row[2].change && c.row[2].change < c.row[2].high);
	compare_fini(&c);
	days.in.within = NULL;
	ck_assert_int_eq(compare_runs(&days.in, &c), 0);
	ck_assert_int_eq(c.basis, COMPARE_SAMPLING);
	compare_fini(&c);
}
END_TEST

static Suite *compare_suite(void)
{
	Suite *s = suite_create("compare");
	TCase *t = tcase_create("compare");

	tcase_set_timeout(t, 600);
	tcase_add_loop_test(t, equal_runs_seldom_differ, 0, unit_rounds(4, NR(nulls)));
	tcase_add_loop_test(t, growth_is_found, 0, unit_rounds(2, NR(planted)));
	tcase_add_test(t, intervals_hold_the_truth);
	tcase_add_test(t, one_row_moves_no_other);
	tcase_add_loop_test(t, two_rows_apart_do_not_change_the_others, 0, 2);
	tcase_add_test(t, a_prior_may_have_two_peaks);
	tcase_add_test(t, a_posterior_is_prior_times_density);
	tcase_add_loop_test(t, few_runs_have_no_significance, 0, NR(bases));
	tcase_add_test(t, what_is_below_the_threshold_is_none);
	tcase_add_test(t, nothing_is_no_error);
	tcase_add_test(t, sums_tell_of_the_parts_what_looking_at_each_does);
	tcase_add_loop_test(t, damaged_sums_are_not_believed, 0, NR(damaged));
	tcase_add_loop_test(t, days_tell_what_their_hours_did, 0, NR(weeks));
	tcase_add_loop_test(t, equal_days_seldom_differ, 0,
			    unit_rounds(1, NR(rolled_nulls)));
	tcase_add_test(t, rows_without_a_spread_have_no_p_of_one_day);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(compare_suite)
