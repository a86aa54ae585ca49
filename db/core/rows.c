/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rows.c - reads columns that may be damaged
 *
 * SQLite's STRICT tables hold types, but a file from elsewhere may have been written by
 * another program. So each row's types and ranges are checked when it is read.
 */
#include "config.h"

#include "db/core/rows.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/path.h"
#include "db/core/sql.h"

int rows_epoch_ids(const struct query_epochs *e, struct buf *out)
{
	buf_putc(out, '[');
	for (size_t i = 0; i < e->nr; i++)
		buf_printf(out, "%s%" PRId64, i ? "," : "", e->epoch[i].id);
	buf_putc(out, ']');
	buf_str(out);
	return out->err;
}

struct copying {
	rows_read_fn read;
	size_t size;
	struct buf *out;
};

static int copy_row(sqlite3_stmt *st, void *ctx)
{
	const struct copying *c = ctx;
	_Alignas(max_align_t) uint8_t row[ROWS_MAX_SIZE];

	int err = c->read(st, row);

	if (err)
		return err;
	buf_put(c->out, row, c->size);
	return c->out->err;
}

int rows_copy(struct db *db, const struct query_epochs *e, const char *event,
	      const char *sql, rows_read_fn read, size_t size, struct buf *out)
{
	struct copying c = { read, size, out };
	struct buf ids = { 0 };
	int err = rows_epoch_ids(e, &ids);

	assert(size <= ROWS_MAX_SIZE);
	if (!err)
		err = sql_each(db_handle(db), copy_row, &c, sql, event ? "ss" : "s",
			       ids.data, event);
	buf_fini(&ids);
	return err;
}

static bool is_sound(sqlite3_stmt *st, int column, char type)
{
	const int is = sqlite3_column_type(st, column);

	switch (type) {
	case 'N':
		if (is == SQLITE_NULL)
			return true;
		/* fallthrough */
	case 'n':
		return is == SQLITE_INTEGER && sqlite3_column_int64(st, column) >= 0;
	case 'i':
		return is == SQLITE_INTEGER;
	case 't':
		return is == SQLITE_TEXT &&
		       sqlite3_column_bytes(st, column) <= ROWS_MAX_TEXT;
	case 'b':
		return is == SQLITE_BLOB;
	}
	return true;
}

static int refuse_column(sqlite3_stmt *st, int column)
{
	const char *path = sqlite3_db_filename(sqlite3_db_handle(st), "main");
	const char *name = sqlite3_column_name(st, column);
	const int size = sqlite3_column_bytes(st, column);

	if (size > ROWS_MAX_TEXT)
		log_err("db: %s: %s: a %s has %d bytes: restore a copy", path,
			err_str(-CPI_ECORRUPT), name, size);
	else
		log_err("db: %s: %s: a %s is '%.100s': restore a copy", path,
			err_str(-CPI_ECORRUPT), name, sql_text(st, column));
	return -CPI_ECORRUPT;
}

int rows_check_columns(sqlite3_stmt *st, int first, const char *types)
{
	for (int i = 0; types[i]; i++) {
		if (!is_sound(st, first + i, types[i]))
			return refuse_column(st, first + i);
	}
	return 0;
}

int rows_image(sqlite3_stmt *st, int first, struct query_image *image)
{
	struct query_image im = { .id = sqlite3_column_int64(st, first) };
	size_t id_size, content_size;
	const void *id, *content;
	int err = rows_check_columns(st, first, "nntbbiiii");

	if (err)
		return err;
	id = sql_blob(st, first + 3, &id_size);
	content = sql_blob(st, first + 4, &content_size);
	im.desc.kind = sqlite3_column_int(st, first + 1);
	if (id_size <= BUILD_ID_MAX) {
		memcpy(im.desc.build_id, id, id_size);
		im.desc.build_id_size = id_size;
	}
	if (content_size == CONTENT_HASH_SIZE) {
		memcpy(im.desc.content, content, content_size);
		im.desc.has_content = true;
	}
	im.desc.device = sqlite3_column_int64(st, first + 5);
	im.desc.inode = sqlite3_column_int64(st, first + 6);
	im.desc.size = sqlite3_column_int64(st, first + 7);
	im.desc.mtime_ns = sqlite3_column_int64(st, first + 8);
	im.desc.name = strdup(sql_text(st, first + 2));
	if (!im.desc.name)
		return -ENOMEM;
	*image = im;
	return 0;
}

void rows_image_fini(struct query_image *image)
{
	free((char *)image->desc.name);
}

bool rows_image_matches(const struct query_selection *sel, const char *name)
{
	return !sel->image || path_matches(sel->image, name);
}

int rows_check_whole(sqlite3 *h, const char *epochs)
{
	static const char sql[] =
		"SELECT o.epoch FROM roll o"
		" WHERE (o.epoch IN (SELECT value FROM json_each(?1))) !="
		" (o.target IS NOT NULL AND"
		" o.target IN (SELECT value FROM json_each(?1)))"
		" UNION ALL SELECT value FROM json_each(?1)"
		" WHERE value NOT IN (SELECT id FROM epoch) LIMIT 1";
	int64_t epoch;
	int err = sql_get(h, &epoch, sql, "s", epochs);

	if (err)
		return err == -ENOENT ? 0 : err;
	log_err("db: %s: epoch %" PRId64 " is being rolled up or removed: try again in "
		"a moment, or select the whole day",
		sqlite3_db_filename(h, "main"), epoch);
	return -EAGAIN;
}
