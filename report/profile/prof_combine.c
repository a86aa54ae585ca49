/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_combine.c - one time for each row, from ticks and from random samples
 *
 * Of user mode both say where it went (analysis/freq/combine.h). The kernel's time, and
 * idle time, are the random samples' alone: ticks do not see them.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/freq/combine.h"
#include "base/log.h"
#include "report/profile/prof.h"

int prof_combine_begin(struct prof *p)
{
	p->ticks = events_named(&p->ev, EVENT_TICKS);
	if (p->ticks == p->ev.nr || p->ticks == 0) {
		log_err("--combine: the selection has no %s: 'cpid -e cpu-clock -e "
			"ticks' collects both",
			p->ticks ? EVENT_TICKS : "samples of time beside ticks");
		return -ENODATA;
	}
	if (p->primary) {
		log_err("--sort=%s: with --combine, say time, procedure or image",
			p->req->sort);
		return -EINVAL;
	}
	p->primary = p->ev.nr;
	return 0;
}

static double mean_period(const struct prof *p, size_t event)
{
	return p->busy[event].n ? p->busy[event].weight / (double)p->busy[event].n : 1;
}

/* An idle row has neither. */
static void describe(const struct prof *p, const struct prof_row *r,
		     struct combine_row *out)
{
	*out = (struct combine_row){
		.ticks_ns = r->tally[p->ticks].weight,
		.random_ns =
			r->kind == ROW_IDLE ? 0 : r->tally[0].weight - r->kernel_ns,
	};
}

static void take(struct prof *p, struct prof_row *r, const struct combine_row *from)
{
	const size_t both = p->ev.nr;
	struct event_sum *sum = r->kind == ROW_IDLE ? &p->idle[both] : &p->busy[both];

	r->departs = from->departs;
	r->tally[both].weight =
		r->kind == ROW_IDLE ? r->tally[0].weight : r->kernel_ns + from->time_ns;
	sum->weight += r->tally[both].weight;
}

int prof_combine(struct prof *p)
{
	struct combine_row *rows = calloc(p->nr_rows + 1, sizeof(*rows));
	int err;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_rows; i++)
		describe(p, p->row[i], &rows[i]);
	err = combine_rows(rows, p->nr_rows, mean_period(p, p->ticks),
			   mean_period(p, 0), &p->scale);
	if (err == -ENODATA)
		log_err("--combine: the selection has no user mode that both ticks and "
			"%s have samples of",
			p->ev.event[0].name);
	for (size_t i = 0; i < p->nr_rows && !err; i++)
		take(p, p->row[i], &rows[i]);
	free(rows);
	return err;
}
