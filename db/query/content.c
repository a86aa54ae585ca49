/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * content.c - identifies the contents of epochs, to notice changes
 *
 * Sums over the epochs' flushes, their roll-ups, and the numbers of captures of their
 * images are cheap to read, and at least one of them changes with each change of the
 * contents.
 */
#include "config.h"

#include "db/query/content.h"

#include "db/core/rows.h"
#include "db/core/sql.h"

#define FEW_EPOCHS 100 /* for more epochs, all images are read */

static const char flushes[] =
	"SELECT epoch, count(*), sum(seq), sum(merged), sum(received), sum(stored),"
	" sum(lost), max(to_ns) FROM flush"
	" WHERE epoch IN (SELECT value FROM json_each(?1)) GROUP BY epoch";
static const char rolls[] = "SELECT epoch, target, image, context FROM roll"
			    " WHERE ?1 IS NOT NULL ORDER BY epoch";
/* Symbols and code of the kernel and the like come one by one, in any order. */
#define CAPTURED                                                                   \
	"SELECT i.name, i.id, (SELECT max(part) FROM capture WHERE image = i.id)," \
	" (SELECT count(*) FROM symbol WHERE image = i.id),"                       \
	" (SELECT count(*) FROM code WHERE image = i.id) FROM image i WHERE"
static const char captures_of[] =
	CAPTURED " i.id IN"
		 " (SELECT image FROM profile WHERE epoch IN"
		 " (SELECT value FROM json_each(?1))) ORDER BY i.id";
static const char captures[] = CAPTURED " ?1 IS NOT NULL ORDER BY i.id";
#undef CAPTURED

/* Without seen_ns, which changes when a name is only reported again. */
static const char containers[] =
	"SELECT id, name FROM container WHERE ?1 IS NOT NULL ORDER BY id";

struct adding {
	struct buf *out;
	query_content_fn fn;
	void *ctx;
};

static int add_row(sqlite3_stmt *st, void *ctx)
{
	struct adding *a = ctx;

	for (int i = 0; i < sqlite3_column_count(st); i++)
		buf_printf(a->out, "%s ", sql_text(st, i));
	buf_putc(a->out, '\n');
	return a->out->err;
}

static int add_image(sqlite3_stmt *st, void *ctx)
{
	struct adding *a = ctx;
	int err = rows_check_columns(st, 0, "tn");

	if (!err)
		err = add_row(st, ctx);
	return err ? err : a->fn(a->ctx, sql_text(st, 0));
}

int query_content(struct db *db, const struct query_epochs *e, struct buf *out,
		  query_content_fn fn, void *ctx)
{
	struct adding a = { .out = out, .fn = fn, .ctx = ctx };
	const char *images = e->nr > FEW_EPOCHS ? captures : captures_of;
	sqlite3 *h = db_handle(db);
	struct buf ids = { 0 };
	int err = rows_epoch_ids(e, &ids);

	if (!err)
		err = sql_each(h, add_row, &a, flushes, "s", ids.data);
	if (!err)
		err = sql_each(h, add_row, &a, rolls, "s", ids.data);
	if (!err)
		err = sql_each(h, add_row, &a, containers, "s", ids.data);
	if (!err)
		err = sql_each(h, add_image, &a, images, "s", ids.data);
	buf_fini(&ids);
	return err;
}
