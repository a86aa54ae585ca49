/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query.c - profiles and commands that a selection names
 *
 * A selection is first listed, then read image by image: no more than one
 * image's counts are in memory, and no read transaction is open while the
 * caller works on them. Of an epoch that is still open, later images may hold
 * one flush more than earlier ones.
 */
#include "config.h"

#include "db/query.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "db/rows.h"
#include "db/sql.h"

/* The selection as parameters: sets of ids, as JSON arrays. */
struct scope {
	struct buf epochs, contexts;
};

struct pair {
	struct query_image image;
	int64_t stream;
};

struct pairs {
	struct pair *pair; /* ascending image, then stream */
	size_t nr;
	size_t nr_images;
};

static bool image_matches(const struct query_selection *sel, const char *name)
{
	const char *last = strrchr(name, '/');

	return !sel->image || !fnmatch(sel->image, name, 0) ||
	       (last && !fnmatch(sel->image, last + 1, 0));
}

static bool comm_matches(const struct query_selection *sel, const char *comm)
{
	return !sel->comm || !fnmatch(sel->comm, comm, 0);
}

/* The contexts that sel->comm names; context 0 is everybody's. */
static int list_contexts(sqlite3 *h, const struct query_selection *sel, struct buf *out)
{
	static const char prefix[] = "comm=";
	const size_t skip = sizeof(prefix) - 1;
	sqlite3_stmt *st = NULL;
	const char *comma = "";
	int err;

	if (!sel->comm) {
		buf_puts(out, "[0]");
		buf_str(out);
		return out->err;
	}
	buf_putc(out, '[');
	err = sql_prepare(h, "SELECT id, name FROM context", &st);
	while (!err && (err = sql_step(st)) == 1) {
		const char *name = sql_text(st, 1);

		err = 0;
		if (strncmp(name, prefix, skip) || !comm_matches(sel, name + skip))
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

static int scope_init(struct scope *s, sqlite3 *h, const struct query_selection *sel)
{
	static const char any[] =
		"SELECT 1 FROM profile WHERE context != 0 AND epoch IN"
		" (SELECT value FROM json_each(?1)) LIMIT 1";
	int64_t found;
	int err = rows_epoch_ids(sel->epochs, &s->epochs);

	if (!err)
		err = list_contexts(h, sel, &s->contexts);
	if (!err && sel->comm)
		err = sql_get(h, &found, any, "s", s->epochs.data);
	return err == -ENOENT ? -CPI_EEMPTY : err;
}

static void scope_fini(struct scope *s)
{
	buf_fini(&s->epochs);
	buf_fini(&s->contexts);
}

static void pairs_fini(struct pairs *p)
{
	for (size_t i = 0; i < p->nr; i++)
		rows_image_fini(&p->pair[i].image);
	free(p->pair);
}

static int read_pair(sqlite3_stmt *st, struct pairs *list)
{
	struct pair *grown = rows_grow(list->pair, list->nr, sizeof(*grown));
	struct pair pair = { .stream = sqlite3_column_int64(st, 0) };
	int err;

	if (!grown)
		return -ENOMEM;
	list->pair = grown;
	err = rows_image(st, 1, &pair.image);
	if (err)
		return err;
	if (!list->nr || list->pair[list->nr - 1].image.id != pair.image.id)
		list->nr_images++;
	list->pair[list->nr++] = pair;
	return 0;
}

static int list_pairs(sqlite3 *h, const struct query_selection *sel,
		      const struct scope *scope, struct pairs *list)
{
	static const char sql[] =
		"SELECT p.stream, " ROWS_IMAGE_COLUMNS
		" FROM (SELECT DISTINCT image, stream FROM profile"
		" WHERE epoch IN (SELECT value FROM json_each(?1))"
		" AND context IN (SELECT value FROM json_each(?2))) p"
		" JOIN image i ON i.id = p.image JOIN stream s ON s.id = p.stream"
		" WHERE ?3 IS NULL OR s.event = ?3 ORDER BY " ROWS_IMAGE_ORDER
		", " ROWS_STREAM_ORDER;
	sqlite3_stmt *st = NULL;
	int err = sql_prepare(h, sql, &st);

	if (!err)
		err = sql_bind(st, "sss", scope->epochs.data, scope->contexts.data,
			       sel->event);
	while (!err && (err = sql_step(st)) == 1) {
		err = 0;
		if (image_matches(sel, sql_text(st, 3)))
			err = read_pair(st, list);
	}
	sqlite3_finalize(st);
	return err;
}

/* Adds up the pair's profiles of all epochs and contexts in scope. */
static int read_profile(sqlite3_stmt *st, const struct scope *scope,
			const struct pair *pair, struct profile *sum)
{
	int err = sql_bind(st, "ssii", scope->epochs.data, scope->contexts.data,
			   pair->image.id, pair->stream);

	while (!err && (err = sql_step(st)) == 1) {
		size_t size;
		const void *blob = sql_blob(st, 2, &size);

		err = codec_decode(blob, size, sqlite3_column_int(st, 1), sum);
		if (err) {
			log_err("db: %s: profile of %s in epoch %" PRId64 ": %s",
				sqlite3_db_filename(sqlite3_db_handle(st), "main"),
				pair->image.desc.name,
				(int64_t)sqlite3_column_int64(st, 0), err_str(err));
			if (err != -ENOMEM)
				err = -CPI_ECORRUPT;
		}
	}
	sqlite3_reset(st);
	return err;
}

static int hand_out(sqlite3_stmt *st, const struct scope *scope,
		    const struct pair *pair, query_profile_fn fn, void *ctx)
{
	struct query_profile row = { .image = pair->image,
				     .stream = pair->stream,
				     .profile = profile_new() };
	int err = row.profile ? 0 : -ENOMEM;

	if (!err)
		err = read_profile(st, scope, pair, row.profile);
	if (!err)
		err = fn(ctx, &row);
	profile_free(row.profile);
	return err;
}

int query_profiles(struct db *db, const struct query_selection *sel,
		   query_profile_fn fn, void *ctx,
		   void (*progress)(void *ctx, size_t done, size_t all))
{
	static const char sql[] = "SELECT epoch, kind, counts FROM profile"
				  " WHERE epoch IN (SELECT value FROM json_each(?1))"
				  " AND context IN (SELECT value FROM json_each(?2))"
				  " AND image = ?3 AND stream = ?4";
	struct pairs list = { 0 };
	struct scope scope = { 0 };
	sqlite3_stmt *st = NULL;
	size_t done = 0;
	int err = scope_init(&scope, db_handle(db), sel);

	if (!err)
		err = list_pairs(db_handle(db), sel, &scope, &list);
	if (!err)
		err = sql_prepare(db_handle(db), sql, &st);
	for (size_t i = 0; !err && i < list.nr; i++) {
		err = hand_out(st, &scope, &list.pair[i], fn, ctx);
		if (i + 1 < list.nr &&
		    list.pair[i + 1].image.id == list.pair[i].image.id)
			continue;
		done++;
		if (!err && progress)
			progress(ctx, done, list.nr_images);
	}
	sqlite3_finalize(st);
	pairs_fini(&list);
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
	struct query_comms list = { 0 };
	sqlite3_stmt *st = NULL;
	struct buf ids = { 0 };
	int err = rows_epoch_ids(sel->epochs, &ids);

	if (!err)
		err = sql_prepare(db_handle(db), sql, &st);
	if (!err)
		err = sql_bind(st, "ss", ids.data, sel->event);
	while (!err && (err = sql_step(st)) == 1) {
		err = 0;
		if (comm_matches(sel, sql_text(st, 0)) &&
		    image_matches(sel, sql_text(st, 5)))
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

void query_comms_fini(struct query_comms *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		free(c->comm[i].comm);
		rows_image_fini(&c->comm[i].image);
	}
	free(c->comm);
	memset(c, 0, sizeof(*c));
}
