/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/weighing.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

enum { AUTO, NONE, FIRST_KIND };

static void make_columns(struct weighing *w)
{
	for (size_t i = 0; i < w->ev.nr; i++)
		w->column[i].event = w->ev.event[i].name;
	w->time = w->nr_columns = w->ev.nr;
	if (w->ev.event[0].is_time)
		w->column[w->nr_columns++] =
			(struct weighed_column){ w->ev.event[0].name, true };
}

/* The kind of context that was asked for, or the first one that there is. */
static int choose_kind(struct weighing *w)
{
	const int by = w->ctx->opt.labels;
	int err = -CPI_EEMPTY;

	if (w->sel.query.context) {
		w->kind = w->sel.query.kind;
		w->has_contexts = true;
		return 0;
	}
	for (int kind = 0; kind < NR_CONTEXT_KINDS && err == -CPI_EEMPTY; kind++) {
		if (by == NONE || (by != AUTO && kind != by - FIRST_KIND))
			continue;
		w->kind = kind;
		err = query_need_contexts(w->sel.db, &w->sel.epochs, kind);
	}
	w->has_contexts = !err;
	if (err == -CPI_EEMPTY && by < FIRST_KIND)
		return 0;
	if (err == -CPI_EEMPTY)
		select_failed_contexts(&w->sel, by - FIRST_KIND);
	else if (err)
		select_failed(w->ctx, &w->sel, err);
	return err;
}

/* A selection by one kind of context has no labels of another. */
int weighing_check_by(const struct cmd_context *ctx)
{
	for (int kind = 0; kind < NR_CONTEXT_KINDS; kind++) {
		if (ctx->opt.context[kind] && ctx->opt.labels >= FIRST_KIND &&
		    ctx->opt.labels - FIRST_KIND != kind)
			return cmd_usage_error(ctx->cmd,
					       "--by=%s: profiles are kept by one kind "
					       "of context each: --%s chooses among "
					       "those of another",
					       context_kind_str(ctx->opt.labels -
								FIRST_KIND),
					       context_kind_str(kind));
	}
	return 0;
}

int weighing_open(const struct cmd_context *ctx, struct weighing *w)
{
	int err;

	memset(w, 0, sizeof(*w));
	w->ctx = ctx;
	w->each = weighing_flat;
	err = select_open(ctx, &w->sel);
	if (err)
		return err;
	err = events_init(&w->ev, &w->sel.streams, select_newest(&w->sel)->clock_hz);
	if (err)
		select_failed(ctx, &w->sel, err);
	else
		err = choose_kind(w);
	if (err)
		weighing_close(w);
	else
		make_columns(w);
	return err;
}

size_t weighing_nr_hosts(const struct weighing *w)
{
	const struct query_epochs *e = &w->sel.epochs;
	size_t nr = 0;

	for (size_t i = 0; i < e->nr; i++) {
		size_t first = 0;

		while (strcmp(e->epoch[first].host, e->epoch[i].host) != 0)
			first++;
		nr += first == i;
	}
	return nr;
}

void weighing_close(struct weighing *w)
{
	events_fini(&w->ev);
	select_close(&w->sel);
}
