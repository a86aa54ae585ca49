/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_history.c - finds earlier epochs of the same machine, which show how much epochs
 *                  differ by chance
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "report/compare/diff.h"
#include "report/profile/prof_context.h"

/* The most earlier epochs that are used: the newest ones before A and B. */
#define MAX_EPOCHS 30
#define MAX_BACK   200

static bool same_machine(const struct query_epoch *a, const struct query_epoch *b)
{
	return !strcmp(a->host, b->host) && !strcmp(a->arch, b->arch) &&
	       !strcmp(a->cpu, b->cpu) && a->nr_cpus == b->nr_cpus;
}

static int64_t first_id(const struct diff *d)
{
	int64_t first = INT64_MAX;

	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < d->sel[side].epochs.nr; i++) {
			const int64_t id = d->sel[side].epochs.epoch[i].id;

			first = id < first ? id : first;
		}
	}
	return first;
}

/* Whether the epoch has the event and the contexts by which A and B are compared. */
static bool is_alike(const struct diff *d, struct query_epoch *e)
{
	const struct query_epochs one = { e, 1 };
	const struct selection *sel = &d->sel[COMPARE_A];
	const unsigned int restricted = query_restricted_kinds(&sel->query);
	const int by = d->req->by;
	struct query_streams streams;
	bool has;

	if (query_streams(sel->db, &one, d->ev[COMPARE_A].event[0].name, &streams))
		return false;
	has = streams.nr > 0;
	query_streams_fini(&streams);
	if (has && (restricted || (by != BY_COMM && prof_context_kind(by))))
		has = !query_need_contexts(sel->db, &one,
					   restricted | prof_context_kind(by));
	return has;
}

/* The ids of the suitable epochs, separated by commas. */
static void put_ids(const struct diff *d, const struct query_epochs *epochs,
		    struct buf *ids)
{
	const struct query_epoch *newest = select_newest(&d->sel[COMPARE_A]);
	size_t nr = 0;

	for (size_t i = epochs->nr;
	     i-- && nr < MAX_EPOCHS && epochs->nr - i <= MAX_BACK;) {
		if (!same_machine(&epochs->epoch[i], newest) ||
		    !epochs->epoch[i].samples || !is_alike(d, &epochs->epoch[i]))
			continue;
		buf_printf(ids, "%s%" PRId64, nr++ ? "," : "", epochs->epoch[i].id);
	}
	buf_str(ids);
}

int diff_find_history(struct diff *d)
{
	const struct query_machines of = { d->req->select.host,
					   d->req->select.platform };
	const char *wanted = d->req->history;
	const int64_t first = first_id(d);
	struct query_epochs epochs;
	struct buf ids = { 0 };
	char range[64];
	int err;

	if (wanted && strcmp(wanted, "none") != 0)
		d->spec[COMPARE_EARLIER] = wanted;
	if (wanted || d->req->select.dbs.nr > 1 ||
	    (diff_nr_runs(d, COMPARE_A) >= COMPARE_MIN_RUNS &&
	     diff_nr_runs(d, COMPARE_B) >= COMPARE_MIN_RUNS))
		return 0;
	snprintf(range, sizeof(range), "1..%" PRId64, first - 1);
	if (first <= 1 || query_epochs_of(d->sel[COMPARE_A].db, range, &of, &epochs))
		return 0;
	put_ids(d, &epochs, &ids);
	query_epochs_fini(&epochs);
	err = ids.err;
	if (!err && ids.len)
		d->history = strdup(ids.data);
	if (!err && ids.len && !d->history)
		err = -ENOMEM;
	d->spec[COMPARE_EARLIER] = d->history;
	buf_fini(&ids);
	return err;
}
