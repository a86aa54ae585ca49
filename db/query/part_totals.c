/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * part_totals.c - reads streams and losses of the parts of a selection
 *
 * The rows of an epoch are added to those of its part. A part has few streams and
 * losses, so they are searched one by one.
 */
#include "config.h"

#include "db/query/part_totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "db/core/rows.h"
#include "db/core/sql.h"
#include "db/query/epoch_numbers.h"

struct divider {
	const struct query_streams *streams;
	const struct query_losses *losses;
	struct epoch_numbers epochs; /* the part of each */
	struct query_parts parts;
};

static struct query_part *part_of(struct divider *d, int64_t epoch)
{
	const uint32_t *part = epoch_numbers_find(&d->epochs, epoch);

	return part ? &d->parts.part[*part] : NULL;
}

/* Adds a stream without samples to a part. */
static int add_stream(struct query_streams *list, const struct query_stream *like)
{
	struct query_stream s = {
		.id = like->id,
		.desc = { .event = strdup(like->desc.event),
			  .source = strdup(like->desc.source),
			  .cpu_type = strdup(like->desc.cpu_type),
			  .unit = strdup(like->desc.unit),
			  .mean_period = like->desc.mean_period,
			  .landing = like->desc.landing },
	};

	if (GROW(list->stream, list->nr) || !s.desc.event || !s.desc.source ||
	    !s.desc.cpu_type || !s.desc.unit) {
		free((char *)s.desc.event);
		free((char *)s.desc.source);
		free((char *)s.desc.cpu_type);
		free((char *)s.desc.unit);
		return -ENOMEM;
	}
	list->stream[list->nr++] = s;
	return 0;
}

static int add(uint64_t *sum, int64_t n)
{
	return __builtin_add_overflow(*sum, (uint64_t)n, sum) ? -EOVERFLOW : 0;
}

static int add_tally(sqlite3_stmt *st, struct query_stream *s)
{
	int err = add(&s->received, sqlite3_column_int64(st, 2));

	if (!err)
		err = add(&s->stored, sqlite3_column_int64(st, 3));
	if (!err)
		err = add(&s->enabled_ns, sqlite3_column_int64(st, 4));
	if (!err)
		err = add(&s->running_ns, sqlite3_column_int64(st, 5));
	if (!err)
		err = add(&s->throttled, sqlite3_column_int64(st, 6));
	if (!err && __builtin_add_overflow(s->not_delivered,
					   (int64_t)sqlite3_column_int64(st, 7),
					   &s->not_delivered))
		err = -EOVERFLOW;
	return err;
}

static int read_tally(sqlite3_stmt *st, void *ctx)
{
	struct divider *d = ctx;
	const int64_t id = sqlite3_column_int64(st, 1);
	struct query_part *part = part_of(d, sqlite3_column_int64(st, 0));
	const struct query_stream *like = query_stream_by_id(d->streams, id);
	struct query_streams *list = part ? &part->streams : NULL;
	int err = rows_check_columns(st, 2, "nnnnni");

	if (err || !like || !list)
		return err;
	if (!query_stream_by_id(list, id))
		err = add_stream(list, like);
	for (size_t i = 0; i < list->nr && !err; i++) {
		if (list->stream[i].id == id)
			return add_tally(st, &list->stream[i]);
	}
	return err;
}

static bool is_loss(const struct query_loss *l, sqlite3_stmt *st)
{
	return l->stream == sqlite3_column_int64(st, 1) &&
	       (int)l->class == sqlite3_column_int(st, 2) &&
	       !strcmp(l->name, sql_text(st, 3));
}

