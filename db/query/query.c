/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query.c - reads the profiles and the totals by command of a selection
 *
 * Rows are listed first, then read image by image. So only one image's counts are in
 * memory, and no read transaction is open while the caller works. Later images of an
 * open epoch may have one flush more than earlier ones. The epochs are checked before
 * and after, to notice whether retention rolled up or removed some of them meanwhile.
 */
#include "config.h"

#include "db/query/query.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "db/core/rows.h"
#include "db/core/sql.h"
#include "db/query/contexts.h"
#include "db/query/kept_sums.h"
#include "db/query/places.h"
#include "db/query/scope.h"

int query_need_contexts(struct db *db, const struct query_epochs *e, unsigned int kinds)
{
	struct buf ids = { 0 };
	int err = rows_epoch_ids(e, &ids);

	if (!err)
		err = contexts_need(db_handle(db), ids.data, kinds);
	buf_fini(&ids);
	return err;
}

/* Reads the blobs at a place, and adds them to the row's profile. */
static int read_place(sqlite3_stmt *st, const struct query_profile *row,
		      const struct profile_place *place)
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

/* Adds only the total of a place; reads no blob. */
static int add_total(const struct query_profile *row, const struct profile_place *place)
{
	const struct count all = { .n = place->total };

	return place->total ? profile_add(row->profile, &all) : 0;
}

/* The state of a call of query_profiles(). */
struct handing {
	sqlite3 *h;
	const struct query_selection *sel;
	sqlite3_stmt *st; /* selects the blobs of a place */
	struct places places;
	struct kept_sums *kept; /* NULL: none */
	query_profile_fn fn;
	void *ctx;
};

/*
 * Gets the name of a context as a new string; NULL for context 0, which has all
 * samples.
 */
static int name_context(const struct handing *d, int64_t context, char **out)
{
	sqlite3_stmt *st = NULL;
	int err;

	if (!d->sel->apart || !context)
		return 0;
	err = sql_prepare(d->h, "SELECT name FROM context WHERE id = ?1", &st);
	if (!err)
		err = sql_bind(st, "i", context);
	if (!err && (err = sql_step(st)) == 1) {
		*out = strdup(sql_text(st, 0));
		err = *out ? 0 : -ENOMEM;
	}
	sqlite3_finalize(st);
	return err;
}

static int add_places(const struct handing *d, const struct query_profile *row,
		      const struct profile_place *place, size_t nr)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++)
		err = d->sel->totals ? add_total(row, &place[i])
				     : read_place(d->st, row, &place[i]);
	return err;
}

/* Adds up places of one block of epochs, and has their sum kept. */
static int add_new_sum(const struct handing *d, const struct query_profile *row,
		       const struct kept_row *kept)
{
	struct query_profile sum = *row;
	int err;

	sum.profile = profile_new();
	if (!sum.profile)
		return -ENOMEM;
	err = add_places(d, &sum, kept->place, kept->nr);
	if (!err) {
		kept_sums_put(d->kept, kept, sum.profile);
		err = profile_merge(row->profile, sum.profile);
	}
	profile_free(sum.profile);
	return err;
}

/*
 * Adds up the places of one row, where possible by sums of an earlier run. Returns
 * -ESTALE if one of these is damaged.
 */
static int add_up(const struct handing *d, const struct query_profile *row,
		  const struct profile_place *place, size_t nr)
{
	size_t n;
	int err = 0;

	for (size_t i = 0; !err && i < nr; i += n) {
		struct kept_row kept = { &row->image, row->stream, &place[i], 0 };

		n = kept.nr = kept_sums_run(d->kept, &place[i], nr - i);
		if (!n) {
			n = 1;
			err = add_places(d, row, &place[i], n);
			continue;
		}
		err = kept_sums_get(d->kept, &kept, row->profile);
		if (err == -ENOENT)
			err = add_new_sum(d, row, &kept);
		else if (err && err != -ENOMEM)
			err = -ESTALE;
	}
	return err;
}

