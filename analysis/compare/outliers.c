/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outliers.c - leaves each member out, and tests it against the others
 *
 * The variance t between peers solves Σ (y - m)² / (t + v) = n - 1 with the mean m
 * weighted by 1 / (t + v). The left side falls as t grows. For a group's row three sums
 * at each t of a grid give it without any one member, so that a row costs members times
 * grid; between two t of the grid the logarithms are joined by a line.
 *
 * Deviation: t is never below 0, so values that scatter less than sampling explains are
 * tested by sampling's variance. That loses power, and no error.
 */
#include "config.h"

#include "analysis/compare/outliers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/math/distribution.h"

#define NR_GRID 160    /* the first one is 0 */
#define LEAST   1e-10  /* of the greatest variance that may be */
#define NORMAL  1.4826 /* a normal distribution's deviation over its median one */
#define FAR     2.5

struct sums {
	double w, wy, wyy; /* Σ w, Σ w y, Σ w y² */
};

/* A row of one group; values count from their median. */
struct outlier_row {
	const struct outlier_value *value;
	const size_t *member; /* of the group */
	size_t nr;
	bool *gone;   /* by member: no peer */
	double *room; /* nr */
	size_t *suspect, nr_suspects;
	double base;
	double t[NR_GRID];
	struct sums sums[NR_GRID]; /* of the peers */
	size_t nr_peers;
};

static bool is_peer(const struct outlier_row *r, size_t member)
{
	return !isnan(r->value[member].y) && !r->gone[member];
}

/* The greatest t that the equation can have: the peers' own variance, and more. */
static double greatest(struct outlier_row *r)
{
	double squares = 0;

	r->nr_peers = 0;
	for (size_t i = 0; i < r->nr; i++) {
		const double y = r->value[r->member[i]].y - r->base;

		if (!is_peer(r, r->member[i]))
			continue;
		squares += y * y;
		r->nr_peers++;
	}
	return 2 * squares;
}

static struct sums terms(const struct outlier_row *r, size_t member, double t)
{
	const struct outlier_value *v = &r->value[member];
	const double w = 1 / (t + v->variance), y = v->y - r->base;

	return (struct sums){ w, w * y, w * y * y };
}

static void make_grid(struct outlier_row *r)
{
	const double most = greatest(r);

	for (size_t g = 0; g < NR_GRID; g++) {
		r->t[g] = g ? most * pow(LEAST, 1 - (double)g / (NR_GRID - 1)) : 0;
		r->sums[g] = (struct sums){ 0 };
		for (size_t i = 0; i < r->nr; i++) {
			struct sums s;

			if (!is_peer(r, r->member[i]))
				continue;
			s = terms(r, r->member[i], r->t[g]);
			r->sums[g].w += s.w;
			r->sums[g].wy += s.wy;
			r->sums[g].wyy += s.wyy;
		}
	}
}

/* The sums of the peers without a member. */
static struct sums without(const struct outlier_row *r, size_t member, size_t g)
{
	struct sums s = r->sums[g], own;

	if (!is_peer(r, member))
		return s;
	own = terms(r, member, r->t[g]);
	return (struct sums){ s.w - own.w, s.wy - own.wy, s.wyy - own.wyy };
}

static double scatter(const struct sums *s)
{
	return fmax(s->wyy - s->wy * s->wy / s->w, 0);
}

/* Where the scatter at the grid's points passes wanted; the grid's t between. */
static double solve(const struct outlier_row *r, size_t member, double wanted,
		    struct sums *at)
{
	size_t low = 0, high = NR_GRID - 1;
	struct sums a, b;
	double x, y, part;

	*at = without(r, member, 0);
	if (scatter(at) <= wanted)
		return 0;
	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;
		const struct sums s = without(r, member, middle);

		if (scatter(&s) > wanted)
			low = middle;
		else
			high = middle;
	}
	a = without(r, member, low);
	b = without(r, member, high);
	x = scatter(&a);
	y = scatter(&b);
	part = x > y ? (x - wanted) / (x - y) : 1;
	*at = (struct sums){ a.w + part * (b.w - a.w), a.wy + part * (b.wy - a.wy),
			     a.wyy + part * (b.wyy - a.wyy) };
	return r->t[low] + part * (r->t[high] - r->t[low]);
}

static void test_member(const struct outlier_row *r, size_t member, struct outlier *out)
{
	const struct outlier_value *v = &r->value[member];
	const size_t nr = r->nr_peers - is_peer(r, member);
	struct sums at;
	double t, mean;

	*out = (struct outlier){ NAN, NAN, NAN, NAN, false };
	if (isnan(v->y) || nr < OUTLIERS_MIN_PEERS)
		return;
	t = solve(r, member, (double)nr - 1, &at);
	mean = at.wy / at.w;
	out->peers = r->base + mean;
	out->deviation = sqrt(t);
	out->p = 2 * student_above(fabs(v->y - r->base - mean) /
					   sqrt(t + v->variance + 1 / at.w),
				   (double)nr - 1);
}

/* ---- suspects ---- */

