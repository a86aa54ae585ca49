/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff.c - compares two selections row by row
 */
#include "config.h"

#include "report/compare/diff.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "report/profile/prof_context.h"

#define DEFAULT_RATE      0.05
#define DEFAULT_THRESHOLD 0.5        /* percent */
#define LEAST_SHARE       0.5        /* in percent, of either side */
#define INTERVAL          (2 * 1.96) /* the standard errors of an interval of 95% */

double diff_per_second(const struct diff *d, const struct diff_row *r, int side)
{
	return r->time[side] / d->seconds[side];
}

double diff_percent(const struct diff *d, const struct diff_row *r, int side)
{
	return d->total[side] > 0 ? 100 * r->time[side] / d->total[side] : 0;
}

double diff_effect(const struct diff *d, const struct diff_row *r)
{
	const double a = diff_percent(d, r, 0), b = diff_percent(d, r, 1);

	if (!(r->time[0] > 0) || !(r->time[1] > 0))
		return b - a;
	return -b * expm1(-r->compared->change);
}

bool diff_is_beyond_sampling(const struct diff *d, const struct diff_row *r)
{
	const struct compare_row *c = r->compared;
	const double error = (c->high - c->low) / INTERVAL;

	return fabs(c->change) > log(DIFF_LEAST_RATIO) + DIFF_LEAST_ERRORS * error &&
	       fmax(diff_percent(d, r, 0), diff_percent(d, r, 1)) >= LEAST_SHARE;
}

const char *diff_status(const struct diff_row *r)
{
	if (r->time[0] > 0)
		return r->time[1] > 0 ? "" : "gone";
	return "new";
}

static bool has_verdict(const struct diff_row *r)
{
	return r->compared->found && !*diff_status(r);
}

const char *diff_verdict(const struct diff_row *r)
{
	if (!has_verdict(r))
		return NULL;
	return shape_verdict_name(r->verdict.kind, r->compared->change > 0);
}

const char *diff_verdict_text(const struct diff_row *r)
{
	if (!has_verdict(r))
		return NULL;
	return shape_verdict_text(r->verdict.kind, r->compared->change > 0);
}

static int open_side(struct diff *d, int side)
{
	int err = select_open_epochs(&d->req->select, d->spec[side], SELECT_TOGETHER,
				     &d->sel[side]);

	if (err)
		return err;
	err = events_init(&d->ev[side], &d->sel[side].streams,
			  select_newest(&d->sel[side])->clock_hz);
	if (err) {
		select_failed(&d->sel[side], err);
		return err;
	}
	if (strcmp(d->ev[side].event[0].name, d->ev[0].event[0].name) != 0) {
		log_err("diff: %s and %s cannot be compared: choose an event that both "
			"have, with --event",
			d->ev[0].event[0].name, d->ev[side].event[0].name);
		return -EINVAL;
	}
	err = diff_parts_read(&d->parts[side], d->sel[side].db, &d->sel[side].epochs,
			      d->ev[side].event[0].name);
	if (err)
		select_failed(&d->sel[side], err);
	return err ? err : diff_runs_init(&d->runs[side], &d->sel[side].epochs);
}

/* The number of columns that the side's epochs become. */
static size_t nr_columns(const struct diff *d, int side)
{
	return d->by_host ? d->runs[side].nr_hosts : d->sel[side].epochs.nr;
}

/* Roll-up kept the variation of procedures only for all contexts together. */
static bool has_within(const struct diff *d, int side)
{
	return !d->by_host && d->req->by == BY_PROCEDURE &&
	       !select_has_contexts(&d->sel[side]) && diff_parts_any(&d->parts[side]);
}

static int name_side(struct diff *d, int side)
{
	int err = matrix_name(&d->m, side, &d->sel[side], &d->ev[side]);

	d->runs[side].first = d->nr_runs;
	d->nr_runs += nr_columns(d, side);
	/* The parts only have the variation of the random samples. */
	if (has_within(d, side))
		d->m.evidence[side].both = false;
	if (err)
		prof_context_failed(prof_context_kind(d->req->by), &d->sel[side], err);
	return err;
}

static int by_time(const void *va, const void *vb)
{
	const struct diff_row *a = va, *b = vb;
	const double x = a->time[0] + a->time[1], y = b->time[0] + b->time[1];

	if (x != y)
		return x < y ? 1 : -1;
	return (a->row->index > b->row->index) - (a->row->index < b->row->index);
}

/* Merges row i into the row that it is a part of, on side A or B. */
static void add_alias(struct diff *d, size_t i, size_t alias, double similarity)
{
	struct diff_row *r = &d->row[d->at[alias]];
	struct matrix_row *row = d->m.row[i], *first = d->m.row[alias];

	r->time[0] += row->time[0];
	r->time[1] += row->time[1];
	if (row->time[0] > 0) {
		row->with = first->with;
		first->with = row;
	} else {
		row->with = (struct matrix_row *)r->other;
		r->other = row;
		r->similarity = similarity;
	}
}

