/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_model.c - lifetimes of lines, and the characteristic time of caches
 *
 * Che, Tung and Wang, "Hierarchical Web Caching Systems", IEEE JSAC 20 (2002), section
 * III: in a cache of C entries with replacement of the least recently used, an entry
 * stays for about the time T in which C different ones are touched. So an access misses
 * if its line was not touched for T. StatCache and StatStack (Berg and Hagersten 2004;
 * Eklov and Hagersten 2010) get the same from sampled reuse distances.
 *
 * P(t) is the share of an instruction's accesses whose line was not touched for t
 * accesses. Kaplan and Meier's estimator (1958) for grouped data gives it, in two
 * parts:
 *
 * - Up to the length of a window, from ages in windows. An access that has k others
 *   before it in its window says nothing about more than k.
 * - Beyond, from gaps between windows. Their clock counts only the accesses of windows,
 *   which are a small part of all. So P is that of lines that are touched at random, at
 *   a rate that holds for as long as the gap. Beyond the largest gap, the rate is that
 *   of the last gaps.
 *
 * Deviations from Che: the sum over all entries is an integral of P, which is the same
 * by Denning and Schwartz (1972).
 */
#include "config.h"

#include "analysis/data/data_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/math/interval.h"
#include "analysis/math/unseen.h"
#include "base/search.h"

#define STEPS      72  /* of the time axis */
#define STEP       0.5 /* powers of two between them */
#define POWERS     (STEPS / 2)
#define LEAST_RISK 8    /* accesses that tell of a gap */
#define PRIOR      1    /* accesses that behave as all do */
#define REGULAR    0.8  /* least share of the most frequent stride, to be regular */
#define LOCAL      0.75 /* lines not touched for t fall at most as t^-LOCAL */
#define ENTRIES    8    /* of the page table in a line */
#define Z90        1.645

/* A place of the sample, over all instructions. */
struct place_sum {
	uint32_t number;
	uint64_t n;
	bool shared;
};

/* One granule while it is modelled. */
struct data_scene {
	const struct accesses *set;
	const struct accesses_insn *const *insn;
	size_t nr;
	enum accesses_granule granule;
	struct place_sum *place; /* by number */
	size_t nr_places;
	double bound;    /* of the sample of all instructions */
	double all;      /* different entries, at most */
	double exposure; /* A: accesses with a known address */
	double age_hazard[ACCESSES_GAPS], gap_hazard[ACCESSES_GAPS]; /* of all */
	int nr_ages;            /* ages that windows show */
	double *alive;          /* P, by instruction and step */
	double distinct[STEPS]; /* entries that are touched in so long */
};

static double time_of(double step)
{
	return exp2(step * STEP);
}

