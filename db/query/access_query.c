/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * access_query.c - reads which data windows touched, by the image in which they began
 */
#include "config.h"

#include "db/query/access_query.h"

#include "db/core/rows.h"
#include "db/query/set_query.h"

struct access_reader {
	struct db *db;
	query_accesses_fn fn;
	void *ctx;
};

static void *new_sum(const struct set_key *key)
{
	return accesses_new(ACCESSES_MAX_INSNS);
}

static const struct set_query access_query = {
	.kind = &access_set,
	.list = "SELECT a.epoch, a.image, 0, a.stream, a.context, 0, c.name, i.name"
		" FROM access_set a JOIN stream s ON s.id = a.stream"
		" JOIN context c ON c.id = a.context JOIN image i ON i.id = a.image"
		" WHERE a.epoch IN (SELECT value FROM json_each(?1))"
		" AND (?2 IS NULL OR s.event = ?2)"
		" ORDER BY " ROWS_IMAGE_ORDER ", " ROWS_STREAM_ORDER
		", a.stream, a.epoch, c.name",
	.new_sum = new_sum,
};

static int hand_out(void *ctx, const struct set_sum *sum)
{
	const struct access_reader *r = ctx;
	struct query_image image;
	const struct query_accesses row = { &image, sum->key->stream, sum->set,
					    sum->images, sum->nr_images };
	int err = set_query_image(r->db, sum->key->image, &image);

	if (err)
		return err;
	err = r->fn(r->ctx, &row);
	rows_image_fini(&image);
	return err;
}

int query_accesses(struct db *db, const struct query_selection *sel,
		   query_accesses_fn fn, void *ctx)
{
	struct access_reader r = { db, fn, ctx };

	return set_query_each(db, &access_query, sel, NULL, hand_out, &r);
}
