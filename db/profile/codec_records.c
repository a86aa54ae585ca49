/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codec_records.c - hardware's records as columns of cells
 *
 * As in codec.c, similar numbers are together. A blob is decoded into a set of its own,
 * which is merged only if the whole blob is valid.
 */
#include "config.h"

#include "db/profile/codec_records.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/varint.h"
#include "db/profile/pack.h"

/* Three numbers for each cell, and two for an offset, which has a cell at least. */
#define MAX_BODY (10 + 5 * 10ULL * CODEC_MAX_CELLS)

/* What a cell's series and value are counted from. */
struct base {
	uint32_t series;
	uint64_t value;
};

static struct base base_of(const struct records_row *row, uint32_t i)
{
	const struct records_cell *c = &row->cell[i];

	if (!i)
		return (struct base){ 0, 0 };
	return (struct base){ c[-1].series,
			      c[-1].series == c->series ? c[-1].value : 0 };
}

enum column { SERIES, VALUE, N, NR_COLUMNS };

static uint64_t number_of(const struct records_row *row, uint32_t i, enum column col)
{
	const struct base base = base_of(row, i);
	const struct records_cell *c = &row->cell[i];

	return col == SERIES  ? c->series - base.series
	       : col == VALUE ? c->value - base.value
			      : c->n;
}

static void put_body(const struct records_row *row, size_t nr, struct buf *body)
{
	uint64_t before = 0;

	varint_put(body, nr);
	for (size_t i = 0; i < nr; i++) {
		varint_put(body, row[i].offset - before);
		before = row[i].offset;
	}
	for (size_t i = 0; i < nr; i++)
		varint_put(body, row[i].nr);
	for (int col = 0; col < NR_COLUMNS; col++) {
		for (size_t i = 0; i < nr; i++) {
			for (uint32_t k = 0; k < row[i].nr; k++)
				varint_put(body, number_of(&row[i], k, col));
		}
	}
}

int codec_encode_records(const struct records *r, struct buf *out)
{
	struct records_row *row;
	struct buf body = { 0 };
	int err;

	if (!r || !records_nr(r))
		return 0;
	if (records_nr_cells(r) > CODEC_MAX_CELLS)
		return -CPI_ELIMIT;
	row = records_sorted(r);
	if (!row)
		return -ENOMEM;
	put_body(row, records_nr(r), &body);
	err = pack_put(&body, out);
	buf_fini(&body);
	free(row);
	return err;
}

/* A body that is being read: where each of its columns goes on. */
struct records_reader {
	const uint8_t *end, *offsets, *sizes, *columns[NR_COLUMNS];
	uint64_t nr, nr_cells;
};

static int skip(const uint8_t **pos, const uint8_t *end, uint64_t nr)
{
	uint64_t v;
	int err = 0;

	while (nr-- && !err)
		err = varint_get(pos, end, &v);
	return err;
}

/* Finds the columns. */
static int reader_init(struct records_reader *r, const uint8_t *body, size_t size)
{
	const uint8_t *pos = body;
	uint64_t cells;
	int err;

	*r = (struct records_reader){ .end = body + size };
	err = varint_get(&pos, r->end, &r->nr);
	if (!err && !r->nr)
		err = -CPI_ECORRUPT;
	if (!err && r->nr > CODEC_MAX_CELLS)
		err = -CPI_ELIMIT;
	r->offsets = pos;
	if (!err)
		err = skip(&pos, r->end, r->nr);
	r->sizes = pos;
	for (uint64_t i = 0; i < r->nr && !err; i++) {
		err = varint_get(&pos, r->end, &cells);
		if (!err && cells > CODEC_MAX_CELLS - r->nr_cells)
			err = -CPI_ELIMIT;
		r->nr_cells += err ? 0 : cells;
	}
	for (int i = 0; i < NR_COLUMNS && !err; i++) {
		r->columns[i] = pos;
		err = skip(&pos, r->end, r->nr_cells);
	}
	return !err && pos != r->end ? -CPI_ECORRUPT : err;
}

static int read_cell(struct records_reader *r, struct records_row *row,
		     struct records_cell *cell)
{
	uint64_t number[NR_COLUMNS];
	struct base base;
	int err = 0;

	for (int i = 0; i < NR_COLUMNS && !err; i++)
		err = varint_get(&r->columns[i], r->end, &number[i]);
	if (err)
		return err;
	if (number[SERIES] >= RECORDS_NR_SERIES)
		return -CPI_ECORRUPT;
	cell->n = number[N];
	base = row->nr ? (struct base){ cell[-1].series, cell[-1].value }
		       : (struct base){ 0, 0 };
	cell->series = base.series + number[SERIES];
	if (number[SERIES])
		base.value = 0;
	if (__builtin_add_overflow(base.value, number[VALUE], &cell->value))
		return -CPI_ECORRUPT;
	row->nr++;
	return 0;
}

/* Reads an offset's cells into cell, which has room, and adds them. */
static int read_row(struct records_reader *r, uint64_t offset,
		    struct records_cell *cell, struct records *out)
{
	struct records_row row = { .offset = offset, .cell = cell };
	uint64_t nr = 0;
	int err = varint_get(&r->sizes, r->end, &nr);

	for (uint64_t i = 0; i < nr && !err; i++)
		err = read_cell(r, &row, &cell[i]);
	if (!err)
		err = records_add_row(out, &row);
	return err == -EINVAL || err == -EOVERFLOW ? -CPI_ECORRUPT : err;
}

static uint64_t most_cells(const struct records_reader *r)
{
	const uint8_t *pos = r->sizes;
	uint64_t nr, most = 0;

	for (uint64_t i = 0; i < r->nr; i++) {
		if (!varint_get(&pos, r->end, &nr) && nr > most)
			most = nr;
	}
	return most;
}

static int read_rows(struct records_reader *r, struct records *out)
{
	struct records_cell *cell = calloc(most_cells(r) + 1, sizeof(*cell));
	uint64_t delta, offset = 0;
	int err = cell ? 0 : -ENOMEM;

	for (uint64_t i = 0; i < r->nr && !err; i++) {
		err = varint_get(&r->offsets, r->end, &delta);
		if (!err &&
		    ((i && !delta) || __builtin_add_overflow(offset, delta, &offset)))
			err = -CPI_ECORRUPT;
		if (!err)
			err = read_row(r, offset, cell, out);
	}
	free(cell);
	return err;
}

static int add_body(const uint8_t *body, size_t size, struct profile *p)
{
	struct records *whole;
	struct records_reader r;
	int err = reader_init(&r, body, size);

	if (err)
		return err;
	whole = records_new();
	err = whole ? read_rows(&r, whole) : -ENOMEM;
	if (!err)
		err = profile_make_records(p)
			      ? records_merge(profile_make_records(p), whole)
			      : -ENOMEM;
	records_free(whole);
	return err;
}

int codec_decode_records(const void *blob, size_t size, struct profile *p)
{
	struct buf memory = { 0 };
	const uint8_t *body;
	size_t body_size;
	int err = pack_get(blob, size, MAX_BODY, &memory, &body, &body_size);

	if (!err)
		err = add_body(body, body_size, p);
	buf_fini(&memory);
	return err;
}