/* Adds up the nr places of one row, and calls fn. */
static int hand_out(const struct handing *d, const struct profile_place *place,
		    size_t nr)
{
	struct query_profile row = { .image = d->places.image[place->image],
				     .stream = d->places.stream[place->stream],
				     .profile = profile_new() };
	char *context = NULL;
	int err = row.profile ? name_context(d, place->context, &context) : -ENOMEM;

	if (!err)
		err = add_up(d, &row, place, nr);
	if (err == -ESTALE) {
		kept_sums_forget(d->kept);
		profile_free(row.profile);
		row.profile = profile_new();
		err = row.profile ? add_up(d, &row, place, nr) : -ENOMEM;
	}
	row.context = context;
	if (!err)
		err = d->fn(d->ctx, &row);
	profile_free(row.profile);
	free(context);
	return err;
}

static bool same_row(const struct handing *d, const struct profile_place *a,
		     const struct profile_place *b)
{
	return a->image == b->image && a->stream == b->stream &&
	       (!d->sel->apart || a->context == b->context);
}

static size_t count_images(const struct places *p)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->nr; i++)
		nr += !i || p->place[i].image != p->place[i - 1].image;
	return nr;
}

static int hand_out_all(const struct handing *d,
			void (*progress)(void *ctx, size_t done, size_t all))
{
	const struct places *p = &d->places;
	const size_t all = count_images(p);
	size_t nr, done = 0;
	int err = 0;

	for (size_t i = 0; !err && i < p->nr; i += nr) {
		const struct profile_place *first = &p->place[i];

		for (nr = 1; i + nr < p->nr && same_row(d, first, &first[nr]);)
			nr++;
		err = hand_out(d, first, nr);
		if (i + nr < p->nr && first[nr].image == first->image)
			continue;
		done++;
		if (!err && progress)
			progress(d->ctx, done, all);
	}
	return err;
}

int query_profiles(struct db *db, const struct query_selection *sel,
		   query_profile_fn fn, void *ctx,
		   void (*progress)(void *ctx, size_t done, size_t all))
{
	static const char sql[] = "SELECT kind, counts FROM profile WHERE epoch = ?1"
				  " AND image = ?2 AND stream = ?3 AND context = ?4";
	struct handing d = { .h = db_handle(db), .sel = sel, .fn = fn, .ctx = ctx };
	struct query_scope scope = { 0 };
	int err = query_scope_init(&scope, d.h, sel);

	if (!err)
		err = rows_check_whole(d.h, scope.epochs.data);
	if (!err)
		err = places_find(d.h, sel, scope.epochs.data, scope.contexts.data,
				  rows_image_matches, &d.places);
	if (!err)
		err = sql_prepare(d.h, sql, &d.st);
	if (!err)
		err = kept_sums_open(sel, &d.kept);
	if (!err)
		err = hand_out_all(&d, progress);
	if (!err)
		err = rows_check_whole(d.h, scope.epochs.data);
	kept_sums_close(d.kept, !err);
	sqlite3_finalize(d.st);
	places_fini(&d.places);
	query_scope_fini(&scope);
	return err;
}

static int read_comm(sqlite3_stmt *st, struct query_comms *list)
{
	struct query_comm c = { .stream = sqlite3_column_int64(st, 1),
				.n = sqlite3_column_int64(st, 2) };
	int err;

	if (GROW(list->comm, list->nr))
		return -ENOMEM;
	err = rows_check_columns(st, 0, "tnn");
	if (err)
		return err;
	c.comm = strdup(sql_text(st, 0));
	err = c.comm ? rows_image(st, 3, &c.image) : -ENOMEM;
	if (err) {
		free(c.comm);
		return err;
	}
	list->comm[list->nr++] = c;
	return 0;
}

/* Whether the selection includes a command; other kinds of contexts are ignored. */
static bool takes_comm(const struct query_selection *sel, const char *comm)
{
	const char *glob = sel->context[CONTEXT_COMM];

	return !glob || (*comm && !fnmatch(glob, comm, 0));
}

/*
 * Lists the rows of sql: ?1 has the epochs, ?2 the event, and ?3 the contexts, if there
 * are any. If contexts are given, all rows are selected; otherwise only rows of
 * selected commands.
 */
