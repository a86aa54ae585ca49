/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unknowns d are logarithms. The prior of each is its guess, with the deviation
 * sqrt(sd² + 1/samples). Each callee g with enough observed entries gives an equation
 *
 *	log Σ calls e^d[caller] = log entries + d[g]
 *
 * with a deviation that follows from the number of observed entries. An equation with a
 * large error counts less, because some calls may be unknown. The equations are
 * linearised at d and solved by least squares, with conjugate gradients and without
 * forming the normal equations. This is repeated ROUNDS times.
 */
#include "config.h"

#include "analysis/math/callscale.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define ROUNDS   12
#define FEW      8    /* the same, if a rough result is enough */
#define STEP     0.8  /* of the way to the solution, each round */
#define FARTHEST 1.0  /* ... which is not farther than this */
#define CALLS    0.05 /* deviation of a row, however often it was seen */
#define MORE     0.5  /* is added to numbers of samples and windows: 0 is possible */

#define MOST_STEPS 300   /* of conjugate gradients */
#define EXACT      1e-20 /* the residual, squared, relative to the first */
#define ROUGH      1e-6

/* Σ share d[caller] - d[callee] = right; calls [first, end) are its. */
struct scale_row {
	size_t first, end;
	int callee;
	double right, weight; /* weight is 1 / variance */
};

struct callscale_solver {
	const struct callscale_prior *given;
	const struct callscale_procedure *procedure;
	const struct callscale_call *call;
	int nr;
	size_t nr_calls;
	struct scale_row *row;
	size_t nr_rows;
	double *share; /* by call */
	double *prior; /* by procedure: 1 / variance ... */
	double *mean;  /* ... of what is known before any row */
	double *d;
	double *x, *r, *z, *p, *q, *diagonal;
};

static bool is_amount(double x)
{
	return x >= 0 && isfinite(x);
}

static int check_input(const struct callscale_solver *s)
{
	bool right = true;

	for (int i = 0; i < s->nr; i++)
		right &= is_amount(s->procedure[i].samples) &&
			 is_amount(s->procedure[i].entries) &&
			 is_amount(s->procedure[i].seen) &&
			 isfinite(s->procedure[i].guess);
	for (size_t i = 0; i < s->nr_calls; i++) {
		const struct callscale_call *c = &s->call[i];

		right &= is_amount(c->calls) && c->caller >= 0 && c->caller < s->nr &&
			 c->callee >= 0 && c->callee < s->nr;
	}
	return right ? 0 : -EINVAL;
}

static int compare_calls(const void *va, const void *vb)
{
	const struct callscale_call *a = va, *b = vb;

	if (a->callee != b->callee)
		return (a->callee > b->callee) - (a->callee < b->callee);
	return (a->caller > b->caller) - (a->caller < b->caller);
}

static int allocate(struct callscale_solver *s, struct arena *arena)
{
	double **const vector[] = { &s->prior, &s->mean, &s->d, &s->x,       &s->r,
				    &s->z,     &s->p,    &s->q, &s->diagonal };

	for (size_t i = 0; i < sizeof(vector) / sizeof(vector[0]); i++) {
		*vector[i] = arena_array(arena, s->nr, sizeof(double));
		if (!*vector[i])
			return -ENOMEM;
	}
	s->share = arena_array(arena, s->nr_calls, sizeof(*s->share));
	s->row = arena_array(arena, s->nr, sizeof(*s->row));
	return s->share && s->row ? 0 : -ENOMEM;
}

static void set_prior(struct callscale_solver *s, int i)
{
	const struct callscale_procedure *p = &s->procedure[i];
	const double variance = s->given->sd * s->given->sd + 1 / (p->samples + MORE);

	s->prior[i] = 1 / variance;
	s->d[i] = s->mean[i] = p->guess;
}

static void make_rows(struct callscale_solver *s)
{
	size_t end;

	for (size_t i = 0; i < s->nr_calls; i = end) {
		const int callee = s->call[i].callee;
		const struct callscale_procedure *g = &s->procedure[callee];
		double sum = 0;

		for (end = i; end < s->nr_calls && s->call[end].callee == callee; end++)
			sum += s->call[end].calls;
		if (sum > 0 && g->entries > 0 && g->seen >= s->given->entries)
			s->row[s->nr_rows++] =
				(struct scale_row){ i, end, callee, 0, 0 };
	}
}

/* Makes a row linear where d is. */
static void set_row(struct callscale_solver *s, struct scale_row *row)
{
	const struct callscale_procedure *g = &s->procedure[row->callee];
	const double deviation = sqrt(CALLS * CALLS + 1 / (g->seen + MORE));
	double sum = 0, off, far;

	for (size_t i = row->first; i < row->end; i++) {
		s->share[i] = s->call[i].calls * exp(s->d[s->call[i].caller]);
		sum += s->share[i];
	}
	off = log(sum) - log(g->entries) - s->d[row->callee];
	far = off / (3 * deviation + 0.3);
	row->weight = 1 / (deviation * deviation * (1 + far * far));
	row->right = -off - s->d[row->callee];
	for (size_t i = row->first; i < row->end; i++) {
		s->share[i] /= sum;
		row->right += s->share[i] * s->d[s->call[i].caller];
	}
}

