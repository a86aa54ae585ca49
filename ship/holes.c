/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * holes.c - flushes of runs that the store will not get
 */
#include "config.h"

#include "ship/holes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/log.h"
#include "db/core/sql.h"

void ship_holes_fini(struct ship_holes *list)
{
	free(list->hole);
	*list = (struct ship_holes){ 0 };
}

/* run, first, last */
static int note_hole(sqlite3_stmt *st, void *ctx)
{
	struct ship_holes *list = ctx;

	if (GROW(list->hole, list->nr))
		return -ENOMEM;
	list->hole[list->nr++] = (struct ship_hole){
		.run = sqlite3_column_int64(st, 0),
		.first = (uint64_t)sqlite3_column_int64(st, 1),
		.last = (uint64_t)sqlite3_column_int64(st, 2),
	};
	return 0;
}

int ship_holes_find(struct ship_holes *list, struct db *db)
{
	static const char holes[] =
		"SELECT run, before + 1, first - 1 FROM (SELECT f.run, c.had,"
		" f.seq - f.merged AS first, lag(f.seq, 1, c.last) OVER"
		" (PARTITION BY f.run ORDER BY f.seq) AS before FROM temp.cursor c"
		" JOIN flush f ON f.run = c.run AND f.seq > c.last)"
		" WHERE first > before + 1 AND (before > 0 OR had)";

	return sql_each(db_handle(db), note_hole, list, holes, "");
}

int ship_holes_lose(struct ship_holes *list, struct db *db, int64_t epoch)
{
	static const char sql[] = "SELECT run, seq - merged, seq FROM flush"
				  " WHERE epoch = ?1";
	size_t first = list->nr;
	int err = db_read_check(db);

	if (err)
		return err;
	log_err("ship: epoch %" PRId64 " is damaged and not shipped", epoch);
	err = sql_each(db_handle(db), note_hole, list, sql, "i", epoch);
	for (; first < list->nr; first++)
		list->hole[first].damaged = true;
	return err;
}

int ship_holes_lose_members(struct ship_holes *list, struct db *db,
			    const struct ship_epoch *e)
{
	int err = 0;

	for (size_t i = 0; !err && i < e->nr_members; i++) {
		if (e->member[i].damaged)
			err = ship_holes_lose(list, db, e->member[i].id);
	}
	return err;
}

/* The first epoch of the batch that moves the cursor beyond a hole. */
static const struct ship_epoch *find_beyond(const struct ship_epoch *e, size_t nr,
					    const struct ship_hole *hole)
{
	for (size_t i = 0; i < nr; i++) {
		if (e[i].run == hole->run && e[i].last_flush >= hole->last)
			return &e[i];
	}
	return NULL;
}

void ship_dropped_put(struct buf *rows, uint64_t host, uint64_t at, const char *boot_id,
		      uint64_t run_from_ns, uint64_t first, uint64_t last)
{
	rowbinary_put(rows, '4', host);
	rowbinary_put(rows, '4', at);
	rowbinary_put_string(rows, boot_id, strlen(boot_id));
	rowbinary_put(rows, '8', run_from_ns);
	rowbinary_put(rows, '8', first);
	rowbinary_put(rows, '8', last);
}

int ship_dropped_send(struct ch_store *store, struct buf *rows)
{
	return ch_store_insert(store,
			       "dropped (host, at, boot_id, run_from_ns, first_flush,"
			       " last_flush)",
			       "4ts888", rows);
}

int ship_holes_send(const struct ship_holes *list, struct ch_store *store,
		    const struct ship_epoch *e, size_t nr, uint64_t *nr_dropped)
{
	struct buf rows = { 0 };
	int err;

	for (size_t i = 0; i < list->nr; i++) {
		const struct ship_hole *hole = &list->hole[i];
		const struct ship_epoch *beyond = find_beyond(e, nr, hole);

		if (!beyond)
			continue;
		log_warn("ship: flushes %" PRIu64 " to %" PRIu64
			 " were %s before they were shipped",
			 hole->first, hole->last,
			 hole->damaged ? "damaged" : "removed from the database");
		ship_dropped_put(&rows, beyond->address.host, beyond->address.at,
				 beyond->platform.boot_id, beyond->run_from_ns,
				 hole->first, hole->last);
		*nr_dropped += hole->last - hole->first + 1;
	}
	err = ship_dropped_send(store, &rows);
	buf_fini(&rows);
	return err;
}
