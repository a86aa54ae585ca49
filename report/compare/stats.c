/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats.c - sums up each row's values over all epochs
 */
#include "config.h"

#include "report/compare/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "report/profile/prof_context.h"

#define DEFAULT_RATE 0.05
#define OUTLYING     2 /* standard deviations */

/* Whether samples stand for different amounts of time. */
static bool is_mixed(const struct stats *s)
{
	return s->ev.event[0].mixed || s->m.evidence[0].both;
}

const char *stats_unit(const struct stats *s)
{
	const struct selected_event *event = &s->ev.event[0];

	switch ((enum stats_normalize)s->req->normalize) {
	case NORMALIZE_TIME:
		return event->is_time ? "ms/s" : "events/s";
	case NORMALIZE_TOTAL:
		return "%";
	case NORMALIZE_NONE:
		break;
	}
	if (!is_mixed(s))
		return "samples";
	return event->is_time ? "ms" : "events";
}

void stats_scale(const struct stats *s, const struct matrix_column *c, double *unit,
		 double *exposure)
{
	const struct selected_event *event = &s->ev.event[0];

	*unit = event->is_time ? 1e6 : 1;
	switch ((enum stats_normalize)s->req->normalize) {
	case NORMALIZE_TIME:
		*unit *= c->seconds;
		break;
	case NORMALIZE_TOTAL:
		*unit = (c->total > 0 ? c->total : c->sample) / 100;
		break;
	case NORMALIZE_NONE:
		if (!is_mixed(s))
			*unit = c->sample;
		break;
	}
	*exposure = *unit / c->sample;
}

/* Keeps v if it is among the values that come first in the order of sign. */
static void keep_extreme(struct stats_value *list, struct stats_value v, double sign)
{
	for (int i = 0; i < STATS_EXTREMES; i++) {
		const struct stats_value other = list[i];

		if (other.epoch && sign * v.value <= sign * other.value)
			continue;
		list[i] = v;
		v = other;
		if (!v.epoch)
			return;
	}
}

size_t stats_outliers(const struct stats_row *row,
		      struct stats_value out[2 * STATS_EXTREMES])
{
	const double reach = OUTLYING * spread_deviation(&row->spread);
	size_t nr = 0;

	for (int i = 0; i < STATS_EXTREMES; i++) {
		if (row->most[i].epoch && row->most[i].value > row->spread.mean + reach)
			out[nr++] = row->most[i];
	}
	for (int i = 0; i < STATS_EXTREMES; i++) {
		if (row->least[i].epoch &&
		    row->least[i].value < row->spread.mean - reach)
			out[nr++] = row->least[i];
	}
	return nr;
}

static int on_column(void *ctx, const struct matrix_column *c)
{
	struct stats *s = ctx;
	double unit, exposure;

	stats_scale(s, c, &unit, &exposure);
	spread_runs_add(&s->runs, exposure);
	for (size_t i = 0; i < s->nr_rows; i++) {
		struct stats_row *row = &s->row[i];
		const struct stats_value v = { c->epoch, c->time[i] / unit };

		spread_add(&row->spread, v.value,
			   c->time[i] / (c->sample * s->m.row[i]->sample), exposure);
		keep_extreme(row->most, v, 1);
		keep_extreme(row->least, v, -1);
	}
	return 0;
}

static int gather_rows(struct stats *s)
{
	int err = matrix_name(&s->m, 0, &s->sel, &s->ev);

	if (!err)
		err = matrix_fit(&s->m);
	if (err)
		return err;
	s->nr_rows = s->m.nr_rows;
	s->row = calloc(s->nr_rows + 1, sizeof(*s->row));
	if (!s->row)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr_rows; i++)
		s->row[i].row = s->m.row[i];
	return matrix_each(&s->m, 0, &s->sel, &s->ev, on_column, s);
}

static int gather_categories(struct stats *s)
{
	struct explainer_kept kept = { 0 };
	struct stats_busy busy = { 0 };
	int err = explainer_keep(&s->req->select, &s->sel, &kept);

	if (!err)
		err = stats_busy_read(&busy, &s->sel, &s->ev, kept.images);
	for (size_t i = 0; i < s->sel.epochs.nr && !err; i++)
		err = stats_add_categories(s, &busy, &kept, &s->sel.epochs.epoch[i]);
	stats_busy_fini(&busy);
	explainer_drop(&kept);
	return err;
}

