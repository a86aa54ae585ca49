/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_query.c - reads windows, and the data that they touched, by the image in which
 * they began
 */
#include "config.h"

#include "db/query/window_query.h"

#include "db/core/rows.h"
#include "db/query/set_query.h"

struct window_reader {
	struct db *db;
	query_windows_fn fn;
	void *ctx;
	bool of_accesses;
};

static void *new_windows(const struct set_key *key)
{
	return windows_new(WINDOWS_LIMIT, key->image);
}

static void *new_accesses(const struct set_key *key)
{
	return accesses_new(ACCESSES_MAX_INSNS);
}

/* The two tables have the same key. */
#define LIST(table)                                                          \
	"SELECT w.epoch, w.image, 0, w.stream, w.context, 0, c.name, i.name" \
	" FROM " table " w JOIN stream s ON s.id = w.stream"                 \
	" JOIN context c ON c.id = w.context JOIN image i ON i.id = w.image" \
	" WHERE w.epoch IN (SELECT value FROM json_each(?1))"                \
	" AND (?2 IS NULL OR s.event = ?2)"                                  \
	" ORDER BY " ROWS_IMAGE_ORDER ", " ROWS_STREAM_ORDER                 \
	", w.stream, w.epoch, c.name"

static const struct set_query window_query = { .kind = &window_set,
					       .list = LIST("window_set"),
					       .new_sum = new_windows };

static const struct set_query access_query = { .kind = &access_set,
					       .list = LIST("access_set"),
					       .new_sum = new_accesses };

static int hand_out(void *ctx, const struct set_sum *sum)
{
	const struct window_reader *r = ctx;
	struct query_image image;
	const struct query_windows row = { .image = &image,
					   .stream = sum->key->stream,
					   .windows = r->of_accesses ? NULL : sum->set,
					   .accesses = r->of_accesses ? sum->set : NULL,
					   .images = sum->images,
					   .nr_images = sum->nr_images };
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
	struct window_reader r = { db, fn, ctx, false };

	return set_query_each(db, &window_query, sel, NULL, hand_out, &r);
}

int query_accesses(struct db *db, const struct query_selection *sel,
		   query_windows_fn fn, void *ctx)
{
	struct window_reader r = { db, fn, ctx, true };

	return set_query_each(db, &access_query, sel, NULL, hand_out, &r);
}
