/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query.c - profiles and commands that a selection names
 *
 * A selection is first listed, then read image by image: no more than one
 * image's counts are in memory, and no read transaction is open while the
 * caller works on them. Of an epoch that is still open, later images may hold
 * one flush more than earlier ones. What retention rolled up or removed meanwhile
 * is told by its epochs, which are looked at before and after.
 */
#include "config.h"

#include "db/query.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "db/places.h"
#include "db/rows.h"
#include "db/sql.h"

/* The selection as parameters: sets of ids, as JSON arrays. */
struct scope {
	struct buf epochs, contexts;
};

/* Whether a context of a kind is selected; those of other kinds do not matter. */
static bool value_matches(const struct query_selection *sel, enum context_kind kind,
			  const char *value)
{
	return !sel->context || sel->kind != kind ||
	       (*value && !fnmatch(sel->context, value, 0));
}

/* The contexts that are selected; context 0 is everybody's. */
static int list_contexts(sqlite3 *h, const struct query_selection *sel, struct buf *out)
{
	sqlite3_stmt *st = NULL;
	const char *comma = "";
	int err;

	if (!sel->context) {
		buf_puts(out, "[0]");
		buf_str(out);
		return out->err;
	}
	buf_putc(out, '[');
	err = sql_prepare(h, "SELECT id, name FROM context", &st);
	while (!err && (err = sql_step(st)) == 1) {
		const char *value = context_value(sql_text(st, 1), sel->kind);

		err = 0;
		if (!value || !value_matches(sel, sel->kind, value))
			continue;
		buf_printf(out, "%s%" PRId64, comma,
			   (int64_t)sqlite3_column_int64(st, 0));
		comma = ",";
	}
	sqlite3_finalize(st);
	buf_putc(out, ']');
	buf_str(out);
	return err ? err : out->err;
}

/* "KIND=*", as GLOB wants it. */
static void any_of(enum context_kind kind, char out[32])
{
	snprintf(out, 32, "%s=*", context_kind_str(kind));
}

/* -CPI_EEMPTY when the epochs (a JSON array) have no profiles by contexts of a kind. */
static int need_contexts(sqlite3 *h, const char *epochs, enum context_kind kind)
{
	static const char any[] =
		"SELECT 1 FROM profile WHERE epoch IN (SELECT value FROM json_each(?1))"
		" AND context IN (SELECT id FROM context WHERE name GLOB ?2) LIMIT 1";
	char glob[32];
	int64_t found;
	int err;

	any_of(kind, glob);
	err = sql_get(h, &found, any, "ss", epochs, glob);
	return err == -ENOENT ? -CPI_EEMPTY : err;
}

static int scope_init(struct scope *s, sqlite3 *h, const struct query_selection *sel)
{
	int err = rows_epoch_ids(sel->epochs, &s->epochs);

	if (!err)
		err = list_contexts(h, sel, &s->contexts);
	if (!err && sel->context)
		err = need_contexts(h, s->epochs.data, sel->kind);
	return err;
}

static void scope_fini(struct scope *s)
{
	buf_fini(&s->epochs);
	buf_fini(&s->contexts);
}

/* Adds what is at a place to sum. */
static int read_place(sqlite3_stmt *st, const struct query_profile *row,
		      const struct place *place)
{
	int err = sql_bind(st, "iiii", place->epoch, row->image.id, row->stream,
			   place->context);

	while (!err && (err = sql_step(st)) == 1) {
		size_t size;
		const void *blob = sql_blob(st, 1, &size);

		err = codec_decode(blob, size, sqlite3_column_int(st, 0), row->profile);
		if (err) {
			log_err("db: %s: profile of %s in epoch %" PRId64 ": %s",
				sqlite3_db_filename(sqlite3_db_handle(st), "main"),
				row->image.desc.name, place->epoch, err_str(err));
			if (err != -ENOMEM)
				err = -CPI_ECORRUPT;
		}
	}
	sqlite3_reset(st);
	return err;
}

/* Adds up the nr places of an image and a stream. */
static int hand_out(sqlite3_stmt *st, const struct places *places,
		    const struct place *place, size_t nr, query_profile_fn fn,
		    void *ctx)
{
	struct query_profile row = { .image = places->image[place->image],
				     .stream = places->stream[place->stream],
				     .profile = profile_new() };
	int err = row.profile ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < nr; i++)
		err = read_place(st, &row, &place[i]);
	if (!err)
		err = fn(ctx, &row);
	profile_free(row.profile);
	return err;
}

static size_t count_images(const struct places *p)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->nr; i++)
		nr += !i || p->place[i].image != p->place[i - 1].image;
	return nr;
}

static int hand_out_all(sqlite3_stmt *st, const struct places *p, query_profile_fn fn,
			void *ctx, void (*progress)(void *ctx, size_t done, size_t all))
{
	const size_t all = count_images(p);
	size_t nr, done = 0;
	int err = 0;

	for (size_t i = 0; !err && i < p->nr; i += nr) {
		const struct place *first = &p->place[i];

		for (nr = 1; i + nr < p->nr && first[nr].image == first->image &&
			     first[nr].stream == first->stream;)
			nr++;
		err = hand_out(st, p, first, nr, fn, ctx);
		if (i + nr < p->nr && first[nr].image == first->image)
			continue;
		done++;
		if (!err && progress)
			progress(ctx, done, all);
	}
	return err;
}