static int by_number(const void *a, const void *b)
{
	const struct place_sum *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* How often the places of the sample were touched, by all instructions together. */
static int sum_places(struct data_scene *s, struct arena *arena)
{
	const enum accesses_granule g = s->granule;
	size_t nr = 0, kept = 0;

	for (size_t i = 0; i < s->nr; i++)
		nr += s->insn[i]->reuse[g].nr_places;
	s->place = arena_array(arena, nr + 1, sizeof(*s->place));
	if (!s->place)
		return -ENOMEM;
	nr = 0;
	for (size_t i = 0; i < s->nr; i++) {
		const struct accesses_reuse *r = &s->insn[i]->reuse[g];

		for (uint32_t k = 0; k < r->nr_places; k++)
			s->place[nr++] =
				(struct place_sum){ r->place[k].number, r->place[k].n,
						    r->place[k].thread ==
							    ACCESSES_SHARED };
	}
	qsort(s->place, nr, sizeof(*s->place), by_number);
	for (size_t i = 0; i < nr; i++) {
		if (kept && s->place[kept - 1].number == s->place[i].number) {
			s->place[kept - 1].n += s->place[i].n;
			s->place[kept - 1].shared |= s->place[i].shared;
		} else {
			s->place[kept++] = s->place[i];
		}
	}
	s->nr_places = kept;
	return 0;
}

/*
 * For which part of an age class accesses that are censored in it were at risk:
 * censoring times are spread evenly over the class's integers.
 */
static double part_at_risk(int age)
{
	return (1 - exp2(-age)) / 2;
}

/* Accesses at risk at an age, of nr ages. */
static double at_risk(const uint64_t *died, const uint64_t *bounded, int age, int nr)
{
	double n = -(double)bounded[age] * (1 - part_at_risk(age));

	for (int i = age; i < nr; i++)
		n += (double)died[i] + (double)bounded[i];
	return fmax(n, 0);
}

static double age_risk(const struct accesses_reuse *r, int age)
{
	return at_risk(r->reused, r->survived, age, ACCESSES_AGES);
}

static double gap_risk(const struct accesses_reuse *r, int gap)
{
	return at_risk(r->again, r->never, gap, ACCESSES_GAPS);
}

static void find_hazards(struct data_scene *s)
{
	for (int a = 0; a < ACCESSES_GAPS; a++) {
		double ages = 0, gaps = 0, age_risks = 0, gap_risks = 0;

		for (size_t i = 0; i < s->nr; i++) {
			const struct accesses_reuse *r = &s->insn[i]->reuse[s->granule];

			gaps += (double)r->again[a];
			gap_risks += gap_risk(r, a);
			if (a < ACCESSES_AGES) {
				ages += (double)r->reused[a];
				age_risks += age_risk(r, a);
			}
		}
		if (gap_risks > 0)
			s->gap_hazard[a] = gaps / gap_risks;
		if (age_risks > 0) {
			s->age_hazard[a] = ages / age_risks;
			s->nr_ages = a + 1;
		}
	}
}

/* With PRIOR accesses more, which behave as those of all instructions do. */
static double hazard_of(double died, double risk, double of_all)
{
	return fmin((died + PRIOR * of_all) / (risk + PRIOR), 1 - 1e-9);
}

/* P at each power of two. */
static void find_curve(const struct data_scene *s, const struct accesses_insn *insn,
		       double *alive)
{
	const struct accesses_reuse *r = &insn->reuse[s->granule];
	double last = 0;

	alive[0] = 1;
	for (int a = 0; a < POWERS; a++) {
		if (a < s->nr_ages)
			last = hazard_of((double)r->reused[a], age_risk(r, a),
					 s->age_hazard[a]);
		else if (a < ACCESSES_GAPS && gap_risk(r, a) >= LEAST_RISK)
			last = hazard_of((double)r->again[a], gap_risk(r, a),
					 s->gap_hazard[a]);
		alive[a + 1] = alive[a] * (1 - last);
	}
}

static void find_alive(struct data_scene *s)
{
	double before = 1;

	for (size_t i = 0; i < s->nr; i++) {
		double curve[POWERS + 1];

		find_curve(s, s->insn[i], curve);
		for (int k = 0; k < STEPS; k++) {
			const int a = k / 2;

			s->alive[i * STEPS + (size_t)k] =
				k % 2 ? sqrt(curve[a] * curve[a + 1]) : curve[a];
		}
	}
	for (int k = 0; k < STEPS; k++) {
		double rate = 0;

		for (size_t i = 0; i < s->nr; i++)
			rate += (double)s->insn[i]->known / s->exposure *
				s->alive[i * STEPS + (size_t)k];
		s->distinct[k] =
			k ? s->distinct[k - 1] + (rate + before) / 2 *
							 (time_of(k) - time_of(k - 1))
			  : rate;
		before = rate;
	}
}

/*
 * Different entries (unseen.h), and Chao's interval for 90 % (1987). Its lower end is
 * what was seen. A window touches clump entries that belong together, so it counts as
 * one observation of all of them.
 */
static struct data_estimate estimate_distinct(double seen, double once, double twice,
					      double clump)
{
	const double more = clump * unseen_kinds(once / clump, twice / clump);
	double f, variance;

	if (!(more > 0))
		return (struct data_estimate){ seen, seen, once > 0 ? INFINITY : seen };
	f = once / (twice + clump);
	variance = (twice / clump + 1) * (pow(f, 4) / 4 + pow(f, 3) + f * f / 2);
	f = exp(Z90 * sqrt(log1p(variance * clump * clump / (more * more))));
	return (struct data_estimate){ seen + more, seen + more / f,
				       twice > 0 ? seen + more * f : INFINITY };
}

/* The most different entries that were touched, with those that the sample lacks. */
static double most_entries(const struct data_scene *s)
{
	const double windows = (double)accesses_windows(s->set);
	double seen = 0, once = 0, twice = 0;

	for (size_t i = 0; i < s->nr_places; i++) {
		if (accesses_hash(s->place[i].number) >= s->bound)
			continue;
		seen++;
		once += s->place[i].n == 1;
		twice += s->place[i].n == 2;
	}
	return estimate_distinct(seen, once, twice,
				 fmax(s->exposure / windows * s->bound / 0x1p32, 1))
		       .high /
	       (s->bound / 0x1p32);
}

/* The step at which a cache of so many entries has them all. */
static double characteristic(const struct data_scene *s, double entries)
{
	int k = 0;

	if (entries >= s->all)
		return STEPS - 1;
	while (k < STEPS - 1 && s->distinct[k] < entries)
		k++;
	if (!k || s->distinct[k] < entries)
		return k;
	return k - 1 +
	       (entries - s->distinct[k - 1]) / (s->distinct[k] - s->distinct[k - 1]);
}

static double alive_at_step(const struct data_scene *s, size_t i, double step)
{
	const double at = fmin(fmax(step, 0), STEPS - 1);
	const int k = (int)fmin(at, STEPS - 2);
	const double *alive = &s->alive[i * STEPS];

	return alive[k] + (alive[k + 1] - alive[k]) * (at - k);
}

/* Wilson's interval for 90 %, around shares that have a range already. */
static struct data_estimate share_of(double p, double n, double low, double high)
{
	const double least = interval_share_at(low * n, n, Z90).low;
	const double most = interval_share_at(high * n, n, Z90).high;

	return (struct data_estimate){ p, least * n < 1 ? 0 : fmin(least, p),
				       fmax(most, p) };
}

/*
 * Windows do not show reuse between their own length and the characteristic time.
 * Upper end: no line is touched again in between; lower end: lines are touched again
 * as typical locality has it (LOCAL).
 */
static struct data_estimate miss_of(const struct data_scene *s, size_t i, double step)
{
	const double seen = s->nr_ages / STEP;
	const double p = alive_at_step(s, i, step);
	const double most = alive_at_step(s, i, fmin(step, seen));
	const double least = step > seen ? p * pow(time_of(step - seen), -LOCAL) : p;
	const bool fits = step >= STEPS - 1;

	return share_of(fits ? 0 : p, fmax((double)s->insn[i]->known, 1),
			fits ? 0 : least, most);
}

static void fill_level(const struct data_scene *s, enum data_level level,
		       double entries, struct data_model *m)
{
	const double step = characteristic(s, entries);

	m->time[level] = time_of(step);
	for (size_t i = 0; i < s->nr; i++)
		m->insn[i].miss[level] = miss_of(s, i, step);
}

/* Those of an instruction; others may touch them, too. */
static struct data_estimate distinct_of(const struct data_scene *s,
					const struct accesses_insn *insn)
{
	const struct accesses_reuse *r = &insn->reuse[s->granule];
	const double bound = (double)accesses_bound(s->set, insn, s->granule) / 0x1p32;
	double seen = 0, once = 0, twice = 0;
	struct data_estimate e;

	for (uint32_t k = 0; k < r->nr_places; k++) {
		if (r->place[k].hash >= bound * 0x1p32)
			continue;
		seen++;
		once += r->place[k].n == 1;
		twice += r->place[k].n == 2;
	}
	if (!(seen > 0))
		return (struct data_estimate){ 0, 0, INFINITY };
	e = estimate_distinct(seen, once, twice, 1);
	return (struct data_estimate){ e.value / bound, e.low / bound, e.high / bound };
}

static double shared_of(const struct accesses_insn *insn)
{
	const struct accesses_reuse *r = &insn->reuse[ACCESSES_LINES];
	double shared = 0;

	for (uint32_t k = 0; k < r->nr_places; k++)
		shared += r->place[k].thread == ACCESSES_SHARED;
	return r->nr_places ? shared / r->nr_places : 0;
}

/* The share of accesses that find the line of their page's entry not in a cache. */
static double entry_misses(const struct data_scene *s, size_t i, double time)
{
	const double step = log2(time) / STEP;

	return step >= STEPS - 1 ? 0 : pow(alive_at_step(s, i, step), ENTRIES);
}

/*
 * A walk loads the page's entry from the caches. Its line has the entries of ENTRIES
 * pages, and was not touched for some time if none of them was. With a miss in the last
 * cache it may take the most.
 */
static void wait_for_walks(const struct data_scene *s,
			   const struct data_geometry *geometry, struct data_model *m)
{
	const double *cycles = geometry->cycles;

	for (size_t i = 0; i < s->nr; i++) {
		struct data_insn *insn = &m->insn[i];
		double walk = cycles[DATA_TLB2];

		for (int l = DATA_L2; l <= DATA_L3; l++)
			walk += cycles[l] * entry_misses(s, i, m->time[l]);
		insn->wait[ACCESSES_PAGES] = (struct data_wait){
			insn->miss[DATA_TLB1].value * cycles[DATA_TLB1] +
				insn->miss[DATA_TLB2].value * walk,
			insn->miss[DATA_TLB1].high * geometry->most_cycles[DATA_TLB1] +
				insn->miss[DATA_TLB2].high *
					geometry->most_cycles[DATA_TLB2],
		};
	}
}

static void wait_for_lines(const struct data_geometry *geometry, struct data_model *m)
{
	for (size_t i = 0; i < m->nr; i++) {
		struct data_wait *w = &m->insn[i].wait[ACCESSES_LINES];

		for (int l = DATA_L1; l <= DATA_L3; l++) {
			w->alone += m->insn[i].miss[l].value * geometry->cycles[l];
			w->most += m->insn[i].miss[l].high * geometry->most_cycles[l];
		}
	}
}

static int model_granule(struct data_scene *s, const struct data_geometry *geometry,
			 struct arena *arena, struct data_model *m)
{
	const bool is_page = s->granule == ACCESSES_PAGES;
	int err;

	s->bound = 0x1p32;
	for (size_t i = 0; i < s->nr; i++)
		if (s->insn[i]->reuse[s->granule].nr_places > ACCESSES_LEAST)
			s->bound = fmin(s->bound,
					(double)accesses_bound(s->set, s->insn[i],
							       s->granule));
	s->alive = arena_array(arena, s->nr * STEPS + 1, sizeof(*s->alive));
	err = s->alive ? sum_places(s, arena) : -ENOMEM;
	if (err)
		return err;
	s->all = most_entries(s);
	find_hazards(s);
	find_alive(s);
	for (size_t i = 0; i < s->nr; i++)
		m->insn[i].distinct[s->granule] = distinct_of(s, s->insn[i]);
	for (int l = 0; l < DATA_NR_LEVELS; l++)
		if ((l >= DATA_TLB1) == is_page && geometry->entries[l] > 0)
			fill_level(s, l, geometry->entries[l], m);
	if (is_page)
		wait_for_walks(s, geometry, m);
	else
		wait_for_lines(geometry, m);
	return 0;
}

int data_model_make(const struct accesses *set, const struct data_geometry *geometry,
		    struct arena *arena, struct data_model **out)
{
	size_t nr;
	struct data_model *m = arena_alloc(arena, sizeof(*m));
	const struct accesses_insn *const *insn = accesses_insns(set, &nr);
	double exposure = 0;
	int err = 0;

	if (!m)
		return -ENOMEM;
	m->nr = nr;
	m->insn = arena_array(arena, nr + 1, sizeof(*m->insn));
	if (!m->insn)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		m->insn[i].from = insn[i];
		m->insn[i].shared = shared_of(insn[i]);
		exposure += (double)insn[i]->known;
	}
	for (int g = 0; !err && g < ACCESSES_NR_GRANULES; g++) {
		struct data_scene s = { .set = set,
					.insn = insn,
					.nr = nr,
					.granule = g,
					.exposure = exposure };

		err = model_granule(&s, geometry, arena, m);
	}
	if (!err)
		*out = m;
	return err;
}

const struct data_insn *data_model_find(const struct data_model *m, uint32_t image,
					uint64_t offset)
{
	const size_t i =
		SEARCH(k, m->nr, accesses_compare(m->insn[k].from, image, offset) >= 0);

	if (i == m->nr || accesses_compare(m->insn[i].from, image, offset) ||
	    m->insn[i].from->known < DATA_LEAST)
		return NULL;
	return &m->insn[i];
}

bool data_has_stride(const struct data_insn *insn)
{
	const struct accesses_stride *s = &insn->from->stride[0];

	return s->bytes && (double)s->n >= REGULAR * (double)insn->from->pairs &&
	       insn->from->pairs >= DATA_LEAST / 2;
}