static int read_loss(sqlite3_stmt *st, void *ctx)
{
	struct query_part *part = part_of(ctx, sqlite3_column_int64(st, 0));
	struct query_loss l = { .stream = sqlite3_column_int64(st, 1),
				.class = sqlite3_column_int(st, 2) };
	int err = rows_check_columns(st, 2, "ntn");
	struct query_losses *list;

	if (err || !part)
		return err;
	list = &part->losses;
	for (size_t i = 0; i < list->nr; i++) {
		if (is_loss(&list->loss[i], st))
			return add(&list->loss[i].n, sqlite3_column_int64(st, 4));
	}
	if (GROW(list->loss, list->nr))
		return -ENOMEM;
	l.name = strdup(sql_text(st, 3));
	l.n = (uint64_t)sqlite3_column_int64(st, 4);
	if (!l.name)
		return -ENOMEM;
	list->loss[list->nr++] = l;
	return 0;
}

/* The index of a stream in the whole selection. */
static size_t order_of(const struct query_streams *whole, int64_t stream)
{
	const struct query_stream *s = query_stream_by_id(whole, stream);

	return s ? (size_t)(s - whole->stream) : whole->nr;
}

static int by_stream(const void *va, const void *vb, void *ctx)
{
	const struct query_stream *a = va, *b = vb;
	const size_t i = order_of(ctx, a->id), k = order_of(ctx, b->id);

	return (i > k) - (i < k);
}

/* The index of a loss in the whole selection. */
static size_t place_of(const struct query_losses *whole, const struct query_loss *l)
{
	size_t i = 0;

	while (i < whole->nr && (whole->loss[i].stream != l->stream ||
				 whole->loss[i].class != l->class ||
				 strcmp(whole->loss[i].name, l->name) != 0))
		i++;
	return i;
}

static int by_place(const void *va, const void *vb, void *ctx)
{
	const size_t i = place_of(ctx, va), k = place_of(ctx, vb);

	return (i > k) - (i < k);
}

static void put_in_order(struct divider *d)
{
	for (size_t i = 0; i < d->parts.nr; i++) {
		struct query_part *p = &d->parts.part[i];

		if (p->streams.nr)
			qsort_r(p->streams.stream, p->streams.nr,
				sizeof(*p->streams.stream), by_stream,
				(void *)d->streams);
		if (p->losses.nr)
			qsort_r(p->losses.loss, p->losses.nr, sizeof(*p->losses.loss),
				by_place, (void *)d->losses);
	}
}

static int read_all(sqlite3 *h, struct divider *d, const char *epochs)
{
	static const char tallies[] =
		"SELECT epoch, stream, received, stored, enabled_ns, running_ns,"
		" throttled, not_delivered FROM tally"
		" WHERE epoch IN (SELECT value FROM json_each(?1)) AND kind = 0";
	static const char losses[] =
		"SELECT epoch, stream, class, name, n FROM loss"
		" WHERE epoch IN (SELECT value FROM json_each(?1)) AND kind = 0";
	int err = sql_each(h, read_tally, d, tallies, "s", epochs);

	return err ? err : sql_each(h, read_loss, d, losses, "s", epochs);
}

int query_part_totals(struct db *db, const struct query_epochs *e, const uint32_t *part,
		      size_t nr_parts, const struct query_streams *streams,
		      const struct query_losses *losses, struct query_parts *out)
{
	struct divider d = { .streams = streams,
			     .losses = losses,
			     .parts = { .nr = nr_parts } };
	struct buf ids = { 0 };
	int err = rows_epoch_ids(e, &ids);

	d.parts.part = calloc(nr_parts + 1, sizeof(*d.parts.part));
	if (!d.parts.part)
		err = -ENOMEM;
	if (!err)
		err = epoch_numbers_init(&d.epochs, e, part);
	if (!err)
		err = read_all(db_handle(db), &d, ids.data);
	buf_fini(&ids);
	epoch_numbers_fini(&d.epochs);
	if (err) {
		query_parts_fini(&d.parts);
		return err;
	}
	put_in_order(&d);
	*out = d.parts;
	return 0;
}

void query_parts_fini(struct query_parts *p)
{
	for (size_t i = 0; p->part && i < p->nr; i++) {
		query_streams_fini(&p->part[i].streams);
		query_losses_fini(&p->part[i].losses);
	}
	free(p->part);
	*p = (struct query_parts){ 0 };
}
