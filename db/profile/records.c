/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records.c - a hash of offsets, each with a sorted array of cells
 *
 * An instruction has some tens of cells. So a cell is found by binary search, and a new
 * one moves those after it. Memory for a change is allocated before anything changes.
 */
#include "config.h"

#include "db/profile/records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hmap.h"
#include "base/loglin.h"
#include "base/search.h"

/* What one record can add at most. */
#define MAX_NEW (2 * RECORD_NR_EVENTS + RECORD_NR_LATENCIES + 1)

struct records_place {
	struct hnode node;
	uint64_t offset;
	struct records_cell *cell;
	uint32_t nr, cap;
};

struct records {
	struct hmap places;
	size_t nr_cells, memory;
	uint64_t total;
};

const char *record_event_str(enum record_event event)
{
#define RECORD_EVENT_TEXT(name, text) text,
	static const char *const texts[] = { RECORD_EVENTS(RECORD_EVENT_TEXT) };
#undef RECORD_EVENT_TEXT

	return texts[event];
}

const char *record_latency_str(enum record_latency latency)
{
#define RECORD_LATENCY_TEXT(name, text) text,
	static const char *const texts[] = { RECORD_LATENCIES(RECORD_LATENCY_TEXT) };
#undef RECORD_LATENCY_TEXT

	return texts[latency];
}

static struct records_place *place_of(struct hnode *n)
{
	return container_of(n, struct records_place, node);
}

struct records *records_new(void)
{
	return calloc(1, sizeof(struct records));
}

void records_free(struct records *r)
{
	struct hnode *n, *next;

	if (!r)
		return;
	hmap_for_each (&r->places, n, next) {
		free(place_of(n)->cell);
		free(place_of(n));
	}
	hmap_fini(&r->places);
	free(r);
}

static struct records_place *find_place(const struct records *r, uint64_t offset)
{
	struct hnode *n;

	for (n = hmap_first(&r->places, hash_u64(offset)); n; n = hmap_next(n)) {
		if (place_of(n)->offset == offset)
			return place_of(n);
	}
	return NULL;
}

/* The first of nr cells that is not below (series, value). */
static uint32_t search(const struct records_cell *cell, uint32_t nr, uint32_t series,
		       uint64_t value)
{
	return SEARCH(i, nr,
		      cell[i].series > series ||
			      (cell[i].series == series && cell[i].value >= value));
}

static bool is_cell(const struct records_cell *c, uint32_t series, uint64_t value)
{
	return c->series == series && c->value == value;
}

uint64_t records_cell(const struct records_row *row, uint32_t series, uint64_t value)
{
	const uint32_t i = search(row->cell, row->nr, series, value);

	return i < row->nr && is_cell(&row->cell[i], series, value) ? row->cell[i].n
								    : 0;
}

static int make_room(struct records *r, struct records_place *p, uint32_t more)
{
	struct records_cell *cell;
	uint32_t cap = p->cap + p->cap / 2;

	if (p->nr + more <= p->cap)
		return 0;
	if (cap < p->nr + more)
		cap = p->nr + more;
	cell = realloc(p->cell, cap * sizeof(*cell));
	if (!cell)
		return -ENOMEM;
	r->memory += (cap - p->cap) * sizeof(*cell);
	p->cell = cell;
	p->cap = cap;
	return 0;
}

/* The place of offset with room for more cells, made if there is none. */
static int get_place(struct records *r, uint64_t offset, uint32_t more,
		     struct records_place **out)
{
	struct records_place *p = find_place(r, offset);
	int err;

