/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * removal.c - removes the rows of an epoch in slices, then rows that are not used
 *
 * Rows that count in a tally are removed first, each in one transaction with its
 * count, so the epoch adds up at every commit. Unused images and contexts are
 * found without a lock. Each is checked again before it is removed, because a
 * flush may have used it in the meantime.
 */
#include "config.h"

#include "db/retain/removal.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/grow.h"
#include "db/core/rows.h"
#include "db/core/set_rows.h"
#include "db/core/sql.h"

static int check_epoch(sqlite3 *h, int64_t epoch)
{
	int64_t open, labelled, busy;
	int err = sql_get(h, &open, "SELECT open FROM epoch WHERE id = ?1", "i", epoch);

	if (!err)
		err = sql_get(h, &labelled,
			      "SELECT label != '' FROM epoch"
			      " WHERE id = ?1",
			      "i", epoch);
	if (!err)
		err = sql_get(h, &busy,
			      "SELECT EXISTS (SELECT 1 FROM roll WHERE epoch = ?1)",
			      "i", epoch);
	if (err)
		return err;
	return labelled ? -EPERM : open || busy ? -EBUSY : 0;
}

int removal_begin(struct slice *s, int64_t epoch)
{
	int err = slice_begin(s);

	if (err)
		return err;
	err = check_epoch(s->h, epoch);
	if (!err)
		err = sql_do(s->h,
			     "INSERT INTO roll (epoch, target, image, context)"
			     " VALUES (?1, NULL, 0, 0)",
			     "i", epoch);
	return slice_end(s, err);
}

static int remove_comms(struct slice *s, int64_t epoch)
{
	int err =
		sql_do(s->h,
		       "DELETE FROM comm WHERE epoch = ?1 AND (comm, image, stream) IN"
		       " (SELECT comm, image, stream FROM comm WHERE epoch = ?1"
		       " LIMIT 200)",
		       "i", epoch);

	return err ? err : sqlite3_changes(s->h) > 0;
}

static int remove_rest(sqlite3 *h, int64_t epoch)
{
	static const char *const statements[] = {
		"DELETE FROM stack_image WHERE epoch = ?1",
		"DELETE FROM loss WHERE epoch = ?1",
		"DELETE FROM tally WHERE epoch = ?1",
		"DELETE FROM flush WHERE epoch = ?1",
		"DELETE FROM spread WHERE epoch = ?1",
		"DELETE FROM rolled WHERE epoch = ?1",
		"DELETE FROM roll WHERE epoch = ?1",
		"DELETE FROM epoch WHERE id = ?1",
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(statements) / sizeof(statements[0]); i++)
		err = sql_do(h, statements[i], "i", epoch);
	return err;
}

static int remove_some(struct slice *s, int64_t epoch)
{
	int err;

	do {
		err = set_rows_remove(s, &profile_set, epoch);
		if (!err)
			err = remove_comms(s, epoch);
		for (size_t i = 0; !err && i < NR_SET_KINDS; i++)
			err = set_rows_remove(s, set_kinds[i], epoch);
	} while (err == 1 && !slice_is_full(s));
	return err ? err : remove_rest(s->h, epoch);
}

int removal_step(struct slice *s)
{
	int64_t epoch;
	int more, err = slice_begin(s);

	if (err)
		return err;
	err = sql_get(s->h, &epoch,
		      "SELECT epoch FROM roll WHERE target IS NULL LIMIT 1", "");
	if (err) {
		slice_end(s, err);
		return err == -ENOENT ? 0 : err;
	}
	more = remove_some(s, epoch);
	err = slice_end(s, more < 0 ? more : 0);
	return err ? err : 1;
}

/* How to find and remove the rows of a table that no other row refers to. */
struct orphan_kind {
	const char *list; /* their ids */
	/* ?1: an id, ?2: the first epoch that may have been written since the list */
	const char *is_used;
	const char *const *remove; /* by ?1; NULL ends them */
};

static const char *const remove_image[] = {
	"DELETE FROM symbol WHERE image = ?1",
	"DELETE FROM code WHERE image = ?1",
	"DELETE FROM capture WHERE image = ?1",
	"DELETE FROM instruction WHERE image = ?1",
	"DELETE FROM image WHERE id = ?1",
	NULL,
};

static const char *const remove_context[] = {
	"DELETE FROM context WHERE id = ?1",
	NULL,
};

