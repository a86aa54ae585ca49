/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums.c - reads the numbers of samples of images and commands, in parts of a selection
 *
 * Rows are read once for all parts. They are sorted by epoch, so rows of the same part
 * mostly follow each other. For each command, image and stream, the reader remembers
 * its position in the list of the last part, so that it usually needs no search.
 */
#include "config.h"

#include "db/query/sums.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/hmap.h"
#include "db/core/rows.h"
#include "db/core/sql.h"
#include "db/query/epoch_numbers.h"
#include "db/query/scope.h"

struct sums_profile {
	struct hnode node;
	char *comm; /* or NULL */
	int64_t image, stream;
	uint32_t number; /* number in the order of discovery */
	uint32_t part;   /* the last part, and the position there */
	size_t place;
	size_t image_index; /* indexes of its image and stream in their orders */
	size_t stream_index;
};

struct adder {
	const struct query_selection *sel;
	struct hmap map;
	struct sums_profile **entry;
	size_t nr;
	struct epoch_numbers epochs; /* the part of each */
	int64_t *stream;             /* ids of the selected streams, in their order */
	size_t nr_streams;
	struct query_sums sums;
};

static struct sums_profile *entry_of(struct hnode *n)
{
	return container_of(n, struct sums_profile, node);
}

static int adder_init(struct adder *a, const uint32_t *part, size_t nr_parts)
{
	a->sums.part = calloc(nr_parts + 1, sizeof(*a->sums.part));
	if (!a->sums.part)
		return -ENOMEM;
	a->sums.nr_parts = nr_parts;
	return epoch_numbers_init(&a->epochs, a->sel->epochs, part);
}

static void adder_fini(struct adder *a)
{
	for (size_t i = 0; i < a->nr; i++) {
		free(a->entry[i]->comm);
		free(a->entry[i]);
	}
	hmap_fini(&a->map);
	free(a->entry);
	epoch_numbers_fini(&a->epochs);
	free(a->stream);
	query_sums_fini(&a->sums);
}

static uint64_t hash_of(const char *comm, int64_t image, int64_t stream)
{
	const uint64_t h = hash_u64(hash_u64((uint64_t)image) ^ (uint64_t)stream);

	return comm ? hash_bytes(h, comm, strlen(comm)) : h;
}

static bool is_same(const struct sums_profile *e, const char *comm, int64_t image,
		    int64_t stream)
{
	return e->image == image && e->stream == stream &&
	       (!comm || !strcmp(e->comm, comm));
}

static struct sums_profile *new_entry(struct adder *a, const char *comm, int64_t image,
				      int64_t stream, uint64_t hash)
{
	struct sums_profile *e;

	if (a->nr == UINT32_MAX || GROW(a->entry, a->nr))
		return NULL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	*e = (struct sums_profile){ .image = image,
				    .stream = stream,
				    .number = (uint32_t)a->nr,
				    .part = UINT32_MAX };
	if (comm)
		e->comm = strdup(comm);
	if ((comm && !e->comm) || hmap_insert(&a->map, &e->node, hash)) {
		free(e->comm);
		free(e);
		return NULL;
	}
	a->entry[a->nr++] = e;
	return e;
}

static struct sums_profile *find_entry(struct adder *a, const char *comm, int64_t image,
				       int64_t stream)
{
	const uint64_t hash = hash_of(comm, image, stream);

	for (struct hnode *n = hmap_first(&a->map, hash); n; n = hmap_next(n)) {
		if (is_same(entry_of(n), comm, image, stream))
			return entry_of(n);
	}
	return new_entry(a, comm, image, stream, hash);
}

/* Finds the entry of e in a part if it was the last part used; else adds one. */
static struct query_part_sum *find_sum(struct adder *a, struct sums_profile *e,
				       uint32_t part)
{
	struct query_sum_part *p = &a->sums.part[part];

	if (e->part == part)
		return &p->sum[e->place];
	if (GROW(p->sum, p->nr))
		return NULL;
	e->part = part;
	e->place = p->nr;
	p->sum[p->nr] = (struct query_part_sum){ .of = e->number };
	return &p->sum[p->nr++];
}

static int add_row(struct adder *a, int64_t epoch, const char *comm, int64_t image,
		   int64_t stream, uint64_t n)
{
	const uint32_t *part = epoch_numbers_find(&a->epochs, epoch);
	struct query_part_sum *sum;
	struct sums_profile *e;

	if (!part || !n)
		return 0;
	e = find_entry(a, comm, image, stream);
	sum = e ? find_sum(a, e, *part) : NULL;
	if (!sum)
		return -ENOMEM;
	return __builtin_add_overflow(sum->n, n, &sum->n) ? -EOVERFLOW : 0;
}