	if (p) {
		err = make_room(r, p, more);
		if (!err)
			*out = p;
		return err;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->offset = offset;
	err = make_room(r, p, more);
	if (!err)
		err = hmap_insert(&r->places, &p->node, hash_u64(offset));
	if (err) {
		r->memory -= p->cap * sizeof(*p->cell);
		free(p->cell);
		free(p);
		return err;
	}
	r->memory += sizeof(*p);
	*out = p;
	return 0;
}

/* There is room for it. */
static void add_cell(struct records *r, struct records_place *p,
		     const struct records_cell *c)
{
	const uint32_t i = search(p->cell, p->nr, c->series, c->value);

	if (i < p->nr && is_cell(&p->cell[i], c->series, c->value)) {
		p->cell[i].n += c->n;
		return;
	}
	memmove(&p->cell[i + 1], &p->cell[i], (p->nr - i) * sizeof(*p->cell));
	p->cell[i] = *c;
	p->nr++;
	r->nr_cells++;
}

static int descending(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

/*
 * Misra and Gries, and for what was merged Agarwal et al., "Mergeable summaries"
 * (PODS'12), section 3: takes the (k + 1)th largest counter from all.
 */
static void trim_addresses(struct records *r, struct records_place *p)
{
	const uint32_t first = search(p->cell, p->nr, RECORDS_ADDRESS, 0);
	const uint32_t end = search(p->cell, p->nr, RECORDS_ADDRESS + 1, 0);
	uint64_t n[2 * RECORDS_ADDRESSES], least;
	uint32_t kept = first;

	if (end - first <= RECORDS_ADDRESSES)
		return;
	for (uint32_t i = first; i < end; i++)
		n[i - first] = p->cell[i].n;
	qsort(n, end - first, sizeof(*n), descending);
	least = n[RECORDS_ADDRESSES];
	for (uint32_t i = first; i < end; i++) {
		if (p->cell[i].n <= least)
			continue;
		p->cell[kept] = p->cell[i];
		p->cell[kept++].n -= least;
	}
	memmove(&p->cell[kept], &p->cell[end], (p->nr - end) * sizeof(*p->cell));
	p->nr -= end - kept;
	r->nr_cells -= end - kept;
}

static bool can_total(const struct records *r, uint64_t more)
{
	return more <= INT64_MAX - r->total;
}

int records_add(struct records *r, uint64_t offset, const struct record *one)
{
	const uint32_t known = one->known | 1u << RECORD_ANY;
	struct records_place *p;
	int err;

	if (!can_total(r, 1))
		return -EOVERFLOW;
	err = get_place(r, offset, MAX_NEW, &p);
	if (err)
		return err;
	for (uint32_t i = 0; i < RECORD_NR_EVENTS; i++) {
		if (known >> i & 1)
			add_cell(r, p, &(struct records_cell){ RECORDS_KNOWN, i, 1 });
		if (known >> i & one->seen >> i & 1 && i != RECORD_ANY)
			add_cell(r, p, &(struct records_cell){ RECORDS_SEEN, i, 1 });
	}
	if (known >> RECORD_DATA_ADDRESS & 1) {
		add_cell(r, p,
			 &(struct records_cell){ RECORDS_ADDRESS, one->address, 1 });
		trim_addresses(r, p);
	}
	for (uint32_t i = 0; i < RECORD_NR_LATENCIES; i++) {
		if (one->timed >> i & 1)
			add_cell(r, p,
				 &(struct records_cell){ RECORDS_LATENCY + i,
							 loglin_bin(one->cycles[i]),
							 1 });
	}
	r->total++;
	return 0;
}

/* Whether a cell by itself is one that records have. */
static bool is_valid(const struct records_cell *c, uint64_t records)
{
	if (!c->n || c->n > records || c->series >= RECORDS_NR_SERIES)
		return false;
	if (c->series < RECORDS_ADDRESS)
		return c->value < RECORD_NR_EVENTS;
	return c->series == RECORDS_ADDRESS || c->value < LOGLIN_BINS;
}

/* How much a series may sum up to; none of its cells is larger in the first two. */
static uint64_t limit_of(const struct records_row *row, uint32_t series)
{
	if (series == RECORDS_ADDRESS)
		return records_cell(row, RECORDS_KNOWN, RECORD_DATA_ADDRESS);
	return row->cell[0].n;
}

static bool is_row(const struct records_row *row)
{
	uint64_t sum = 0;
	uint32_t nr = 0;

	if (!row->nr || !is_cell(&row->cell[0], RECORDS_KNOWN, RECORD_ANY))
		return false;
	for (uint32_t i = 0; i < row->nr; i++) {
		const struct records_cell *c = &row->cell[i];
		const bool begins = !i || c->series != c[-1].series;

		if (!is_valid(c, row->cell[0].n) ||
		    (i && (c->series < c[-1].series ||
			   (!begins && c->value <= c[-1].value))))
			return false;
		if (c->series == RECORDS_SEEN &&
		    c->n > records_cell(row, RECORDS_KNOWN, c->value))
			return false;
		sum = begins ? 0 : sum;
		nr = begins ? 1 : nr + 1;
		if (c->series < RECORDS_ADDRESS)
			continue;
		if (c->n > limit_of(row, c->series) - sum)
			return false;
		sum += c->n;
		if (c->series == RECORDS_ADDRESS && nr > RECORDS_ADDRESSES)
			return false;
	}
	return true;
}

static int merge_row(struct records *r, const struct records_row *row)
{
	struct records_place *p;
	int err;

	if (!can_total(r, row->cell[0].n))
		return -EOVERFLOW;
	err = get_place(r, row->offset, row->nr, &p);
	if (err)
		return err;
	for (uint32_t i = 0; i < row->nr; i++)
		add_cell(r, p, &row->cell[i]);
	trim_addresses(r, p);
	r->total += row->cell[0].n;
	return 0;
}

int records_add_row(struct records *r, const struct records_row *row)
{
	return is_row(row) ? merge_row(r, row) : -EINVAL;
}

int records_merge(struct records *r, const struct records *from)
{
	struct hnode *n, *next;
	int err = 0;

	hmap_for_each (&from->places, n, next) {
		const struct records_place *p = place_of(n);

		err = merge_row(r, &(struct records_row){ p->offset, p->cell, p->nr });
		if (err)
			break;
	}
	return err;
}

size_t records_nr(const struct records *r)
{
	return r->places.nr;
}

size_t records_nr_cells(const struct records *r)
{
	return r->nr_cells;
}

uint64_t records_total(const struct records *r)
{
	return r->total;
}

size_t records_memory(const struct records *r)
{
	return sizeof(*r) + r->memory +
	       r->places.nr_buckets * sizeof(*r->places.bucket);
}

struct records_row records_at(const struct records *r, uint64_t offset)
{
	const struct records_place *p = find_place(r, offset);

	return p ? (struct records_row){ offset, p->cell, p->nr }
		 : (struct records_row){ .offset = offset };
}

static int by_offset(const void *a, const void *b)
{
	const struct records_row *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

struct records_row *records_sorted(const struct records *r)
{
	struct records_row *row = calloc(r->places.nr + 1, sizeof(*row));
	struct hnode *n, *next;
	size_t nr = 0;

	if (!row)
		return NULL;
	hmap_for_each (&r->places, n, next) {
		const struct records_place *p = place_of(n);

		row[nr++] = (struct records_row){ p->offset, p->cell, p->nr };
	}
	qsort(row, nr, sizeof(*row), by_offset);
	return row;
}
