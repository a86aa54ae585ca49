/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats_category.c - the rows of cpi sum as rows of statistics, one epoch at a time
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "report/compare/stats.h"
#include "report/explain/summary.h"

static bool is_busy(void *ctx, const struct query_image *image,
		    const struct symbol *symbol, double samples)
{
	(void)samples; /* of this epoch; the sum over all epochs decides */
	return stats_busy_has(ctx, image->id, symbol->start);
}

/* Sums up an epoch that has samples; sample is the time of one. */
static int sum(struct explainer *x, const struct stats_busy *busy,
	       struct summary *summary, double *sample)
{
	const struct scope *s = explainer_scope(x);
	int err = scope_needs_time(s);

	if (err)
		return err;
	*sample = s->ev.weight[s->first];
	summary->unknown = scope_unknown(s);
	explainer_leave_out(x, is_busy, (void *)busy, true);
	return summary_explain(summary, x);
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
	struct summary summary = { .has_few = true };
	double unit, exposure, sample = events_sample(&s->ev, 0);
	const struct explain_request req = { .select = s->req->select };
	struct explainer *x = NULL;
	size_t nr;
	int err = explainer_open_epoch(&req, &s->sel, epoch, kept, &x);

	if (!err && x)
		err = sum(x, busy, &summary, &sample);
	explainer_close(x);
	if (err)
		return err == -ENOMEM ? err : -ECANCELED;
	nr = summary_rows(&summary, row);
	for (size_t i = 0; i < nr; i++)
		column.total += row[i].samples * sample;
	column.seconds = matrix_seconds(epoch);
	column.sample = sample;
	if (!s->row)
		err = make_rows(s, row, nr);
	if (err)
		return err;
	stats_scale(s, &column, &unit, &exposure);
	spread_runs_add(&s->runs, exposure);
	/* These are estimates, so tests for counts do not apply. */
	for (size_t i = 0; i < nr; i++)
		spread_add(&s->row[i].spread, row[i].samples * sample / unit, 0,
			   exposure);
	return 0;
}