static int read_profile(sqlite3_stmt *st, void *ctx)
{
	int err = rows_check_columns(st, 3, "n");

	return err ? err
		   : add_row(ctx, sqlite3_column_int64(st, 0), NULL,
			     sqlite3_column_int64(st, 1), sqlite3_column_int64(st, 2),
			     (uint64_t)sqlite3_column_int64(st, 3));
}

static int read_comm(sqlite3_stmt *st, void *ctx)
{
	struct adder *a = ctx;
	const char *glob = a->sel->context[CONTEXT_COMM], *comm;
	int err = rows_check_columns(st, 3, "nt");

	if (err)
		return err;
	comm = sql_text(st, 4);
	if (glob && (!*comm || fnmatch(glob, comm, 0)))
		return 0;
	return add_row(ctx, sqlite3_column_int64(st, 0), comm,
		       sqlite3_column_int64(st, 1), sqlite3_column_int64(st, 2),
		       (uint64_t)sqlite3_column_int64(st, 3));
}

static int read_stream(sqlite3_stmt *st, void *ctx)
{
	struct adder *a = ctx;

	if (GROW(a->stream, a->nr_streams))
		return -ENOMEM;
	a->stream[a->nr_streams++] = sqlite3_column_int64(st, 0);
	return 0;
}

static int read_image(sqlite3_stmt *st, void *ctx)
{
	struct adder *a = ctx;
	struct query_sums *s = &a->sums;
	int err;

	if (!rows_image_matches(a->sel, sql_text(st, 2)))
		return 0;
	if (GROW(s->image, s->nr_images))
		return -ENOMEM;
	err = rows_image(st, 0, &s->image[s->nr_images]);
	s->nr_images += !err;
	return err;
}

/*
 * Reads the images that have samples, in the order of reports, and the selected
 * streams.
 */
static int read_names(sqlite3 *h, struct adder *a)
{
	static const char streams[] = "SELECT s.id FROM stream s WHERE ?1 IS NULL"
				      " OR s.event = ?1 ORDER BY " ROWS_STREAM_ORDER;
	static const char images[] =
		"SELECT " ROWS_IMAGE_COLUMNS " FROM image i WHERE i.id IN"
		" (SELECT value FROM json_each(?1)) ORDER BY " ROWS_IMAGE_ORDER;
	struct buf ids = { 0 };
	int err;

	for (size_t i = 0; i < a->nr; i++)
		buf_printf(&ids, "%c%" PRId64, i ? ',' : '[', a->entry[i]->image);
	buf_puts(&ids, a->nr ? "]" : "[]");
	buf_str(&ids);
	err = ids.err ? ids.err
		      : sql_each(h, read_stream, a, streams, "s", a->sel->event);
	if (!err)
		err = sql_each(h, read_image, a, images, "s", buf_str(&ids));
	buf_fini(&ids);
	return err;
}

struct known_image {
	int64_t id;
	size_t index;
};

static int compare_known(const void *va, const void *vb)
{
	const struct known_image *a = va, *b = vb;

	return (a->id > b->id) - (a->id < b->id);
}

/* Sets the indexes of images and streams in entries; SIZE_MAX if not selected. */
static int index_entries(struct adder *a)
{
	const size_t nr = a->sums.nr_images;
	struct known_image *known = calloc(nr + 1, sizeof(*known));

	if (!known)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		known[i] = (struct known_image){ a->sums.image[i].id, i };
	qsort(known, nr, sizeof(*known), compare_known);
	for (size_t i = 0; i < a->nr; i++) {
		struct sums_profile *e = a->entry[i];
		const struct known_image key = { .id = e->image };
		const struct known_image *found =
			bsearch(&key, known, nr, sizeof(key), compare_known);

		e->image_index = found ? found->index : SIZE_MAX;
		for (e->stream_index = 0; e->stream_index < a->nr_streams &&
					  a->stream[e->stream_index] != e->stream;)
			e->stream_index++;
		if (e->stream_index == a->nr_streams)
			e->image_index = SIZE_MAX;
	}
	free(known);
	return 0;
}

static int compare_entries(const void *va, const void *vb)
{
	const struct sums_profile *a = *(struct sums_profile *const *)va;
	const struct sums_profile *b = *(struct sums_profile *const *)vb;
	const int c = a->comm ? strcmp(a->comm, b->comm) : 0;

	if (c)
		return c;
	if (a->image_index != b->image_index)
		return a->image_index < b->image_index ? -1 : 1;
	return (a->stream_index > b->stream_index) -
	       (a->stream_index < b->stream_index);
}

