/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query_edges.c - reads the edges of a selection, by pairs of images
 */
#include "config.h"

#include "db/core/rows.h"
#include "db/query/query.h"
#include "db/query/set_query.h"

#define TARGET_ORDER                                                        \
	"t.name, t.kind, t.build_id, t.content, t.device, t.inode, t.size," \
	" t.mtime_ns, t.id"

/* Pairs may begin in any image. */
#define PACE_START "3"
_Static_assert(EDGES_PACE_START == 3, "as in the statement");

struct edge_reader {
	struct db *db;
	query_edges_fn fn;
	void *ctx;
};

static void *new_sum(const struct set_key *key)
{
	return edges_new();
}

static const struct set_query edge_query = {
	.kind = &edge_set,
	.list = "SELECT e.epoch, e.image, e.target, e.stream, e.context, e.kind, NULL,"
		" NULL FROM edge e JOIN image i ON i.id = e.image"
		" JOIN image t ON t.id = e.target JOIN stream s ON s.id = e.stream"
		" WHERE e.epoch IN (SELECT value FROM json_each(?1)) AND e.context = 0"
		" AND (?2 IS NULL OR s.event = ?2)"
		" AND (?3 IS NULL OR (e.image = ?3"
		" AND (e.target = ?3 OR e.kind = " PACE_START ")))"
		" ORDER BY " ROWS_IMAGE_ORDER ", " TARGET_ORDER ", " ROWS_STREAM_ORDER
		", e.stream, e.kind, e.epoch",
	.new_sum = new_sum,
};

static int hand_out(void *ctx, const struct set_sum *sum)
{
	const struct edge_reader *r = ctx;
	struct query_edges row = { .stream = sum->key->stream,
				   .kind = sum->key->kind,
				   .edges = sum->set };
	int err = set_query_image(r->db, sum->key->image, &row.image);

	if (!err)
		err = set_query_image(r->db, sum->key->target, &row.target);
	if (!err)
		err = r->fn(r->ctx, &row);
	rows_image_fini(&row.image);
	rows_image_fini(&row.target);
	return err;
}

int query_edges(struct db *db, const struct query_selection *sel, int64_t image,
		query_edges_fn fn, void *ctx)
{
	struct edge_reader r = { db, fn, ctx };

	return set_query_each(db, &edge_query, sel, image ? &image : NULL, hand_out,
			      &r);
}
