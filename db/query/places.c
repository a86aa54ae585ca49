/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * places.c - reads the keys of all selected profiles, and sorts them by image
 *
 * Images and streams are read in the order of reports, and numbered. Then keys have two
 * small numbers instead of ids, and can be sorted without SQL.
 */
#include "config.h"

#include "db/query/places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "db/core/rows.h"
#include "db/core/sql.h"
#include "db/profile/codec.h"

#define FEW_IMAGES 8  /* at most: search for each of these images in each epoch */
#define FEW_EPOCHS 16 /* at most: read only the images of these epochs */

/* The index of the row with this id. */
struct known_id {
	int64_t id;
	uint32_t index;
};

struct place_finder {
	const struct query_selection *sel;
	places_image_fn wanted;
	struct places *p;
	struct known_id *images, *streams; /* by id */
};

static int read_image(sqlite3_stmt *st, void *ctx)
{
	struct place_finder *f = ctx;
	struct places *p = f->p;
	int err;

	if ((!sqlite3_column_int64(st, 0) && !f->sel->unknown) ||
	    !f->wanted(f->sel, sql_text(st, 2)))
		return 0;
	if (GROW(p->image, p->nr_images))
		return -ENOMEM;
	err = rows_image(st, 0, &p->image[p->nr_images]);
	p->nr_images += !err;
	return err;
}

static int read_stream(sqlite3_stmt *st, void *ctx)
{
	struct places *p = ((struct place_finder *)ctx)->p;

	if (GROW(p->stream, p->nr_streams))
		return -ENOMEM;
	p->stream[p->nr_streams++] = sqlite3_column_int64(st, 0);
	return 0;
}

static int compare_known(const void *a, const void *b)
{
	const struct known_id *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int index_ids(struct place_finder *f)
{
	const struct places *p = f->p;

	if (p->nr_images > UINT32_MAX || p->nr_streams > UINT32_MAX)
		return -CPI_ELIMIT;
	f->images = calloc(p->nr_images + 1, sizeof(*f->images));
	f->streams = calloc(p->nr_streams + 1, sizeof(*f->streams));
	if (!f->images || !f->streams)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_images; i++)
		f->images[i] = (struct known_id){ p->image[i].id, (uint32_t)i };
	for (size_t i = 0; i < p->nr_streams; i++)
		f->streams[i] = (struct known_id){ p->stream[i], (uint32_t)i };
	qsort(f->images, p->nr_images, sizeof(*f->images), compare_known);
	qsort(f->streams, p->nr_streams, sizeof(*f->streams), compare_known);
	return 0;
}

static const struct known_id *find_known(const struct known_id *list, size_t nr,
					 int64_t id)
{
	const struct known_id key = { .id = id };

	return bsearch(&key, list, nr, sizeof(key), compare_known);
}

static int compare_places(const void *a, const void *b)
{
	const struct profile_place *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->epoch != y->epoch)
		return x->epoch < y->epoch ? -1 : 1;
	return (x->context > y->context) - (x->context < y->context);
}

static int compare_apart(const void *a, const void *b)
{
	const struct profile_place *x = a, *y = b;

	if (x->image != y->image || x->stream != y->stream || x->context == y->context)
		return compare_places(a, b);
	if (!x->context || !y->context)
		return x->context ? -1 : 1;
	return x->context < y->context ? -1 : 1;
}

/*
 * Reads a key. The kinds of one profile come one after the other, and become one place.
 */
