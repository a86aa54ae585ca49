/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/weighing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "tools/prof.h"
#include "tools/select_stacks.h"

enum { AUTO, NONE, FIRST_KIND };

static void make_columns(struct weighing *w)
{
	for (size_t i = 0; i < w->ev.nr; i++)
		w->column[i].event = w->ev.event[i].name;
	w->nr_columns = w->ev.nr;
	for (size_t i = 0; i < w->ev.nr; i++) {
		const struct event *e = &w->ev.event[i];
		const bool is_time = !i && e->is_time;

		if (!is_time && !e->mixed)
			continue;
		w->amount[i] = w->nr_columns;
		w->column[w->nr_columns++] = (struct weighed_column){
			.event = e->name,
			.is_time = e->is_time,
			.is_amount = !is_time,
		};
	}
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
	if (w->ctx->opt.call_stacks) {
		w->kind = CONTEXT_COMM;
		w->has_contexts = by != NONE;
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

/* What is selected by one kind of context has no labels of another. */
int weighing_check_by(const struct cmd_context *ctx)
{
	const int by = ctx->opt.labels - FIRST_KIND;
	int kind = ctx->opt.call_stacks ? CONTEXT_COMM : by;

	for (int k = 0; k < NR_CONTEXT_KINDS; k++) {
		if (ctx->opt.context[k])
			kind = k;
	}
	if (by < 0 || by == kind)
		return 0;
	return cmd_usage_error(ctx->cmd,
			       "--by=%s: what is selected is kept by %s here, and by "
			       "one kind of context at a time",
			       context_kind_str(by), context_kind_str(kind));
}

static int open_selection(struct weighing *w)
{
	if (w->ctx->opt.call_stacks) {
		w->each = weighing_stacks;
		return select_stacks(w->ctx, w->ctx->opt.epoch, &w->sel);
	}
	w->each = weighing_flat;
	return select_open(w->ctx, &w->sel);
}

int weighing_open(const struct cmd_context *ctx, struct weighing *w)
{
	int err;

	memset(w, 0, sizeof(*w));
	w->ctx = ctx;
	err = open_selection(w);
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

static int compare_hosts(const void *a, const void *b)
{
	const struct query_epoch *x = a, *y = b;
	int c = strcmp(x->host, y->host);

	return c ? c : (x->id > y->id) - (x->id < y->id);
}

int weighing_each_host(struct weighing *w, weighing_host_fn fn, void *ctx)
{
	const struct query_epochs *all = &w->sel.epochs;
	struct query_epoch *epoch = calloc(all->nr, sizeof(*epoch));
	int err = 0;

	if (!epoch)
		return -ENOMEM;
	memcpy(epoch, all->epoch, all->nr * sizeof(*epoch));
	qsort(epoch, all->nr, sizeof(*epoch), compare_hosts);
	for (size_t i = 0, nr; i < all->nr && !err; i += nr) {
		for (nr = 1;
		     i + nr < all->nr && !strcmp(epoch[i + nr].host, epoch[i].host);)
			nr++;
		err = fn(ctx, &(struct query_epochs){ &epoch[i], nr });
	}
	free(epoch);
	return err;
}

int weighing_open_images(struct weighing *w, struct image_cache **out)
{
	const struct cmd_options *o = &w->ctx->opt;

	*out = image_cache_new(w->sel.db, machine_of(select_newest(&w->sel)->arch),
			       true);
	return *out ? image_cache_search(*out, o->debug_dir, o->debuginfod) : -ENOMEM;
}

const char *weighing_missing_whom(const struct weighing *w)
{
	static const enum prof_by by[NR_CONTEXT_KINDS] = {
		[CONTEXT_COMM] = BY_COMM,
		[CONTEXT_CGROUP] = BY_CGROUP,
		[CONTEXT_LABEL] = BY_LABEL,
		[CONTEXT_PROCESS] = BY_PROCESS,
	};

	return w->has_contexts ? prof_contexts[by[w->kind]].missing : NULL;
}

void weighing_add(const struct weighing *w, size_t event, uint64_t n, double weight,
		  double *value)
{
	value[event] += (double)n;
	if (w->amount[event])
		value[w->amount[event]] += (double)n * weight;
}

void weighing_say_idle(double samples)
{
	if (samples > 0)
		log_info("%.0f samples of [idle] are left out: --idle takes them, too",
			 samples);
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
