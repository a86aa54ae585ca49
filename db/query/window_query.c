/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_query.c - reads the windows of a selection, by the image in which they began
 */
#include "config.h"

#include "db/query/window_query.h"

#include "db/core/rows.h"
#include "db/query/set_query.h"

struct window_reader {
	struct db *db;
	query_windows_fn fn;
	void *ctx;
};

static void *new_sum(const struct set_key *key)
{
	return windows_new(WINDOWS_LIMIT, key->image);
}

static const struct set_query window_query = {
	.kind = &window_set,
	.list = "SELECT w.epoch, w.image, 0, w.stream, w.context, 0, c.name, i.name"
		" FROM window_set w JOIN stream s ON s.id = w.stream"
		" JOIN context c ON c.id = w.context JOIN image i ON i.id = w.image"
		" WHERE w.epoch IN (SELECT value FROM json_each(?1))"
		" AND (?2 IS NULL OR s.event = ?2)"
		" ORDER BY " ROWS_IMAGE_ORDER ", " ROWS_STREAM_ORDER
		", w.stream, w.epoch, c.name",
	.new_sum = new_sum,
};

static int hand_out(void *ctx, const struct set_sum *sum)
{
	const struct window_reader *r = ctx;
	struct query_image image;
	const struct query_windows row = { &image, sum->key->stream, sum->set,
					   sum->images, sum->nr_images };
	int err = set_query_image(r->db, sum->key->image, &image);

	if (err)
		return err;
	err = r->fn(r->ctx, &row);
	rows_image_fini(&image);
	return err;
}

int query_windows(struct db *db, const struct query_selection *sel, query_windows_fn fn,
		  void *ctx)
{
	struct window_reader r = { db, fn, ctx };

	return set_query_each(db, &window_query, sel, NULL, hand_out, &r);
}