static int read_place(sqlite3_stmt *st, void *ctx)
{
	struct place_finder *f = ctx;
	struct places *p = f->p;
	const struct known_id *image =
		find_known(f->images, p->nr_images, sqlite3_column_int64(st, 1));
	const struct known_id *stream =
		find_known(f->streams, p->nr_streams, sqlite3_column_int64(st, 2));
	struct profile_place place, *last = p->nr ? &p->place[p->nr - 1] : NULL;
	int err = rows_check_columns(st, 4, "n");

	if (err || !image || !stream)
		return err;
	place = (struct profile_place){ image->index, stream->index,
					sqlite3_column_int64(st, 0),
					sqlite3_column_int64(st, 3), 0 };
	if (sqlite3_column_int(st, 5) == PROFILE_COUNT)
		place.total = (uint64_t)sqlite3_column_int64(st, 4);
	if (last && !compare_places(last, &place)) {
		last->total += place.total;
		return 0;
	}
	if (GROW(p->place, p->nr))
		return -ENOMEM;
	p->place[p->nr++] = place;
	return 0;
}

/*
 * Lists the ids as a JSON array if there are only a few images; else leaves ids empty.
 */
static int list_few(const struct places *p, struct buf *ids)
{
	if (p->nr_images > FEW_IMAGES)
		return 0;
	buf_putc(ids, '[');
	for (size_t i = 0; i < p->nr_images; i++)
		buf_printf(ids, "%s%lld", i ? "," : "", (long long)p->image[i].id);
	buf_putc(ids, ']');
	buf_str(ids);
	return ids->err;
}

static int read_places(sqlite3 *h, struct place_finder *f, const char *epochs,
		       const char *contexts)
{
#define KEYS                                                             \
	"SELECT epoch, image, stream, context, total, kind FROM profile" \
	" WHERE epoch IN (SELECT value FROM json_each(?1))"              \
	" AND context IN (SELECT value FROM json_each(?2))"
	static const char many[] = KEYS;
	static const char few[] =
		KEYS " AND image IN (SELECT value FROM json_each(?3))";
#undef KEYS
	struct buf ids = { 0 };
	int err = list_few(f->p, &ids);

	if (!err && ids.data)
		err = sql_each(h, read_place, f, few, "sss", epochs, contexts,
			       ids.data);
	else if (!err)
		err = sql_each(h, read_place, f, many, "ss", epochs, contexts);
	buf_fini(&ids);
	return err;
}

/*
 * Reads the images. If there are only a few epochs, reads only their images, because
 * sorting all images would cost more.
 */
static int read_images(sqlite3 *h, struct place_finder *f, const char *epochs)
{
#define IMAGES "SELECT " ROWS_IMAGE_COLUMNS " FROM image i"
#define ORDER  " ORDER BY " ROWS_IMAGE_ORDER
	static const char all[] = IMAGES ORDER;
	static const char of_epochs[] =
		IMAGES " WHERE i.id IN (SELECT image FROM profile WHERE epoch IN"
		       " (SELECT value FROM json_each(?1)))" ORDER;
#undef IMAGES
#undef ORDER
	if (f->sel->epochs->nr > FEW_EPOCHS)
		return sql_each(h, read_image, f, all, "");
	return sql_each(h, read_image, f, of_epochs, "s", epochs);
}

int places_find(sqlite3 *h, const struct query_selection *sel, const char *epochs,
		const char *contexts, places_image_fn wanted, struct places *p)
{
	static const char streams[] = "SELECT s.id FROM stream s WHERE ?1 IS NULL"
				      " OR s.event = ?1 ORDER BY " ROWS_STREAM_ORDER;
	struct place_finder f = { .sel = sel, .wanted = wanted, .p = p };
	int err = read_images(h, &f, epochs);

	if (!err)
		err = sql_each(h, read_stream, &f, streams, "s", sel->event);
	if (!err)
		err = index_ids(&f);
	if (!err)
		err = read_places(h, &f, epochs, contexts);
	if (!err && p->nr)
		qsort(p->place, p->nr, sizeof(*p->place),
		      sel->apart ? compare_apart : compare_places);
	free(f.images);
	free(f.streams);
	return err;
}

void places_fini(struct places *p)
{
	for (size_t i = 0; i < p->nr_images; i++)
		rows_image_fini(&p->image[i]);
	free(p->image);
	free(p->stream);
	free(p->place);
	memset(p, 0, sizeof(*p));
}
