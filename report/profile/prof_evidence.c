/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_evidence.c - combines ticks and random samples into the time of each row
 *
 * All rows of one procedure, such as its lines, depart or none does, because they run
 * in the same programs. A row of a part of a selection departs if it departs in the
 * whole selection.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/profile/prof.h"
#include "report/profile/prof_rows.h"

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* Rows of the same procedure and context compare as equal. */
static int by_procedure(const void *va, const void *vb)
{
	const struct prof_row *a = *(struct prof_row *const *)va;
	const struct prof_row *b = *(struct prof_row *const *)vb;
	int c = (a->kind > b->kind) - (a->kind < b->kind);

	if (!c)
		c = (a->image > b->image) - (a->image < b->image);
	if (!c)
		c = (a->start > b->start) - (a->start < b->start);
	if (!c)
		c = compare_text(a->procedure, b->procedure);
	return c ? c : compare_text(a->context, b->context);
}

/* Epochs may have no ticks. */
static double ticks_of(const struct prof *p, const struct prof_row *r)
{
	return p->evidence.both ? r->tally[p->evidence.ticks].weight : 0;
}

static void add_row(const struct prof *p, const struct prof_row *r,
		    struct evidence_row *out)
{
	struct combine_row *user = &out->in[EVIDENCE_USER],
			   *kernel = &out->in[EVIDENCE_KERNEL];

	if (r->kind == ROW_IDLE)
		return;
	user->ticks_ns += ticks_of(p, r) - r->kernel_ticks_ns;
	user->random_ns += r->tally[0].weight - r->kernel_ns;
	kernel->ticks_ns += r->kernel_ticks_ns;
	kernel->random_ns += r->kernel_ns;
}

/* Sums each group of rows into rows[]; group[i] becomes the group of p->row[i]. */
static size_t make_groups(struct prof *p, struct evidence_row *rows, size_t *group)
{
	size_t nr = 0;

	if (p->nr_rows)
		qsort(p->row, p->nr_rows, sizeof(*p->row), by_procedure);
	for (size_t i = 0; i < p->nr_rows; i++) {
		if (i && by_procedure(&p->row[i - 1], &p->row[i]))
			nr++;
		group[i] = nr;
		add_row(p, p->row[i], &rows[nr]);
	}
	return p->nr_rows ? nr + 1 : 0;
}

static double time_of(const struct prof *p, const struct prof_row *r)
{
	const double random = r->tally[0].weight;

	if (r->kind == ROW_IDLE)
		return random;
	return evidence_time(&p->evidence,
			     (struct evidence_use){ EVIDENCE_KERNEL, r->departs },
			     r->kernel_ns, r->kernel_ticks_ns) +
	       evidence_time(&p->evidence,
			     (struct evidence_use){ EVIDENCE_USER, r->departs },
			     random - r->kernel_ns,
			     ticks_of(p, r) - r->kernel_ticks_ns);
}

static void take_time(struct prof *p, struct prof_row *r)
{
	const size_t both = p->ev.nr;
	struct event_sum *sum = r->kind == ROW_IDLE ? &p->idle[both] : &p->busy[both];

	r->tally[both].n = r->tally[0].n; /* counts of two events are not added */
	r->tally[both].weight = time_of(p, r);
	sum->n += r->tally[both].n;
	sum->weight += r->tally[both].weight;
	p->nr_departing += r->departs;
}

/* Takes departs from the whole selection; here each row is a group. */
static void take_departing(struct prof *p, const struct prof *whole,
			   struct evidence_row *rows, size_t *group)
{
	for (size_t i = 0; i < p->nr_rows; i++) {
		const struct prof_row *row = prof_same_row(whole, p->row[i]);

		group[i] = i;
		rows[i].departs = row && row->departs;
		add_row(p, p->row[i], &rows[i]);
	}
	evidence_fit_part(&p->evidence, rows, p->nr_rows, &p->busy[0],
			  &p->busy[p->evidence.ticks]);
}

static int find_departing(struct prof *p)
{
	struct evidence_row *rows = calloc(p->nr_rows + 1, sizeof(*rows));
	size_t *group = calloc(p->nr_rows + 1, sizeof(*group));
	int err = rows && group ? 0 : -ENOMEM;

	if (!err && p->whole)
		take_departing(p, p->whole, rows, group);
	else if (!err)
		err = evidence_fit(&p->evidence, rows, make_groups(p, rows, group),
				   &p->busy[0], &p->busy[p->evidence.ticks]);
	for (size_t i = 0; i < p->nr_rows && !err; i++)
		p->row[i]->departs = rows[group[i]].departs;
	free(rows);
	free(group);
	return err;
}

int prof_take_evidence(struct prof *p)
{
	const int err = find_departing(p);

	for (size_t i = 0; i < p->nr_rows && !err; i++)
		take_time(p, p->row[i]);
	return err;
}