/*
 * Makes one row for each name of A or B, and notes its index for each row of the
 * matrix.
 */
static void fill_rows(struct diff *d, const size_t *alias, const double *similarity)
{
	for (size_t i = 0; i < d->m.nr_rows; i++) {
		const struct matrix_row *row = d->m.row[i];

		if (alias[i] == i && row->time[0] + row->time[1] > 0)
			d->row[d->nr_rows++] = (struct diff_row){
				.row = row,
				.time = { row->time[0], row->time[1] },
				.verdict = { .calls = NAN },
			};
		d->total[0] += row->time[0];
		d->total[1] += row->time[1];
		d->at[i] = SIZE_MAX;
	}
	for (size_t k = 0; k < d->nr_rows; k++)
		d->at[d->row[k].row->index] = k;
	for (size_t i = 0; i < d->m.nr_rows; i++) {
		if (alias[i] != i)
			add_alias(d, i, alias[i], similarity[i]);
	}
}

/* Keeps the busiest rows, as many as there is room for. */
static void keep_rows(struct diff *d, const size_t *alias)
{
	size_t most = DIFF_MAX_CELLS / (d->nr_runs + 1);

	most = most < DIFF_MIN_ROWS ? DIFF_MIN_ROWS : most;
	qsort(d->row, d->nr_rows, sizeof(*d->row), by_time);
	if (d->nr_rows > most) {
		d->nr_left_out = d->nr_rows - most;
		d->nr_rows = most;
	}
	for (size_t i = 0; i < d->m.nr_rows; i++)
		d->at[i] = SIZE_MAX;
	for (size_t k = 0; k < d->nr_rows; k++)
		d->at[d->row[k].row->index] = k;
	for (size_t i = 0; i < d->m.nr_rows; i++)
		d->at[i] = d->at[alias[i]];
}

static int make_rows(struct diff *d)
{
	const size_t nr = d->m.nr_rows;
	size_t *alias = calloc(nr + 1, sizeof(*alias));
	double *similarity = calloc(nr + 1, sizeof(*similarity));
	int err;

	d->row = calloc(nr + 1, sizeof(*d->row));
	d->at = calloc(nr + 1, sizeof(*d->at));
	err = alias && similarity && d->row && d->at ? 0 : -ENOMEM;
	for (size_t i = 0; i < nr && !err; i++)
		alias[i] = i;
	if (!err)
		err = diff_match(d, alias, similarity);
	if (!err) {
		fill_rows(d, alias, similarity);
		keep_rows(d, alias);
	}
	free(alias);
	free(similarity);
	return err;
}

size_t diff_nr_runs(const struct diff *d, int side)
{
	return has_within(d, side) ? d->parts[side].nr : nr_columns(d, side);
}

/* Uses the parts of a row if they have nearly all of its time. */
static int put_within(struct diff *d, int side, size_t at)
{
	const struct diff_within *w;
	size_t nr;
	int err = diff_parts_end(&d->parts[side], &w, &nr);

	for (size_t i = 0; !err && i < nr; i++) {
		const size_t row = d->at[w[i].row], cell = row * d->nr_runs + at;

		if (row != SIZE_MAX && w[i].time >= DIFF_PARTS_SHARE * d->time[cell])
			d->within[cell] = w[i].within;
	}
	return err;
}

/* Describes the run of an epoch. Returns its index. */
static size_t describe_run(struct diff *d, const struct matrix_column *c)
{
	struct diff_runs *runs = &d->runs[c->side];
	size_t at;

	if (d->by_host)
		return runs->first + diff_runs_add(runs, c, &d->run[runs->first]);
	at = d->filled++;
	d->run[at] = (struct compare_run){ c->side, c->seconds, c->sample, 1, 1 };
	if (has_within(d, c->side))
		diff_parts_describe(&d->parts[c->side], c->epoch->id, &d->run[at]);
	return at;
}

static int on_column(void *ctx, const struct matrix_column *c)
{
	struct diff *d = ctx;
	const size_t at = describe_run(d, c);

	if (c->side < 2)
		d->seconds[c->side] += c->seconds;
	for (size_t i = 0; i < d->m.nr_rows; i++) {
		if (d->at[i] != SIZE_MAX)
			d->time[d->at[i] * d->nr_runs + at] += c->time[i];
	}
	return has_within(d, c->side) ? put_within(d, c->side, at) : 0;
}

