/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containers.c - reads the names of containers
 */
#include "config.h"

#include "db/query/containers.h"

#include <errno.h>
#include <stdio.h>

#include "db/core/rows.h"
#include "db/core/sql.h"

struct found {
	char *name;
	size_t size;
	bool any;
};

static int take_name(sqlite3_stmt *st, void *ctx)
{
	struct found *f = ctx;
	int err = rows_check_columns(st, 0, "t");

	if (err)
		return err;
	snprintf(f->name, f->size, "%s", sql_text(st, 0));
	f->any = true;
	return 0;
}

int query_container_name(struct db *db, const char *id, char *name, size_t size)
{
	struct found f = { name, size, false };
	int err = sql_each(db_handle(db), take_name, &f,
			   "SELECT name FROM container WHERE id = ?1", "s", id);

	return err || f.any ? err : -ENOENT;
}
