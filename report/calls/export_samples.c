/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_samples.c - opens the selection that an export writes
 *
 * Chooses the columns, the kinds of context, and the source of stacks: samples without
 * callers (export_flat.c) or call stacks (export_stacks.c). The writers of formats use
 * only this interface.
 */
#include "config.h"

#include "report/calls/export_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "report/profile/prof.h"
#include "report/select/select_stacks.h"

static void make_columns(struct export_samples *w)
{
	for (size_t i = 0; i < w->ev.nr; i++)
		w->column[i].event = w->ev.event[i].name;
	w->nr_columns = w->ev.nr;
	for (size_t i = 0; i < w->ev.nr; i++) {
		const struct selected_event *e = &w->ev.event[i];
		const bool is_time = !i && e->is_time;

		if (!is_time && !e->mixed)
			continue;
		w->amount[i] = w->nr_columns;
		w->column[w->nr_columns++] = (struct export_column){
			.event = e->name,
			.is_time = e->is_time,
			.is_amount = !is_time,
		};
	}
}

/* Adds each kind if the epochs have profiles by it and the kinds so far together. */
static int find_kinds(struct export_samples *w)
{
	int err = 0;

	for (int kind = 0; kind < NR_CONTEXT_KINDS && !err; kind++) {
		err = query_need_contexts(w->sel.db, &w->sel.epochs,
					  w->kinds | 1u << kind);
		if (!err)
			w->kinds |= 1u << kind;
		else if (err == -CPI_EEMPTY)
			err = 0;
	}
	return err;
}

static int need_kinds(struct export_samples *w)
{
	int err = query_need_contexts(w->sel.db, &w->sel.epochs, w->kinds);

	if (err == -CPI_EEMPTY)
		select_failed_contexts(&w->sel, w->kinds);
	else if (err)
		select_failed(&w->sel, err);
	return err;
}

/*
 * Chooses the requested kinds, or all that exist. Call stacks always have commands,
 * even if profiles have none.
 */
static int choose_kinds(struct export_samples *w)
{
	const unsigned int restricted = query_restricted_kinds(&w->sel.query);
	const unsigned int always = w->req->call_stacks ? 1u << CONTEXT_COMM : 0;
	const int by = w->req->labels;
	int err = 0;

	w->kinds = restricted;
	if (by == EXPORT_BY_ANY)
		err = find_kinds(w);
	else if (by != EXPORT_BY_NONE)
		w->kinds |= 1u << (by - EXPORT_BY_KIND);
	if (!err && by >= EXPORT_BY_KIND && w->kinds & ~always)
		err = need_kinds(w);
	if (by == EXPORT_BY_ANY && !restricted)
		w->kinds |= always;
	while (w->kinds && !(w->kinds & 1u << w->kind))
		w->kind++;
	if (by >= EXPORT_BY_KIND)
		w->kind = by - EXPORT_BY_KIND;
	return err;
}

static int open_selection(struct export_samples *w)
{
	const struct select_request *select = &w->req->select;
	int err;

	if (w->req->call_stacks) {
		w->each = export_samples_stacks;
		return select_stacks(select, select->epoch, &w->sel);
	}
	w->each = export_samples_flat;
	err = select_open_epochs(select, select->epoch, SELECT_SUMS, &w->sel);
	/* A store adds up machines, too; but each sample has its machine. */
	if (err || !select_is_store(&w->sel) || export_samples_nr_hosts(w) < 2)
		return err;
	select_close(&w->sel);
	return select_open_epochs(select, select->epoch, SELECT_TOGETHER, &w->sel);
}

int export_samples_open(const struct export_request *req, struct export_samples *w)
{
	int err;

	memset(w, 0, sizeof(*w));
	w->req = req;
	err = open_selection(w);
	if (err)
		return err;
	err = events_init(&w->ev, &w->sel.streams, select_newest(&w->sel)->clock_hz);
	if (err)
		select_failed(&w->sel, err);
	else
		err = choose_kinds(w);
	if (!err && !req->call_stacks)
		err = procedure_evidence_open(&req->select, &w->sel, &w->ev,
					      &w->evidence);
	if (err)
		export_samples_close(w);
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

int export_samples_each_host(struct export_samples *w, export_samples_host_fn fn,
			     void *ctx)
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

int export_samples_open_images(struct export_samples *w, struct image_cache **out)
{
	const struct select_request *select = &w->req->select;

	*out = image_cache_new(w->sel.db, machine_of(select_newest(&w->sel)->arch),
			       IMAGE_WARN_TEN);
	return *out ? image_cache_search(*out, select->debug_dir, select->debuginfod)
		    : -ENOMEM;
}

const char *export_samples_missing_context(const struct export_samples *w)
{
	static const enum prof_by by[NR_CONTEXT_KINDS] = {
		[CONTEXT_COMM] = BY_COMM,     [CONTEXT_CGROUP] = BY_CGROUP,
		[CONTEXT_LABEL] = BY_LABEL,   [CONTEXT_PROCESS] = BY_PROCESS,
		[CONTEXT_THREAD] = BY_THREAD,
	};

	return w->kinds ? prof_contexts[by[w->kind]].missing : NULL;
}

void export_samples_add(const struct export_samples *w, size_t event, uint64_t n,
			double weight, struct evidence_use use, double *value)
{
	const struct evidence *fit =
		w->evidence ? procedure_evidence_fit(w->evidence) : NULL;
	const bool is_time = fit && evidence_counts(fit, event);

	value[event] += (double)n;
	if (is_time)
		value[w->amount[0]] +=
			(double)n * weight * evidence_factor(fit, event, use);
	if (w->amount[event] && (!is_time || event))
		value[w->amount[event]] += (double)n * weight;
}

void export_samples_say_idle(double samples)
{
	if (samples > 0)
		log_info("%.0f samples of [idle] are left out: --idle takes them, too",
			 samples);
}

size_t export_samples_nr_hosts(const struct export_samples *w)
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

void export_samples_close(struct export_samples *w)
{
	procedure_evidence_close(w->evidence);
	events_fini(&w->ev);
	select_close(&w->sel);
}
