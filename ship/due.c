/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * due.c - makes shipments of epochs, in order
 */
#include "config.h"

#include "ship/due.h"

#include <string.h>

#include "ship/sums.h"

_Static_assert(SHIP_MAX_MEMBERS < SHIP_MAX_DUE, "the end of each sum can be found");

static int begin(struct ship_due *d, const struct ship_how *how, struct ship_epoch *e)
{
	int err = ship_sums_begin(how, e);

	if (err)
		return err;
	d->epoch[d->nr++] = *e;
	memset(e, 0, sizeof(*e));
	return 0;
}

/* Whether e, and what follows it in its run, waits for a later batch. */
static bool must_wait(struct ship_due *d, struct ship_epoch *last, bool joins,
		      const struct ship_epoch *e, bool is_busy)
{
	if (last && !joins)
		last->is_complete = true;
	if (last && (!joins || is_busy) && ship_sums_cut(last, e->from_ns))
		return true; /* the members that were removed come first */
	return is_busy || (!joins && d->nr == d->max);
}

int ship_due_take(struct ship_due *d, const struct ship_how *how, struct ship_epoch *e,
		  bool is_busy)
{
	struct ship_epoch *last = d->nr ? &d->epoch[d->nr - 1] : NULL;
	bool joins;

	d->nr_looked_at++;
	d->is_last = false;
	if (e->run == d->busy_run)
		return 0;
	if (last && last->run != e->run)
		last = NULL;
	joins = last && ship_sums_joins(how, last, e);
	if (must_wait(d, last, joins, e, is_busy)) {
		d->busy_run = e->run;
		return 0;
	}
	d->is_last = true;
	return joins ? ship_sums_join(last, e) : begin(d, how, e);
}

/*
 * A sum does not end where the limit on epochs was reached: more of its epochs may
 * follow. So it waits for the next batch, unless this batch has nothing else.
 */
static void end_at_limit(struct ship_due *d)
{
	struct ship_epoch *last = &d->epoch[d->nr - 1];

	if (!last->nr_members || *last->label)
		return;
	if (d->nr > 1)
		last->is_complete = false;
	else
		ship_sums_cut(last, last->member[last->nr_members - 1].from_ns);
}

void ship_due_end(struct ship_due *d)
{
	size_t nr = 0;

	if (d->nr && d->is_last && d->nr_looked_at >= SHIP_MAX_DUE)
		end_at_limit(d);
	for (size_t i = 0; i < d->nr; i++) {
		if (d->epoch[i].is_complete)
			d->epoch[nr++] = d->epoch[i];
		else
			ship_epoch_fini(&d->epoch[i]);
	}
	d->nr = nr;
}
