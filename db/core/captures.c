/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * captures.c - adds parts to table capture, and reads them back
 */
#include "config.h"

#include "db/core/captures.h"

#include <errno.h>

#include "base/err.h"
#include "base/varint.h"
#include "db/core/image_numbers.h"
#include "db/core/intern.h"
#include "db/core/sql.h"

/*
 * The open epoch refers to the image even before its first flush, so that retention
 * keeps it.
 */
static int refer_to(sqlite3 *h, sqlite3_stmt *search, const struct image_desc *image)
{
	int64_t epoch;
	uint32_t nr;
	int err =
		sql_get(h, &epoch,
			"SELECT id FROM epoch WHERE open ORDER BY id DESC LIMIT 1", "");

	if (err)
		return err == -ENOENT ? 0 : err;
	return image_numbers_give(h, epoch, &image, 1, search, &nr);
}

static int add_part(sqlite3 *h, const struct image_desc *image,
		    const struct capture_part *part)
{
	static const char add[] =
		"INSERT INTO capture (image, part, covers, data) VALUES (?1,"
		" (SELECT ifnull(max(part), 0) + 1 FROM capture WHERE image = ?1),"
		" ?2, ?3)";
	sqlite3_stmt *search = NULL;
	int64_t id;
	int err = intern_image_search(h, &search);

	if (!err)
		err = intern_image(search, image, &id);
	if (!err)
		err = sql_do(h, add, "ibb", id, part->covers, part->covers_size,
			     part->data, part->data_size);
	if (!err)
		err = refer_to(h, search, image);
	sqlite3_finalize(search);
	return err;
}

int captures_add(struct db *db, const struct image_desc *image,
		 const struct capture_part *part)
{
	sqlite3 *h = db_handle(db);
	int err = sql_begin(h);

	if (err)
		return err;
	err = add_part(h, image, part);
	if (!err)
		err = sql_exec(h, "COMMIT");
	if (err)
		sql_rollback(h);
	return err;
}

struct capture_visitor {
	capture_part_fn fn;
	void *ctx;
};

static int on_row(sqlite3_stmt *st, void *ctx)
{
	const struct capture_visitor *e = ctx;
	struct capture_part part;

	part.covers = sql_blob(st, 0, &part.covers_size);
	part.data = sql_blob(st, 1, &part.data_size);
	return e->fn(e->ctx, &part);
}

int captures_each(struct db *db, int64_t image, capture_part_fn fn, void *ctx)
{
	struct capture_visitor e = { fn, ctx };

	return sql_each(db_handle(db), on_row, &e,
			"SELECT covers, data FROM capture WHERE image = ?1"
			" ORDER BY part",
			"i", image);
}

int captures_covers(struct db *db, const struct image_desc *image, capture_part_fn fn,
		    void *ctx)
{
	struct capture_visitor e = { fn, ctx };
	sqlite3_stmt *search = NULL;
	int64_t id = 0;
	int err = intern_image_search(db_handle(db), &search);

	if (!err)
		err = intern_find_image(search, image, &id);
	sqlite3_finalize(search);
	if (err)
		return err == -ENOENT ? 0 : err;
	return sql_each(db_handle(db), on_row, &e,
			"SELECT covers, x'' FROM capture WHERE image = ?1", "i", id);
}

int captures_bytes(struct db *db, uint64_t *out)
{
	int64_t bytes;
	int err = sql_get(
		db_handle(db), &bytes,
		"SELECT ifnull(sum(length(covers) + length(data)), 0) FROM capture",
		"");

	if (!err)
		*out = (uint64_t)bytes;
	return err;
}

int captures_next_cover(const uint8_t **pos, const uint8_t *limit, uint64_t *start,
			uint64_t *end)
{
	uint64_t distance, size;
	int err;

	if (*pos == limit)
		return 0;
	err = varint_get(pos, limit, &distance);
	if (!err)
		err = varint_get(pos, limit, &size);
	if (err)
		return err;
	if (__builtin_add_overflow(*end, distance, start) ||
	    __builtin_add_overflow(*start, size, end) || !size)
		return -CPI_ECORRUPT;
	return 1;
}
