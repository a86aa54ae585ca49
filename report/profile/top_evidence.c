/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_evidence.c - combines ticks and random samples into the time of cpi top's rows
 *
 * Each row keeps two sums: all of its samples, which decide whether it departs, and
 * those of the current look.
 */
#include "config.h"

#include "report/profile/top_evidence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "report/select/optional_text.h"

struct summed_row {
	struct hnode node;
	char *name, *image; /* the latter may be NULL */
	struct evidence_row all;
	struct combine_row look[NR_EVIDENCE_MODES]; /* of the current look */
};

static struct summed_row *row_of(struct hnode *n)
{
	return container_of(n, struct summed_row, node);
}

static void row_free(struct summed_row *r)
{
	free(r->name);
	free(r->image);
	free(r);
}

void top_evidence_fini(struct top_evidence *e)
{
	struct hnode *n, *next;

	for (int by = 0; by < NR_TOP_BY; by++) {
		hmap_for_each (&e->rows[by], n, next)
			row_free(row_of(n));
		hmap_fini(&e->rows[by]);
	}
}

static struct summed_row *row_new(const char *name, const char *image)
{
	struct summed_row *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	if (!optional_text_copy(name, &r->name) &&
	    !optional_text_copy(image, &r->image))
		return r;
	row_free(r);
	return NULL;
}

/* Finds or makes a row. Returns NULL when out of memory. */
static struct summed_row *find_row(struct hmap *rows, const char *name,
				   const char *image)
{
	const uint64_t hash = optional_text_hash(optional_text_hash(0, name), image);
	struct summed_row *r;

	for (struct hnode *n = hmap_first(rows, hash); n; n = hmap_next(n)) {
		if (optional_text_same(row_of(n)->name, name) &&
		    optional_text_same(row_of(n)->image, image))
			return row_of(n);
	}
	if (rows->nr >= TOP_ROWS && (image || strcmp(name, TOP_OTHER) != 0))
		return find_row(rows, TOP_OTHER, NULL);
	r = row_new(name, image);
	if (r && !hmap_insert(rows, &r->node, hash))
		return r;
	if (r)
		row_free(r);
	return NULL;
}

int top_evidence_add(struct top_evidence *e, enum top_by by, const char *name,
		     const char *image, const struct top_amount *a)
{
	struct summed_row *r = find_row(&e->rows[by], name, image);
	struct event_sum *total = a->ticks ? &e->ticks[by] : &e->random[by];
	const int mode = a->kernel ? EVIDENCE_KERNEL : EVIDENCE_USER;
	const double ns = (double)a->n * a->weight;

	if (!r)
		return -ENOMEM;
	total->n += a->n;
	total->weight += ns;
	*(a->ticks ? &r->all.in[mode].ticks_ns : &r->all.in[mode].random_ns) += ns;
	if (a->fresh)
		*(a->ticks ? &r->look[mode].ticks_ns : &r->look[mode].random_ns) += ns;
	return 0;
}

static int put_row(const struct evidence *e, struct summed_row *r, enum top_by by,
		   struct top *t)
{
	double ns = 0;

	for (int mode = 0; mode < NR_EVIDENCE_MODES; mode++) {
		const struct evidence_use use = { mode, r->all.departs };

		ns += evidence_time(e, use, r->look[mode].random_ns,
				    r->look[mode].ticks_ns);
		r->look[mode] = (struct combine_row){ 0 };
	}
	if (!(ns > 0))
		return 0;
	return by == TOP_PROCEDURE ? top_add_busy(t, r->name, r->image, ns)
				   : top_add(t, by, r->name, r->image, ns);
}

static int put_rows(struct top_evidence *e, const struct events *ev, enum top_by by,
		    struct top *t)
{
	struct evidence_row *rows = calloc(e->rows[by].nr + 1, sizeof(*rows));
	struct hnode *n, *next;
	struct evidence fit;
	size_t i = 0;
	int err;

	if (!rows)
		return -ENOMEM;
	evidence_begin(&fit, ev);
	hmap_for_each (&e->rows[by], n, next) {
		rows[i] = row_of(n)->all;
		rows[i++].departs = false;
	}
	err = evidence_fit(&fit, rows, i, &e->random[by], &e->ticks[by]);
	i = 0;
	hmap_for_each (&e->rows[by], n, next) {
		row_of(n)->all.departs = rows[i++].departs;
		if (!err)
			err = put_row(&fit, row_of(n), by, t);
	}
	free(rows);
	return err;
}

int top_evidence_put(struct top_evidence *e, const struct events *ev, struct top *t)
{
	int err = 0;

	for (int by = 0; by < NR_TOP_BY && !err; by++)
		err = put_rows(e, ev, by, t);
	return err;
}
