/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cursor.c - how far each run is shipped
 */
#include "config.h"

#include "ship/cursor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/log.h"
#include "ship/contained.h"
#include "ship/rewind.h"

void ship_cursors_forget(struct ship_cursors *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		free(list->cursor[i].host);
		free(list->cursor[i].boot_id);
	}
	free(list->cursor);
	list->cursor = NULL;
	list->nr = 0;
}

struct ship_cursor *ship_cursors_find(const struct ship_cursors *list,
				      const struct ship_run *run)
{
	for (size_t i = list->nr; i--;) {
		struct ship_cursor *c = &list->cursor[i];

		if (c->run.run_from_ns == run->run_from_ns &&
		    !strcmp(c->boot_id, run->boot_id) && !strcmp(c->host, run->host))
			return c;
	}
	return NULL;
}

static int set_next(struct ship_cursor *c, sqlite3 *h, uint64_t next)
{
	c->rewound = next < c->last ? next + 1 : 0;
	c->next = c->until = next;
	return c->rewound ? ship_rewind_until(h, c->id, next, c->last, &c->until) : 0;
}

/*
 * Goes back to the first overlapping shipment that alone has flushes which the database
 * still has.
 */
static int settle(struct ship_cursor *c, sqlite3 *h, const struct shipments *list)
{
	uint64_t next = c->last;
	int err = ship_rewind_overlaps(h, c->id, list, &next);

	return err ? err : set_next(c, h, next);
}

static int ask(struct ship_cursor *c, struct ch_store *store, sqlite3 *h,
	       uint64_t *nr_void)
{
	struct shipments list = { 0 };
	int err = ship_host_number(store, c->host, &c->number);

	if (!err)
		err = ship_last_flush(store, &c->run, &c->last);
	c->committed = c->last;
	if (!err)
		err = ship_read_shipments(store, &c->run, 0, &list);
	if (!err)
		err = settle(c, h, &list);
	if (!err)
		err = ship_void(store, &c->run, &list, !c->rewound, nr_void);
	shipments_fini(&list);
	return err ? err : ship_had_host(store, &c->run, &c->had);
}

int ship_cursors_get(struct ship_cursors *list, struct ch_store *store, sqlite3 *h,
		     int64_t id, const struct ship_run *run, uint64_t *nr_void,
		     struct ship_cursor **out)
{
	struct ship_cursor c = { .id = id };
	int err;

	*out = ship_cursors_find(list, run);
	if (*out) {
		(*out)->id = id; /* another one if the database was replaced */
		return 0;
	}
	c.host = strdup(run->host);
	c.boot_id = strdup(run->boot_id);
	c.run = (struct ship_run){ c.host, c.boot_id, run->run_from_ns };
	err = c.host && c.boot_id ? ask(&c, store, h, nr_void) : -ENOMEM;
	if (!err)
		err = GROW(list->cursor, list->nr);
	if (err) {
		free(c.host);
		free(c.boot_id);
		return err;
	}
	list->cursor[list->nr] = c;
	*out = &list->cursor[list->nr++];
	return 0;
}

void ship_cursor_advance(struct ship_cursor *c, const struct ship_epoch *e)
{
	if (e->last_flush > c->next)
		c->next = e->last_flush;
	if (e->last_flush > c->last)
		c->last = e->last_flush;
	if (c->rewound && e->first_flush < c->rewound)
		c->rewound = e->first_flush;
	if (!e->damaged && e->last_flush > c->committed)
		c->committed = e->last_flush;
}

int ship_cursor_void(struct ship_cursor *c, struct ch_store *store, uint64_t first,
		     uint64_t *nr_void)
{
	struct shipments list = { 0 };
	int err = ship_read_shipments(store, &c->run, first, &list);

	if (!err)
		err = ship_void(store, &c->run, &list, false, nr_void);
	shipments_fini(&list);
	return err;
}

int ship_cursor_rewind(struct ship_cursor *c, struct ch_store *store, sqlite3 *h,
		       uint64_t first)
{
	uint64_t next = c->next, before;
	int err;

	do {
		struct shipments list = { 0 };

		before = next;
		err = ship_read_shipments(store, &c->run, first, &list);
		if (!err)
			err = ship_rewind(h, c->id, &list, &next);
		shipments_fini(&list);
		first = next + 1;
	} while (!err && next < before);
	if (err || next == c->next)
		return err;
	log_info("ship: flushes from %" PRIu64 " on are sent again: their epochs were "
		 "changed after they had been sent",
		 next + 1);
	return set_next(c, h, next);
}

int ship_cursor_end_rewind(struct ship_cursor *c, struct ch_store *store, sqlite3 *h,
			   uint64_t *nr_void)
{
	struct shipments list = { 0 };
	int err = ship_read_shipments(store, &c->run, c->rewound, &list);

	if (!err)
		err = settle(c, h, &list);
	if (!err && ship_rewind_gives_up(&c->nr_rewinds, c->rewound)) {
		log_warn("ship: flushes from %" PRIu64
			 " on cannot all be sent again, as "
			 "their epochs are damaged or too old",
			 c->rewound);
		err = set_next(c, h, c->last);
	}
	if (!err)
		err = ship_void(store, &c->run, &list, !c->rewound, nr_void);
	shipments_fini(&list);
	return err;
}
