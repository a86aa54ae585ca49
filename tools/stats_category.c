/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats_category.c - the rows of cpi sum as rows of statistics, one epoch at a time
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "tools/stats.h"
#include "tools/summary.h"

/* A command of its own, on one epoch. */
struct epoch_sum {
	struct cmd_context ctx;
	const struct stats_busy *busy;
	struct summary summary;
	double sample; /* what its samples stand for */
};

static int on_explanation(void *ctx, const struct explanation *ex)
{
	summary_add(ctx, ex);
	return 0;
}

static bool is_busy(void *ctx, const struct query_image *image,
		    const struct symbol *symbol)
{
	return stats_busy_has(ctx, image->id, symbol->start);
}

static int sum(struct explainer *x)
{
	struct epoch_sum *e = (struct epoch_sum *)x->l->ctx;
	int err = explainer_needs_time(x);

	if (err)
		return err;
	e->sample = x->l->ev.weight[x->first];
	e->summary.unknown = explainer_unknown(x);
	x->enough = is_busy;
	x->enough_ctx = (void *)e->busy;
	return explainer_each(x, on_explanation, &e->summary);
}

static int make_rows(struct stats *s, const struct summary_row *row, size_t nr)
{
	s->row = calloc(nr, sizeof(*s->row));
	if (!s->row)
		return -ENOMEM;
	for (; s->nr_rows < nr; s->nr_rows++) {
		s->row[s->nr_rows].category = row[s->nr_rows].key;
		s->row[s->nr_rows].group = summary_group_name(row[s->nr_rows].group);
	}
	return 0;
}

int stats_add_categories(struct stats *s, const struct stats_busy *busy,
			 struct explainer_kept *kept, const struct query_epoch *epoch)
{
	struct matrix_column column = { .epoch = epoch };
	struct summary_row row[SUMMARY_MAX_ROWS];
	struct epoch_sum e = { .ctx = *s->ctx,
			       .busy = busy,
			       .summary = { .has_few = true },
			       .sample = events_sample(&s->ev, 0) };
	double unit, exposure;
	size_t nr;
	int err = explainer_run_epoch(&e.ctx, &s->sel, epoch, kept, sum);

	if (err)
		return err == -ENOMEM ? err : -ECANCELED;
	nr = summary_rows(&e.summary, row);
	for (size_t i = 0; i < nr; i++)
		column.total += row[i].samples * e.sample;
	column.seconds = matrix_seconds(epoch);
	column.sample = e.sample;
	if (!s->row)
		err = make_rows(s, row, nr);
	if (err)
		return err;
	stats_scale(s, &column, &unit, &exposure);
	spread_runs_add(&s->runs, exposure);
	/* Estimates, not counts: no test of counts is for them. */
	for (size_t i = 0; i < nr; i++)
		spread_add(&s->row[i].spread, row[i].samples * e.sample / unit, 0,
			   exposure);
	return 0;
}