static int by_value(const void *x, const void *y)
{
	const double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

static double median(double *value, size_t nr)
{
	qsort(value, nr, sizeof(*value), by_value);
	return nr % 2 ? value[nr / 2] : (value[nr / 2 - 1] + value[nr / 2]) / 2;
}

/* Sets the base, and lists members that are far from it. */
static void find_suspects(struct outlier_row *r)
{
	double deviation;
	size_t nr = 0;

	r->nr_suspects = 0;
	for (size_t i = 0; i < r->nr; i++) {
		if (is_peer(r, r->member[i]))
			r->room[nr++] = r->value[r->member[i]].y;
	}
	if (!nr)
		return;
	r->base = median(r->room, nr);
	for (size_t i = 0; i < nr; i++)
		r->room[i] = fabs(r->room[i] - r->base);
	deviation = NORMAL * median(r->room, nr);
	for (size_t i = 0; i < r->nr; i++) {
		const struct outlier_value *v = &r->value[r->member[i]];

		if (is_peer(r, r->member[i]) &&
		    fabs(v->y - r->base) >
			    FAR * sqrt(deviation * deviation + v->variance))
			r->suspect[r->nr_suspects++] = r->member[i];
	}
}

/* Takes a peer away, and its part of the sums. */
static void take_away(struct outlier_row *r, size_t member)
{
	for (size_t g = 0; g < NR_GRID; g++)
		r->sums[g] = without(r, member, g);
	r->gone[member] = true;
	r->nr_peers--;
}

/* The suspect farthest from the peers moves to place at; its p. */
static double next_suspect(struct outlier_row *r, size_t at)
{
	double least = INFINITY;
	size_t found = at, member;

	for (size_t i = at; i < r->nr_suspects; i++) {
		struct outlier o = { 0 };

		test_member(r, r->suspect[i], &o);
		if (o.p < least) {
			least = o.p;
			found = i;
		}
	}
	member = r->suspect[found];
	r->suspect[found] = r->suspect[at];
	r->suspect[at] = member;
	return least;
}

/*
 * Members that would hide others: they are gone from the peers afterwards. One of all
 * rows is taken away falsely no more often than the rate says.
 */
static void remove_suspects(struct outlier_row *r, double least)
{
	const size_t most = r->nr_peers / 2;
	size_t nr = 0, kept = 0;

	while (nr < r->nr_suspects && nr < most) {
		const double p = next_suspect(r, nr);

		if (p <= least)
			kept = nr + 1;
		take_away(r, r->suspect[nr++]);
	}
	while (nr > kept)
		r->gone[r->suspect[--nr]] = false;
}

/* ---- rows and groups ---- */

static int by_group(const void *x, const void *y, void *ctx)
{
	const size_t *group = ctx, a = *(const size_t *)x, b = *(const size_t *)y;

	if (group[a] != group[b])
		return group[a] < group[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Tests each row of the members of one group. */
static void test_group(const struct outlier_input *in, struct outlier_row *r,
		       struct outlier *out)
{
	for (size_t i = 0; i < in->nr_rows; i++) {
		struct outlier *own = out + i * in->nr_members;

		r->value = in->value + i * in->nr_members;
		memset(r->gone, 0, in->nr_members * sizeof(*r->gone));
		find_suspects(r);
		make_grid(r);
		if (r->nr_suspects) {
			remove_suspects(r, in->rate / (double)(in->nr_rows *
							       in->nr_members));
			make_grid(r);
		}
		for (size_t k = 0; k < r->nr; k++)
			test_member(r, r->member[k], &own[r->member[k]]);
	}
}

static size_t group_size(const struct outlier_input *in, const size_t *member,
			 size_t from)
{
	size_t to = from;

	while (to < in->nr_members && in->group[member[to]] == in->group[member[from]])
		to++;
	return to - from;
}

/* member has room for all, and is sorted by group here. */
static void test_all(const struct outlier_input *in, size_t *member,
		     struct outlier_row *r, struct outlier *out)
{
	for (size_t i = 0; i < in->nr_members; i++)
		member[i] = i;
	qsort_r(member, in->nr_members, sizeof(*member), by_group, (void *)in->group);
	for (size_t from = 0; from < in->nr_members; from += r->nr) {
		r->member = member + from;
		r->nr = group_size(in, member, from);
		test_group(in, r, out);
	}
}

static int judge(const struct outlier_input *in, struct outlier *out)
{
	const size_t nr = in->nr_rows * in->nr_members;
	double *p = calloc(nr + 1, sizeof(*p));
	double *q = calloc(nr + 1, sizeof(*q));
	int err = p && q ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < nr; i++)
		p[i] = out[i].p;
	if (!err)
		err = false_discovery(p, nr, q);
	for (size_t i = 0; !err && i < nr; i++) {
		out[i].q = q[i];
		out[i].found = q[i] <= in->rate;
	}
	free(p);
	free(q);
	return err;
}

int outliers_find(const struct outlier_input *in, struct outlier *out)
{
	const size_t nr = in->nr_members + 1;
	size_t *member = calloc(nr, sizeof(*member));
	struct outlier_row *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	if (!r || !member)
		goto out;
	r->gone = calloc(nr, sizeof(*r->gone));
	r->room = calloc(nr, sizeof(*r->room));
	r->suspect = calloc(nr, sizeof(*r->suspect));
	if (!r->gone || !r->room || !r->suspect)
		goto out;
	test_all(in, member, r, out);
	err = judge(in, out);
out:
	if (r) {
		free(r->gone);
		free(r->room);
		free(r->suspect);
	}
	free(r);
	free(member);
	return err;
}