int query_profiles(struct db *db, const struct query_selection *sel,
		   query_profile_fn fn, void *ctx,
		   void (*progress)(void *ctx, size_t done, size_t all))
{
	static const char sql[] = "SELECT kind, counts FROM profile WHERE epoch = ?1"
				  " AND image = ?2 AND stream = ?3 AND context = ?4";
	sqlite3 *h = db_handle(db);
	struct places places = { 0 };
	struct scope scope = { 0 };
	sqlite3_stmt *st = NULL;
	int err = scope_init(&scope, h, sel);

	if (!err)
		err = rows_check_whole(h, scope.epochs.data);
	if (!err)
		err = places_find(h, sel, scope.epochs.data, scope.contexts.data,
				  rows_image_matches, &places);
	if (!err)
		err = sql_prepare(h, sql, &st);
	if (!err)
		err = hand_out_all(st, &places, fn, ctx, progress);
	if (!err)
		err = rows_check_whole(h, scope.epochs.data);
	sqlite3_finalize(st);
	places_fini(&places);
	scope_fini(&scope);
	return err;
}

static int read_comm(sqlite3_stmt *st, struct query_comms *list)
{
	struct query_comm *grown = rows_grow(list->comm, list->nr, sizeof(*grown));
	struct query_comm c = { .stream = sqlite3_column_int64(st, 1),
				.n = sqlite3_column_int64(st, 2) };
	int err;

	if (!grown)
		return -ENOMEM;
	list->comm = grown;
	c.comm = strdup(sql_text(st, 0));
	err = c.comm ? rows_image(st, 3, &c.image) : -ENOMEM;
	if (err) {
		free(c.comm);
		return err;
	}
	list->comm[list->nr++] = c;
	return 0;
}

/* The rows of sql, whose ?1 are the epochs, ?2 the event, and ?3 glob, if any. */
static int list_comms(struct db *db, const struct query_selection *sel,
		      enum context_kind kind, const char *sql, const char *glob,
		      struct query_comms *out)
{
	struct query_comms list = { 0 };
	sqlite3_stmt *st = NULL;
	struct buf ids = { 0 };
	int err = rows_epoch_ids(sel->epochs, &ids);

	if (!err && glob)
		err = need_contexts(db_handle(db), ids.data, kind);
	if (!err)
		err = sql_prepare(db_handle(db), sql, &st);
	if (!err)
		err = sql_bind(st, glob ? "sss" : "ss", ids.data, sel->event, glob);
	while (!err && (err = sql_step(st)) == 1) {
		err = 0;
		if (value_matches(sel, kind, sql_text(st, 0)) &&
		    rows_image_matches(sel, sql_text(st, 5)))
			err = read_comm(st, &list);
	}
	sqlite3_finalize(st);
	buf_fini(&ids);
	if (err)
		query_comms_fini(&list);
	else
		*out = list;
	return err;
}

int query_comms(struct db *db, const struct query_selection *sel,
		struct query_comms *out)
{
	static const char sql[] =
		"SELECT c.comm, c.stream, c.n, " ROWS_IMAGE_COLUMNS
		" FROM (SELECT comm, image, stream, sum(n) AS n FROM comm"
		" WHERE epoch IN (SELECT value FROM json_each(?1))"
		" GROUP BY comm, image, stream) c"
		" JOIN image i ON i.id = c.image JOIN stream s ON s.id = c.stream"
		" WHERE ?2 IS NULL OR s.event = ?2 ORDER BY c.comm, " ROWS_IMAGE_ORDER
		", " ROWS_STREAM_ORDER;

	return list_comms(db, sel, CONTEXT_COMM, sql, NULL, out);
}

int query_contexts(struct db *db, const struct query_selection *sel,
		   enum context_kind kind, struct query_comms *out)
{
	static const char sql[] =
		"SELECT p.value, p.stream, p.n, " ROWS_IMAGE_COLUMNS
		" FROM (SELECT substr(c.name, length(?3)) AS value, image, stream,"
		" sum(total) AS n FROM profile JOIN context c ON c.id = context"
		" WHERE epoch IN (SELECT value FROM json_each(?1)) AND kind = 0"
		" AND c.name GLOB ?3 GROUP BY c.id, image, stream UNION ALL"
		" SELECT '', image, stream, sum(iif(context = 0, total, -total))"
		" FROM profile WHERE epoch IN (SELECT value FROM json_each(?1))"
		" AND kind = 0 AND (context = 0 OR context IN"
		" (SELECT id FROM context WHERE name GLOB ?3)) GROUP BY image, stream) "
		"p"
		" JOIN image i ON i.id = p.image JOIN stream s ON s.id = p.stream"
		" WHERE p.n > 0 AND (?2 IS NULL OR s.event = ?2)"
		" ORDER BY p.value, " ROWS_IMAGE_ORDER ", " ROWS_STREAM_ORDER;
	char glob[32];

	any_of(kind, glob);
	return list_comms(db, sel, kind, sql, glob, out);
}

void query_comms_fini(struct query_comms *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		free(c->comm[i].comm);
		rows_image_fini(&c->comm[i].image);
	}
	free(c->comm);
	memset(c, 0, sizeof(*c));
}