static int list_comms(sqlite3 *h, const struct query_selection *sel, const char *sql,
		      const char *epochs, const char *contexts, struct query_comms *out)
{
	struct query_comms list = { 0 };
	sqlite3_stmt *st = NULL;
	int err = rows_check_whole(h, epochs);

	if (!err)
		err = sql_prepare(h, sql, &st);
	if (!err)
		err = sql_bind(st, contexts ? "sss" : "ss", epochs, sel->event,
			       contexts);
	while (!err && (err = sql_step(st)) == 1) {
		err = 0;
		if ((contexts || takes_comm(sel, sql_text(st, 0))) &&
		    rows_image_matches(sel, sql_text(st, 5)))
			err = read_comm(st, &list);
	}
	sqlite3_finalize(st);
	if (!err)
		err = rows_check_whole(h, epochs);
	if (err)
		query_comms_fini(&list);
	else
		*out = list;
	return err;
}

/* ROWS_SUM makes the sum negative if a row is damaged, so that this is noticed. */
#define SAMPLES ROWS_SUM("n")
#define TOTALS  ROWS_SUM("total")

int query_comms(struct db *db, const struct query_selection *sel,
		struct query_comms *out)
{
	static const char sql[] =
		"SELECT c.comm, c.stream, c.n, " ROWS_IMAGE_COLUMNS
		" FROM (SELECT comm, image, stream, " SAMPLES " AS n FROM comm"
		" WHERE epoch IN (SELECT value FROM json_each(?1))"
		" GROUP BY comm, image, stream) c"
		" JOIN image i ON i.id = c.image JOIN stream s ON s.id = c.stream"
		" WHERE ?2 IS NULL OR s.event = ?2 ORDER BY c.comm, " ROWS_IMAGE_ORDER
		", " ROWS_STREAM_ORDER;
	struct buf ids = { 0 };
	int err = rows_epoch_ids(sel->epochs, &ids);

	if (!err)
		err = list_comms(db_handle(db), sel, sql, ids.data, NULL, out);
	buf_fini(&ids);
	return err;
}

#define IN_EPOCHS "epoch IN (SELECT value FROM json_each(?1)) AND kind = 0"
#define BY_CONTEXT                                                                     \
	"SELECT context, image, stream, " TOTALS " AS n FROM profile WHERE " IN_EPOCHS \
	" AND context IN (SELECT value FROM json_each(?3))"                            \
	" GROUP BY context, image, stream"
#define IN_NONE                                                                       \
	" UNION ALL SELECT 0, image, stream,"                                         \
	" max(sum(iif(context = 0, total, -total)), 0) FROM profile WHERE " IN_EPOCHS \
	" AND (context = 0 OR context IN (SELECT value FROM json_each(?3)))"          \
	" GROUP BY image, stream"
#define OF_CONTEXTS(rows)                                                      \
	"SELECT c.name, p.stream, p.n, " ROWS_IMAGE_COLUMNS " FROM (" rows ")" \
	" p JOIN context c ON c.id = p.context"                                \
	" JOIN image i ON i.id = p.image JOIN stream s ON s.id = p.stream"     \
	" WHERE p.n != 0 AND (?2 IS NULL OR s.event = ?2)"                     \
	" ORDER BY c.name, " ROWS_IMAGE_ORDER ", " ROWS_STREAM_ORDER

int query_contexts(struct db *db, const struct query_selection *sel, unsigned int kinds,
		   struct query_comms *out)
{
	static const char all[] = OF_CONTEXTS(BY_CONTEXT IN_NONE);
	static const char some[] = OF_CONTEXTS(BY_CONTEXT);
	struct query_selection q = *sel;
	struct query_scope scope = { 0 };
	int err;

	q.apart = kinds;
	err = rows_epoch_ids(q.epochs, &scope.epochs);
	if (!err && kinds | query_restricted_kinds(&q))
		err = contexts_need(db_handle(db), scope.epochs.data,
				    kinds | query_restricted_kinds(&q));
	if (!err)
		err = contexts_list(db_handle(db), &q, &scope.contexts);
	if (!err)
		err = list_comms(db_handle(db), &q,
				 query_restricted_kinds(&q) ? some : all,
				 scope.epochs.data, scope.contexts.data, out);
	query_scope_fini(&scope);
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