/* Adds a row, times a factor, to a vector. */
static void add_row(const struct callscale_solver *s, const struct scale_row *row,
		    double factor, double *out)
{
	for (size_t i = row->first; i < row->end; i++)
		out[s->call[i].caller] += factor * s->share[i];
	out[row->callee] -= factor;
}

static double times_row(const struct callscale_solver *s, const struct scale_row *row,
			const double *x)
{
	double sum = -x[row->callee];

	for (size_t i = row->first; i < row->end; i++)
		sum += s->share[i] * x[s->call[i].caller];
	return sum;
}

/* What conjugate gradients divide by: the diagonal, nearly, but never less. */
static void set_diagonal(struct callscale_solver *s)
{
	for (int i = 0; i < s->nr; i++)
		s->diagonal[i] = s->prior[i];
	for (size_t k = 0; k < s->nr_rows; k++) {
		const struct scale_row *row = &s->row[k];

		for (size_t i = row->first; i < row->end; i++)
			s->diagonal[s->call[i].caller] +=
				row->weight * s->share[i] * s->share[i];
		s->diagonal[row->callee] += row->weight;
	}
}

/* The normal equations' matrix, times x. */
static void times_matrix(const struct callscale_solver *s, const double *x, double *out)
{
	for (int i = 0; i < s->nr; i++)
		out[i] = s->prior[i] * x[i];
	for (size_t k = 0; k < s->nr_rows; k++)
		add_row(s, &s->row[k], s->row[k].weight * times_row(s, &s->row[k], x),
			out);
}

static double product(const struct callscale_solver *s, const double *a,
		      const double *b)
{
	double sum = 0;

	for (int i = 0; i < s->nr; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Begins at x = d. */
static void begin_gradients(struct callscale_solver *s)
{
	for (int i = 0; i < s->nr; i++)
		s->x[i] = s->d[i];
	times_matrix(s, s->x, s->r);
	for (int i = 0; i < s->nr; i++)
		s->r[i] = s->prior[i] * s->mean[i] - s->r[i];
	for (size_t k = 0; k < s->nr_rows; k++)
		add_row(s, &s->row[k], s->row[k].weight * s->row[k].right, s->r);
	for (int i = 0; i < s->nr; i++)
		s->p[i] = s->z[i] = s->r[i] / s->diagonal[i];
}

static void solve_gradients(struct callscale_solver *s)
{
	const double enough = s->given->rough ? ROUGH : EXACT;
	double rz, first;

	set_diagonal(s);
	begin_gradients(s);
	first = rz = product(s, s->r, s->z);
	for (int step = 0; step < MOST_STEPS && rz > first * enough; step++) {
		const double before = rz;
		double along;

		times_matrix(s, s->p, s->q);
		along = rz / product(s, s->p, s->q);
		for (int i = 0; i < s->nr; i++) {
			s->x[i] += along * s->p[i];
			s->r[i] -= along * s->q[i];
			s->z[i] = s->r[i] / s->diagonal[i];
		}
		rz = product(s, s->r, s->z);
		for (int i = 0; i < s->nr; i++)
			s->p[i] = s->z[i] + rz / before * s->p[i];
	}
}

static void move_factors(struct callscale_solver *s)
{
	for (int i = 0; i < s->nr; i++)
		s->d[i] += STEP * fmin(fmax(s->x[i] - s->d[i], -FARTHEST), FARTHEST);
}

int callscale_find(const struct callscale_prior *prior,
		   const struct callscale_procedure *procedure, int nr,
		   struct callscale_call *call, size_t nr_calls, struct arena *arena,
		   double **log_factor)
{
	struct callscale_solver s = { .given = prior,
				      .procedure = procedure,
				      .call = call,
				      .nr = nr,
				      .nr_calls = nr_calls };
	const int rounds = prior->rough ? FEW : ROUNDS;
	int err = check_input(&s);

	if (!err)
		err = allocate(&s, arena);
	if (err)
		return err;
	if (nr_calls)
		qsort(call, nr_calls, sizeof(*call), compare_calls);
	for (int i = 0; i < nr; i++)
		set_prior(&s, i);
	make_rows(&s);
	for (int round = 0; round < rounds && s.nr_rows; round++) {
		for (size_t k = 0; k < s.nr_rows; k++)
			set_row(&s, &s.row[k]);
		solve_gradients(&s);
		move_factors(&s);
	}
	*log_factor = s.d;
	return 0;
}