static const struct orphan_kind orphan_kinds[] = {
	{ "SELECT id FROM image WHERE id != 0 EXCEPT SELECT image FROM profile"
	  " EXCEPT SELECT image FROM comm EXCEPT SELECT image FROM stack_image"
	  " EXCEPT SELECT image FROM edge EXCEPT SELECT target FROM edge"
	  " EXCEPT SELECT image FROM window_set EXCEPT SELECT image FROM access_set",
	  "SELECT EXISTS (SELECT 1 FROM profile WHERE epoch >= ?2 AND image = ?1)"
	  " OR EXISTS (SELECT 1 FROM comm WHERE epoch >= ?2 AND image = ?1)"
	  " OR EXISTS (SELECT 1 FROM stack_image WHERE epoch >= ?2 AND image = ?1)"
	  " OR EXISTS (SELECT 1 FROM edge WHERE epoch >= ?2"
	  " AND (image = ?1 OR target = ?1))"
	  " OR EXISTS (SELECT 1 FROM window_set WHERE epoch >= ?2 AND image = ?1)"
	  " OR EXISTS (SELECT 1 FROM access_set WHERE epoch >= ?2 AND image = ?1)",
	  remove_image },
	{ "SELECT id FROM context WHERE id != 0 EXCEPT SELECT context FROM profile"
	  " EXCEPT SELECT context FROM stack"
	  " EXCEPT SELECT context FROM window_set"
	  " EXCEPT SELECT context FROM access_set",
	  "SELECT EXISTS (SELECT 1 FROM profile WHERE epoch >= ?2 AND context = ?1)"
	  " OR EXISTS (SELECT 1 FROM stack WHERE epoch >= ?2 AND context = ?1)"
	  " OR EXISTS (SELECT 1 FROM window_set WHERE epoch >= ?2"
	  " AND context = ?1)"
	  " OR EXISTS (SELECT 1 FROM access_set WHERE epoch >= ?2"
	  " AND context = ?1)",
	  remove_context },
};

struct ids {
	int64_t *id;
	size_t nr;
};

static int read_id(sqlite3_stmt *st, void *ctx)
{
	struct ids *list = ctx;

	if (GROW(list->id, list->nr))
		return -ENOMEM;
	list->id[list->nr++] = sqlite3_column_int64(st, 0);
	return 0;
}

/* Keeps a row that a flush has used since the list was made. */
static int remove_orphan(sqlite3 *h, const struct orphan_kind *kind, int64_t id,
			 int64_t since)
{
	int64_t used;
	int err = sql_get(h, &used, kind->is_used, "ii", id, since);

	for (size_t i = 0; !err && !used && kind->remove[i]; i++)
		err = sql_do(h, kind->remove[i], "i", id);
	return err;
}

static int sweep_kind(struct slice *s, const struct orphan_kind *kind)
{
	struct ids list = { 0 };
	int64_t since = 0;
	int err = sql_get(s->h, &since,
			  "SELECT min(id) FROM epoch WHERE open"
			  " OR id = (SELECT max(id) FROM epoch)",
			  "");

	if (!err || err == -ENOENT)
		err = sql_each(s->h, read_id, &list, kind->list, "");
	for (size_t i = 0; !err && i < list.nr;) {
		err = slice_begin(s);
		if (err)
			break;
		while (!err && i < list.nr && !slice_is_full(s))
			err = remove_orphan(s->h, kind, list.id[i++], since);
		err = slice_end(s, err);
	}
	free(list.id);
	return err;
}

int removal_sweep(struct slice *s)
{
	static const char rest[] =
		"DELETE FROM run WHERE state != 0"
		" AND id NOT IN (SELECT run FROM epoch) AND id NOT IN (SELECT run FROM "
		"flush);"
		"DELETE FROM platform WHERE id NOT IN (SELECT platform FROM run);"
		"DELETE FROM gap WHERE to_ns < (SELECT min(from_ns) FROM epoch);"
		"DELETE FROM mark WHERE at_ns < (SELECT min(from_ns) FROM epoch);"
		"DELETE FROM container"
		" WHERE seen_ns < (SELECT min(from_ns) FROM epoch)";
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(orphan_kinds) / sizeof(orphan_kinds[0]);
	     i++)
		err = sweep_kind(s, &orphan_kinds[i]);
	if (!err)
		err = slice_begin(s);
	return err ? err : slice_end(s, sql_exec(s->h, rest));
}
