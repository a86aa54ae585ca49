/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * set_query.c - lists the rows of a selection, and adds them up group by group
 *
 * The epochs are checked before the first row and after the last one, to notice whether
 * retention changed them during the query.
 */
#include "config.h"

#include "db/query/set_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "db/core/rows.h"
#include "db/core/sql.h"

struct set_row {
	struct set_key key;
	size_t context; /* offset of its name in names */
};

struct set_reader {
	sqlite3 *h;
	const struct set_query *q;
	const struct query_selection *sel;
	struct set_row *row; /* sorted by group */
	size_t nr;
	struct buf names;
	struct image_list images; /* of all epochs; sums contain their indexes */
	sqlite3_stmt *find;
	set_sum_fn fn;
	void *ctx;
};

static bool context_matches(const struct set_reader *r, const char *name)
{
	if (query_restricted_kinds(r->sel))
		return query_takes_context(r->sel, name);
	return !*name || (r->q->by_command && context_kinds(name) & 1u << CONTEXT_COMM);
}

static bool is_selected(const struct set_reader *r, sqlite3_stmt *st)
{
	if (sqlite3_column_type(st, 6) != SQLITE_NULL &&
	    !context_matches(r, sql_text(st, 6)))
		return false;
	return sqlite3_column_type(st, 7) == SQLITE_NULL ||
	       rows_image_matches(r->sel, sql_text(st, 7));
}

static int list_row(sqlite3_stmt *st, void *ctx)
{
	struct set_reader *r = ctx;
	const char *name = sql_text(st, 6);

	if (!is_selected(r, st))
		return 0;
	if (GROW(r->row, r->nr))
		return -ENOMEM;
	r->row[r->nr++] = (struct set_row){
		{ sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
		  sqlite3_column_int64(st, 2), sqlite3_column_int64(st, 3),
		  sqlite3_column_int64(st, 4), sqlite3_column_int64(st, 5) },
		r->names.len,
	};
	if (r->q->apart)
		buf_put(&r->names, name, strlen(name) + 1);
	return r->names.err;
}

/*
 * Lists the rows, and then the images, so that the list of images is at least as new as
 * the rows and contains all of their images.
 */
static int list_rows(struct set_reader *r, const char *epochs, const int64_t *image)
{
	int err = image ? sql_each(r->h, list_row, r, r->q->list, "ssi", epochs,
				   r->sel->event, *image)
			: sql_each(r->h, list_row, r, r->q->list, "ss", epochs,
				   r->sel->event);

	if (!err && r->q->kind->numbers_images)
		err = image_list_read(r->h, epochs, &r->images);
	return err ? err : sql_prepare(r->h, r->q->kind->find, &r->find);
}

static int add_row(struct set_reader *r, const struct set_key *key, void *sum)
{
	const struct set_kind *kind = r->q->kind;
	void *set = kind->new (key, NULL);
	struct image_numbers im = { 0 };
	int err = set ? set_rows_read_by(r->find, kind, key, set) : -ENOMEM;

	if (!err && kind->numbers_images)
		err = image_list_map(&r->images, key->epoch, &im);
	if (!err)
		err = kind->merge(sum, set, im.map, im.nr);
	image_numbers_fini(&im);
	kind->free(set);
	return err;
}

static int hand_out(struct set_reader *r, const struct set_row *row, size_t nr)
{
	struct set_sum sum = { .key = &row->key,
			       .context =
				       r->q->apart ? r->names.data + row->context : "",
			       .set = r->q->new_sum(&row->key) };
	int err = sum.set ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < nr; i++)
		err = add_row(r, &row[i].key, sum.set);
	sum.images = r->images.image;
	sum.nr_images = r->images.nr;
	if (!err)
		err = r->fn(r->ctx, &sum);
	r->q->kind->free(sum.set);
	return err;
}

static bool same_group(const struct set_reader *r, const struct set_key *a,
		       const struct set_key *b)
{
	return a->image == b->image && a->target == b->target &&
	       a->stream == b->stream && a->kind == b->kind &&
	       (!r->q->apart || a->context == b->context);
}

static int hand_out_all(struct set_reader *r)
{
	size_t nr;
	int err = 0;

	for (size_t i = 0; !err && i < r->nr; i += nr) {
		const struct set_row *row = &r->row[i];

		for (nr = 1; i + nr < r->nr && same_group(r, &row->key, &row[nr].key);)
			nr++;
		err = hand_out(r, row, nr);
	}
	return err;
}

int set_query_each(struct db *db, const struct set_query *q,
		   const struct query_selection *sel, const int64_t *image,
		   set_sum_fn fn, void *ctx)
{
	struct set_reader r = {
		.h = db_handle(db), .q = q, .sel = sel, .fn = fn, .ctx = ctx
	};
	struct buf epochs = { 0 };
	int err = rows_epoch_ids(sel->epochs, &epochs);

	if (!err)
		err = rows_check_whole(r.h, epochs.data);
	if (!err)
		err = list_rows(&r, epochs.data, image);
	if (!err)
		err = hand_out_all(&r);
	if (!err)
		err = rows_check_whole(r.h, epochs.data);
	sqlite3_finalize(r.find);
	image_list_fini(&r.images);
	free(r.row);
	buf_fini(&r.names);
	buf_fini(&epochs);
	return err;
}

static int read_image(sqlite3_stmt *st, void *ctx)
{
	return rows_image(st, 0, ctx);
}

int set_query_image(struct db *db, int64_t id, struct query_image *image)
{
	static const char sql[] =
		"SELECT " ROWS_IMAGE_COLUMNS " FROM image i WHERE i.id = ?1";
	struct query_image im = { 0 };
	int err = sql_each(db_handle(db), read_image, &im, sql, "i", id);

	if (!err && !im.desc.name)
		err = -CPI_ECORRUPT;
	if (!err)
		*image = im;
	return err;
}
