/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placesums.c - offsets become procedures here, not in the engine
 *
 * No join by ranges is both fast and available in all versions of the engine that
 * CPI supports. Both sides come in the order of images and offsets, so one walk
 * names all of an hour's offsets.
 */
#include "config.h"

#include "db/clickhouse/placesums.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "db/clickhouse/daysums.h"
#include "db/clickhouse/storesums.h"

#define MAX_ANSWER (2ULL << 30)
#define MAX_PLACES (32u << 20)

struct hour_place {
	uint64_t image, start, clock, stream, n;
};

struct places {
	struct hour_place *place;
	size_t nr;
	uint64_t *image; /* each once, ascending */
	size_t nr_images;
	struct storesums_symbol symbol; /* the last one; its name has ended */
	size_t at;                      /* places before it have their symbol's start */
};

/* image, offset, clock, stream, n; in the order of the first two */
static int note_place(void *ctx, const struct rowbinary_cell *cells)
{
	struct places *p = ctx;
	const uint64_t image = cells[0].n;

	if (p->nr == MAX_PLACES)
		return -EOVERFLOW;
	if (!p->nr_images || p->image[p->nr_images - 1] != image) {
		if (GROW(p->image, p->nr_images))
			return -ENOMEM;
		p->image[p->nr_images++] = image;
	}
	if (GROW(p->place, p->nr))
		return -ENOMEM;
	p->place[p->nr++] = (struct hour_place){ image, cells[1].n, cells[2].n,
						 cells[3].n, cells[4].n };
	return 0;
}

/* Clocks matter to cycles alone, and joining them takes time. */
static int needs_clocks(struct ch_store *s, uint64_t *nr)
{
	*nr = 0;
	return ch_store_query(s,
			      "SELECT count() FROM stream WHERE unit = 'cycles'"
			      " FORMAT RowBinary",
			      "8", 1024, rowbinary_take_number, nr);
}

static int read_places(struct ch_store *s, const char *within, struct places *p)
{
	struct buf sql = { 0 };
	uint64_t clocks;
	int err = needs_clocks(s, &clocks);

	if (err)
		return err;
	buf_printf(&sql,
		   "SELECT image, offset, clock, stream, sum(n) FROM (SELECT %s image,"
		   " stream, offset, n FROM profile WHERE counter = 0 AND context = 0"
		   " AND%s AND (host, at, nr) GLOBAL IN (SELECT host, at, nr"
		   " FROM epoch WHERE%s AND" DAYSUMS_VALID ")) AS p",
		   clocks ? "host, at, nr," : "toUInt64(0) AS clock,", within, within);
	if (clocks)
		buf_printf(&sql,
			   " ANY LEFT JOIN (SELECT host, at, nr, clock_hz AS clock FROM"
			   " epoch WHERE%s) AS e USING host, at, nr",
			   within);
	buf_puts(&sql, " GROUP BY image, offset, clock, stream ORDER BY image, offset"
		       " FORMAT RowBinary");
	err = ch_store_query_buf(s, &sql, "88888", MAX_ANSWER, note_place, p);
	buf_fini(&sql);
	if (err != -EOVERFLOW)
		return err;
	log_err("fleet: an hour has more than %u places, and is not added up: reports "
		"read its rows",
		MAX_PLACES);
	return -CPI_ELIMIT;
}

/*
 * A place belongs to the last symbol at or before it, if that symbol covers it. The
 * end of a symbol without a size is not known until a later capture, so its places
 * keep their offsets.
 */
static void take_places(struct places *p, uint64_t image, uint64_t offset)
{
	const struct storesums_symbol *f = &p->symbol;

	for (; p->at < p->nr; p->at++) {
		struct hour_place *a = &p->place[p->at];

		if (a->image > image || (a->image == image && a->start >= offset))
			break;
		if (a->image == f->image && a->start >= f->start &&
		    a->start - f->start < f->size)
			a->start = f->start;
	}
}

/* Symbols come in the order of places. */
static int take_symbol(void *ctx, const struct storesums_symbol *symbol)
{
	struct places *p = ctx;

	take_places(p, symbol->image, symbol->start);
	p->symbol = *symbol;
	return 0;
}

static int compare(const void *x, const void *y)
{
	const struct hour_place *a = x, *b = y;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return a->clock < b->clock ? -1 : a->clock > b->clock;
}

/* Places that became one. */
static void merge(struct places *p)
{
	size_t nr = 0;

	if (p->nr)
		qsort(p->place, p->nr, sizeof(*p->place), compare);
	for (size_t i = 0; i < p->nr; i++) {
		if (nr && !compare(&p->place[nr - 1], &p->place[i]))
			p->place[nr - 1].n += p->place[i].n;
		else
			p->place[nr++] = p->place[i];
	}
	p->nr = nr;
}

static int insert(struct ch_store *s, uint64_t hour, uint64_t lot,
		  const struct places *p)
{
	struct buf rows = { 0 };
	int err;

	for (size_t i = 0; i < p->nr; i++) {
		const struct hour_place *a = &p->place[i];

		rowbinary_put(&rows, '4', hour);
		rowbinary_put(&rows, '8', lot);
		rowbinary_put(&rows, '8', a->clock);
		rowbinary_put(&rows, '8', a->image);
		rowbinary_put(&rows, '8', a->stream);
		rowbinary_put(&rows, '8', a->start);
		rowbinary_put(&rows, '8', a->n);
	}
	err = ch_store_insert(s,
			      "hour_place (hour, lot, clock, image, stream, start, n)",
			      "4888888", &rows);
	buf_fini(&rows);
	return err;
}

int placesums_make(struct ch_store *s, uint64_t hour, uint64_t lot, const char *within)
{
	struct places p = { 0 };
	int err = read_places(s, within, &p);

	if (!err)
		err = storesums_symbols(s, p.image, p.nr_images, take_symbol, &p);
	take_places(&p, UINT64_MAX, UINT64_MAX);
	merge(&p);
	if (!err)
		err = insert(s, hour, lot, &p);
	free(p.place);
	free(p.image);
	return err;
}