/* Tests all rows, and sums them up. */
static int test(struct stats *s)
{
	const double rate = s->req->fdr > 0 ? s->req->fdr : DEFAULT_RATE;
	struct spread *spread = calloc(s->nr_rows + 1, sizeof(*spread));
	struct spread_test *out = calloc(s->nr_rows + 1, sizeof(*out));
	int err = spread && out ? 0 : -ENOMEM;

	for (size_t i = 0; i < s->nr_rows && !err; i++) {
		spread[i] = s->row[i].spread;
		s->sum += spread[i].sum;
	}
	if (!err)
		err = spread_test(spread, s->nr_rows, &s->runs, rate, out, &s->cv);
	for (size_t i = 0; i < s->nr_rows && !err; i++)
		s->row[i].test = out[i];
	free(spread);
	free(out);
	return err;
}

/* The words of --sort; each sorts the greatest first. */
static double by_range(const struct stats_row *r)
{
	return spread_range(&r->spread);
}

static double by_sum(const struct stats_row *r)
{
	return r->spread.sum;
}

static double by_mean(const struct stats_row *r)
{
	return r->spread.mean;
}

static double by_deviation(const struct stats_row *r)
{
	return r->spread.squares;
}

static double by_min(const struct stats_row *r)
{
	return r->spread.min;
}

static double by_max(const struct stats_row *r)
{
	return r->spread.max;
}

static double by_excess(const struct stats_row *r)
{
	return r->test.excess + (r->test.ratio > 0 ? 1 - 1 / (1 + r->test.ratio) : 0);
}

static const struct {
	const char *name;
	double (*value)(const struct stats_row *r);
} keys[] = {
	{ "range", by_range },       { "sum", by_sum }, { "mean", by_mean },
	{ "std-dev", by_deviation }, { "min", by_min }, { "max", by_max },
	{ "excess", by_excess },
};

static int compare(const void *va, const void *vb, void *ctx)
{
	double (*const *value)(const struct stats_row *r) = ctx;
	const struct stats_row *a = va, *b = vb;
	const double x = (*value)(a), y = (*value)(b);

	if (x != y)
		return x < y ? 1 : -1;
	if (a->spread.sum != b->spread.sum)
		return a->spread.sum < b->spread.sum ? 1 : -1;
	if (a->row && b->row)
		return (a->row->index > b->row->index) -
		       (a->row->index < b->row->index);
	return 0;
}

static int sort(struct stats *s)
{
	const char *key = s->req->sort ? s->req->sort : keys[0].name;
	size_t i = 0;

	while (i < sizeof(keys) / sizeof(keys[0]) && strcmp(keys[i].name, key) != 0)
		i++;
	if (i == sizeof(keys) / sizeof(keys[0])) {
		log_err("--sort=%s: say range, sum, mean, std-dev, min, max or excess",
			key);
		return -EINVAL;
	}
	qsort_r(s->row, s->nr_rows, sizeof(*s->row), compare, (void *)&keys[i].value);
	return 0;
}

static int gather(struct stats *s)
{
	int err =
		events_init(&s->ev, &s->sel.streams, select_newest(&s->sel)->clock_hz);

	if (!err)
		err = s->req->by == BY_CATEGORY ? gather_categories(s) : gather_rows(s);
	if (!err)
		err = test(s);
	if (err && err != -ECANCELED)
		prof_context_failed(prof_context_kind(s->req->by), &s->sel, err);
	return err ? err : sort(s);
}

static bool is_run(const struct query_epoch *e)
{
	return e->to_ns > e->from_ns || e->samples;
}

/*
 * Leaves out epochs that just began, because nothing of them was flushed yet. If all
 * epochs are such, they stay, and the report says that there are no samples.
 */
static void leave_out_empty(struct selection *sel)
{
	struct buf left_out = { 0 };
	char id[SELECT_ID_SIZE];
	size_t nr = 0;

	for (size_t i = 0; i < sel->epochs.nr; i++)
		nr += is_run(&sel->epochs.epoch[i]);
	if (!nr || nr == sel->epochs.nr)
		return;
	for (size_t i = 0; i < sel->epochs.nr;) {
		const struct query_epoch *e = &sel->epochs.epoch[i];

		if (is_run(e)) {
			i++;
			continue;
		}
		buf_printf(&left_out, "%s%s", left_out.len ? ", " : "",
			   select_epoch_id(sel, e, id));
		query_epochs_remove(&sel->epochs, i);
	}
	log_warn("stats: left out, of no length and no samples: %s",
		 buf_str(&left_out));
	buf_fini(&left_out);
}

int stats_open(const struct stats_request *req, struct stats *s)
{
	int err;

	memset(s, 0, sizeof(*s));
	s->req = req;
	err = select_open(&req->select, &s->sel);
	if (err)
		return err;
	leave_out_empty(&s->sel);
	matrix_init(&s->m, req->by, true);
	err = gather(s);
	if (err)
		stats_close(s);
	else
		select_end_read(&s->sel);
	return err;
}

void stats_close(struct stats *s)
{
	free(s->row);
	matrix_fini(&s->m);
	events_fini(&s->ev);
	select_close(&s->sel);
}