/* Allocates the values known by part; they begin as unknown. */
static int make_within(struct diff *d)
{
	const size_t nr = d->nr_rows * d->nr_runs;
	bool any = false;

	for (int side = 0; side < DIFF_NR_SIDES; side++)
		any |= d->spec[side] && has_within(d, side);
	if (!any)
		return 0;
	d->within = malloc((nr + 1) * sizeof(*d->within));
	for (size_t i = 0; i < nr && d->within; i++)
		d->within[i] = NAN;
	return d->within ? 0 : -ENOMEM;
}

static int read_sides(struct diff *d)
{
	int err = 0;

	d->run = calloc(d->nr_runs + 1, sizeof(*d->run));
	d->time = calloc(d->nr_rows * d->nr_runs + 1, sizeof(*d->time));
	d->weight = calloc(d->nr_rows + 1, sizeof(*d->weight));
	if (!d->run || !d->time || !d->weight || make_within(d))
		return -ENOMEM;
	for (int side = 0; side < DIFF_NR_SIDES && !err; side++) {
		if (!d->spec[side])
			continue;
		d->m.on_count = has_within(d, side) ? diff_parts_count : NULL;
		d->m.on_count_ctx = &d->parts[side];
		err = matrix_each(&d->m, side, &d->sel[side], &d->ev[side], on_column,
				  d);
		if (err)
			select_failed(&d->sel[side], err);
	}
	return err;
}

static int compare(struct diff *d)
{
	const struct diff_request *req = d->req;
	const double percent = req->threshold > 0 ? req->threshold : DEFAULT_THRESHOLD;
	const struct compare_input in = {
		.run = d->run,
		.nr_runs = d->nr_runs,
		.time = d->time,
		.within = d->within,
		.weight = d->weight,
		.nr_rows = d->nr_rows,
		.threshold = log1p(percent / 100),
		.rate = req->fdr > 0 ? req->fdr : DEFAULT_RATE,
	};
	int err;

	for (size_t i = 0; i < d->nr_rows; i++)
		d->weight[i] = d->row[i].row->sample;
	err = compare_runs(&in, &d->c);
	for (size_t i = 0; i < d->nr_rows && !err; i++)
		d->row[i].compared = &d->c.row[i];
	return err;
}

static double size_of_change(const struct diff *d, const struct diff_row *r)
{
	return fabs(diff_percent(d, r, 1) - diff_percent(d, r, 0));
}

static int by_change(const void *va, const void *vb, void *ctx)
{
	const struct diff_row *a = va, *b = vb;
	const double x = size_of_change(ctx, a), y = size_of_change(ctx, b);

	if (a->compared->found != b->compared->found)
		return a->compared->found ? -1 : 1;
	if (x != y)
		return x < y ? 1 : -1;
	return by_time(va, vb);
}

static int gather(struct diff *d)
{
	int err = 0;

	for (int side = 0; side < 2 && !err; side++)
		err = open_side(d, side);
	d->by_host = !err && d->runs[0].nr_hosts >= COMPARE_MIN_RUNS &&
		     d->runs[1].nr_hosts >= COMPARE_MIN_RUNS;
	if (!err)
		err = diff_find_history(d);
	if (!err && d->spec[COMPARE_EARLIER])
		err = open_side(d, COMPARE_EARLIER);
	for (int side = 0; side < DIFF_NR_SIDES && !err; side++) {
		if (d->spec[side])
			err = name_side(d, side);
	}
	if (!err)
		err = matrix_fit(&d->m);
	if (!err)
		err = make_rows(d);
	if (!err)
		err = read_sides(d);
	if (!err)
		err = compare(d);
	if (err)
		return err;
	qsort_r(d->row, d->nr_rows, sizeof(*d->row), by_change, d);
	return diff_judge(d);
}

int diff_open(const struct diff_request *req, const char *a, const char *b,
	      struct diff *d)
{
	int err;

	memset(d, 0, sizeof(*d));
	d->req = req;
	d->spec[COMPARE_A] = a;
	d->spec[COMPARE_B] = b;
	matrix_init(&d->m, req->by, true);
	err = gather(d);
	if (err == -ENOMEM)
		log_err("diff: %s", err_str(err));
	if (err)
		diff_close(d);
	for (int side = 0; side < DIFF_NR_SIDES && !err; side++)
		select_end_read(&d->sel[side]);
	return err;
}

void diff_close(struct diff *d)
{
	compare_fini(&d->c);
	free(d->row);
	free(d->at);
	free(d->run);
	free(d->time);
	free(d->within);
	free(d->weight);
	matrix_fini(&d->m);
	for (int side = 0; side < DIFF_NR_SIDES; side++) {
		diff_parts_fini(&d->parts[side]);
		diff_runs_fini(&d->runs[side]);
		events_fini(&d->ev[side]);
		select_close(&d->sel[side]);
	}
	free(d->history);
}
