/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix_evidence.c - compares ticks with random samples, row by row
 *
 * All sides must be measured in the same way, so that they can be compared. Therefore a
 * row that departs on one side departs on all, and ticks are used only if all sides
 * have them. Each column has scales of its own, so that its times in user mode and in
 * the kernel are those of its random samples.
 *
 * Random samples are fewer than ticks. So a row that departs, or without ticks, has a
 * larger sampling error than another row of the same time. row->sample says how much
 * larger.
 */
#include "config.h"

#include "report/compare/matrix_evidence.h"

#include <errno.h>
#include <stdlib.h>

void matrix_sums_add(struct matrix_sums *s, struct matrix_totals *t, size_t event,
		     bool kernel, double n, double weight)
{
	struct event_sum *total = event ? &t->ticks : &t->random;
	const int mode = kernel ? EVIDENCE_KERNEL : EVIDENCE_USER;

	(event ? s->ticks : s->random)[mode] += n * weight;
	total->n += (uint64_t)n;
	total->weight += n * weight;
	if (!event)
		t->variance += n * weight * weight;
}

static void put_row(const struct matrix_sums *s, struct evidence_row *out)
{
	for (int mode = 0; mode < NR_EVIDENCE_MODES; mode++) {
		out->in[mode].ticks_ns += s->ticks[mode];
		out->in[mode].random_ns += s->random[mode];
	}
}

static double time_in(const struct evidence *e, const struct matrix_sums *s, int mode,
		      bool departs)
{
	return evidence_time(e, (struct evidence_use){ mode, departs }, s->random[mode],
			     s->ticks[mode]);
}

static double time_of(const struct evidence *e, const struct matrix_sums *s,
		      bool departs)
{
	double time = 0;

	for (int mode = 0; mode < NR_EVIDENCE_MODES; mode++)
		time += time_in(e, s, mode, departs);
	return time;
}

/* The mean time of a random sample. */
static double random_sample(const struct matrix_totals *t)
{
	return t->random.weight > 0 ? t->variance / t->random.weight : 0;
}

static double variance_of(const struct evidence *e, const struct matrix_sums *s,
			  const struct matrix_totals *t, bool departs)
{
	double variance = 0;

	for (int mode = 0; mode < NR_EVIDENCE_MODES; mode++)
		variance +=
			random_sample(t) * time_in(e, s, mode, departs) *
			evidence_factor(e, 0, (struct evidence_use){ mode, departs });
	return variance;
}

static int find_departing(struct matrix *m, int side)
{
	struct evidence_row *rows = calloc(m->nr_rows + 1, sizeof(*rows));
	int err = rows ? 0 : -ENOMEM;

	for (size_t i = 0; i < m->nr_rows && !err; i++)
		put_row(&m->row[i]->sums[side], &rows[i]);
	if (!err)
		err = evidence_fit(&m->evidence[side], rows, m->nr_rows,
				   &m->totals[side].random, &m->totals[side].ticks);
	for (size_t i = 0; i < m->nr_rows && !err; i++)
		m->row[i]->departs |= rows[i].departs;
	free(rows);
	return err;
}

/* Computes the mean time of a sample on each side, and the ratio of each row to it. */
static void take_samples(struct matrix *m, double *variance, double *time)
{
	double all = 0;

	for (int side = 0; side < MATRIX_MAX_SIDES; side++) {
		if (time[side] > 0)
			m->sample[side] = variance[side] / time[side];
		all += m->evidence[side].both;
	}
	for (size_t i = 0; i < m->nr_rows && all > 0; i++) {
		struct matrix_row *row = m->row[i];
		double own = 0, mean = 0;

		for (int side = 0; side < MATRIX_MAX_SIDES; side++) {
			own += variance_of(&m->evidence[side], &row->sums[side],
					   &m->totals[side], row->departs);
			mean += row->time[side] * m->sample[side];
		}
		row->sample = mean > 0 ? own / mean : 1;
	}
}

int matrix_fit(struct matrix *m)
{
	double variance[MATRIX_MAX_SIDES] = { 0 }, time[MATRIX_MAX_SIDES] = { 0 };
	bool both = true;
	int err = 0;

	for (int side = 0; side < MATRIX_MAX_SIDES; side++)
		both &= m->evidence[side].both || !m->named[side];
	for (int side = 0; side < MATRIX_MAX_SIDES && !err; side++) {
		m->evidence[side].both &= both;
		err = find_departing(m, side);
	}
	for (size_t i = 0; i < m->nr_rows && !err; i++) {
		struct matrix_row *row = m->row[i];

		for (int side = 0; side < MATRIX_MAX_SIDES; side++) {
			const struct evidence *e = &m->evidence[side];
			const struct matrix_sums *s = &row->sums[side];

			row->time[side] = time_of(e, s, row->departs);
			time[side] += row->time[side];
			variance[side] +=
				variance_of(e, s, &m->totals[side], row->departs);
		}
		row->sample = 1;
		m->nr_departing += row->departs;
	}
	if (!err)
		take_samples(m, variance, time);
	return err;
}

/* Computes the column's own scale. Returns 0 or -ENOMEM. */
static int fit_column(const struct matrix *m, const struct matrix_sums *sums,
		      const struct matrix_totals *t, struct evidence *e)
{
	struct evidence_row *rows = calloc(m->nr_rows + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < m->nr_rows; i++) {
		rows[i].departs = m->row[i]->departs;
		put_row(&sums[i], &rows[i]);
	}
	evidence_fit_part(e, rows, m->nr_rows, &t->random, &t->ticks);
	free(rows);
	return 0;
}

int matrix_take_column(const struct matrix *m, int side, const struct matrix_sums *sums,
		       const struct matrix_totals *t, double *time, double *sample)
{
	struct evidence e = m->evidence[side];
	double all = 0, variance = 0;
	int err = e.both ? fit_column(m, sums, t, &e) : 0;

	for (size_t i = 0; i < m->nr_rows && !err; i++) {
		const bool departs = m->row[i]->departs;

		time[i] = time_of(&e, &sums[i], departs);
		all += time[i];
		variance += variance_of(&e, &sums[i], t, departs);
	}
	*sample = all > 0 && variance > 0 ? variance / all : m->sample[side];
	return err;
}