/* Renumbers the sums in the parts; entries that are not selected are removed. */
static void renumber(struct query_sums *s, const uint32_t *now)
{
	for (size_t i = 0; i < s->nr_parts; i++) {
		struct query_sum_part *p = &s->part[i];
		size_t kept = 0;

		for (size_t k = 0; k < p->nr; k++) {
			const uint32_t of = now[p->sum[k].of];

			if (of != UINT32_MAX)
				p->sum[kept++] =
					(struct query_part_sum){ of, p->sum[k].n };
		}
		p->nr = kept;
	}
}

static int put_in_order(struct adder *a)
{
	struct query_sums *s = &a->sums;
	uint32_t *now = calloc(a->nr + 1, sizeof(*now));
	int err = index_entries(a);

	s->sum = calloc(a->nr + 1, sizeof(*s->sum));
	s->comm = calloc(a->nr + 1, sizeof(*s->comm));
	if (!now || !s->sum || !s->comm)
		err = -ENOMEM;
	if (!err && a->nr)
		qsort(a->entry, a->nr, sizeof(struct sums_profile *), compare_entries);
	for (size_t i = 0; i < a->nr && !err; i++) {
		struct sums_profile *e = a->entry[i];

		now[e->number] = UINT32_MAX;
		if (e->image_index == SIZE_MAX)
			continue;
		now[e->number] = (uint32_t)s->nr;
		s->comm[s->nr] = e->comm;
		s->sum[s->nr++] =
			(struct query_sum){ e->comm, &s->image[e->image_index],
					    e->stream };
		e->comm = NULL;
	}
	if (!err)
		renumber(s, now);
	free(now);
	return err;
}

/* Adds up the rows of sql: ?1 has the epochs, and ?2 the contexts, if there are any. */
static int sum_up(sqlite3 *h, struct adder *a, const char *epochs, const char *contexts,
		  sql_row_fn fn, const char *sql)
{
	int err = rows_check_whole(h, epochs);

	if (!err)
		err = sql_each(h, fn, a, sql, contexts ? "ss" : "s", epochs, contexts);
	if (!err)
		err = read_names(h, a);
	if (!err)
		err = rows_check_whole(h, epochs);
	return err ? err : put_in_order(a);
}

static void hand_over(struct adder *a, struct query_sums *out)
{
	*out = a->sums;
	a->sums = (struct query_sums){ 0 };
}

int query_sums(struct db *db, const struct query_selection *sel, const uint32_t *part,
	       size_t nr_parts, struct query_sums *out)
{
#define TOTALS                                            \
	"SELECT epoch, image, stream, total FROM profile" \
	" WHERE epoch IN (SELECT value FROM json_each(?1)) AND kind = 0"
	static const char all[] = TOTALS " AND context = 0";
	static const char some[] =
		TOTALS " AND context IN (SELECT value FROM json_each(?2))";
#undef TOTALS
	struct adder a = { .sel = sel };
	struct query_scope scope = { 0 };
	int err = query_scope_init(&scope, db_handle(db), sel);
	const char *epochs = scope.epochs.data, *contexts = scope.contexts.data;

	if (!err)
		err = adder_init(&a, part, nr_parts);
	if (!err && !strcmp(contexts, "[0]")) /* no search for each row */
		err = sum_up(db_handle(db), &a, epochs, NULL, read_profile, all);
	else if (!err)
		err = sum_up(db_handle(db), &a, epochs, contexts, read_profile, some);
	if (!err)
		hand_over(&a, out);
	adder_fini(&a);
	query_scope_fini(&scope);
	return err;
}

int query_comm_sums(struct db *db, const struct query_selection *sel,
		    const uint32_t *part, size_t nr_parts, struct query_sums *out)
{
	static const char sql[] = "SELECT epoch, image, stream, n, comm FROM comm"
				  " WHERE epoch IN (SELECT value FROM json_each(?1))";
	struct adder a = { .sel = sel };
	struct query_scope scope = { 0 };
	int err = rows_epoch_ids(sel->epochs, &scope.epochs);

	if (!err)
		err = adder_init(&a, part, nr_parts);
	if (!err)
		err = sum_up(db_handle(db), &a, scope.epochs.data, NULL, read_comm,
			     sql);
	if (!err)
		hand_over(&a, out);
	adder_fini(&a);
	query_scope_fini(&scope);
	return err;
}

void query_sums_fini(struct query_sums *s)
{
	for (size_t i = 0; i < s->nr_images; i++)
		rows_image_fini(&s->image[i]);
	for (size_t i = 0; s->comm && i < s->nr; i++)
		free(s->comm[i]);
	for (size_t i = 0; i < s->nr_parts; i++)
		free(s->part[i].sum);
	free(s->image);
	free(s->comm);
	free(s->sum);
	free(s->part);
	*s = (struct query_sums){ 0 };
}
