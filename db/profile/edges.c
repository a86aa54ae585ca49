/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * edges.c - an array that is sorted and summed up when it is full
 *
 * Adding appends. When the array is full, equal edges are merged, and it doubles only
 * if that gave little room. So a set needs no index, and at most four times the memory
 * of its different edges. A set that is still nearly full after merging takes no more
 * edges: it would be sorted again and again for little room.
 *
 * I1  The sums of all edges fit into 64 bits, so each edge's numbers do as well.
 * I2  cap is at most EDGES_MAX, so every encoded set can be decoded.
 */
#include "config.h"

#include "db/profile/edges.h"

#include <errno.h>
#include <stdbool.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/search.h"
#include "base/varint.h"
#include "db/profile/pack.h"

#define MIN_CAP     64 /* EDGES_MAX is this, doubled */
#define NEARLY_FULL (EDGES_MAX / 8 * 7)
#define COLUMNS     5 /* behind from */
#define MAX_BODY    (1u << 28)
#define LEAST_BYTES (1 + COLUMNS) /* of an edge in a body */

struct edges {
	struct edge *edge;
	size_t nr, cap;
	size_t nr_merged; /* at the front: sorted, each once */
	struct edge sum;  /* without places */
};

const char *edges_kind_str(enum edges_kind kind)
{
	static const char *const text[] = { "branch", "run", "pace", "pace start" };

	return (unsigned int)kind < EDGES_NR_KINDS ? text[kind] : "?";
}

uint32_t edges_pace_class(uint64_t ns, uint64_t executions)
{
	double class;

	if (!executions)
		return EDGES_PACE_NONE;
	class = 8 * (10 + log2((double)ns / (double)executions));
	if (!(class > 0))
		return 0;
	return class < EDGES_PACE_CLASSES ? (uint32_t) class : EDGES_PACE_CLASSES - 1;
}

struct edges *edges_new(void)
{
	return calloc(1, sizeof(struct edges));
}

void edges_free(struct edges *set)
{
	if (!set)
		return;
	free(set->edge);
	free(set);
}

static int compare(const void *va, const void *vb)
{
	const struct edge *a = va, *b = vb;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

/* 0 or -EOVERFLOW; then to is unchanged. */
static int add_numbers(struct edge *to, const struct edge *e)
{
	struct edge sum = *to;

	if (__builtin_add_overflow(sum.n, e->n, &sum.n) || sum.n > INT64_MAX ||
	    __builtin_add_overflow(sum.cycles, e->cycles, &sum.cycles))
		return -EOVERFLOW;
	sum.nr_timed += e->nr_timed;
	sum.mispredicted += e->mispredicted;
	*to = sum;
	return 0;
}

static void merge_equal(struct edges *set)
{
	size_t kept = 0;

	if (set->nr_merged == set->nr)
		return;
	qsort(set->edge, set->nr, sizeof(*set->edge), compare);
	for (size_t i = 0; i < set->nr; i++) {
		if (kept && !compare(&set->edge[kept - 1], &set->edge[i]))
			add_numbers(&set->edge[kept - 1], &set->edge[i]);
		else
			set->edge[kept++] = set->edge[i];
	}
	set->nr = set->nr_merged = kept;
}

/* Room for one more. */
static int reserve(struct edges *set)
{
	size_t cap = set->cap ? 2 * set->cap : MIN_CAP;
	struct edge *grown;

	if (set->nr_merged > NEARLY_FULL)
		return -CPI_ELIMIT;
	if (set->nr < set->cap)
		return 0;
	merge_equal(set);
	if (set->cap == EDGES_MAX)
		return set->nr > NEARLY_FULL ? -CPI_ELIMIT : 0;
	if (2 * set->nr < set->cap)
		return 0;
	grown = reallocarray(set->edge, cap, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	set->edge = grown;
	set->cap = cap;
	return 0;
}

int edges_add(struct edges *set, const struct edge *e)
{
	struct edge sum = set->sum;
	int err = add_numbers(&sum, e);

	if (!err)
		err = reserve(set);
	if (err)
		return err;
	set->edge[set->nr++] = *e;
	set->sum = sum;
	return 0;
}

int edges_merge(struct edges *set, struct edges *from)
{
	int err = 0;

	merge_equal(from);
	for (size_t i = 0; !err && i < from->nr; i++)
		err = edges_add(set, &from->edge[i]);
	return err;
}

uint64_t edges_total(const struct edges *set)
{
	return set->sum.n;
}

size_t edges_memory(const struct edges *set)
{
	return sizeof(*set) + set->cap * sizeof(*set->edge);
}

const struct edge *edges_sorted(struct edges *set, size_t *nr)
{
	merge_equal(set);
	*nr = set->nr;
	return set->edge;
}

size_t edges_first_from(const struct edge *e, size_t nr, uint64_t from)
{
	return SEARCH(i, nr, e[i].from >= from);
}

/* ---- blobs ---- */

/* A column's number in e, to write it or to read it into. */
static uint64_t *column(struct edge *e, int i)
{
	uint64_t *const at[COLUMNS] = { &e->to, &e->n, &e->cycles, &e->nr_timed,
					&e->mispredicted };

	return at[i];
}

/* Maps signed distances to unsigned numbers, small ones to small ones ("zigzag"). */
static uint64_t fold(uint64_t d)
{
	return d << 1 ^ -(d >> 63);
}

static uint64_t unfold(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

int edges_encode(struct edges *set, struct buf *out)
{
	struct buf body = { 0 };
	uint64_t before = 0;
	int err;

	merge_equal(set);
	if (!set->nr)
		return 0;
	varint_put(&body, set->nr);
	for (size_t i = 0; i < set->nr; i++) {
		varint_put(&body, set->edge[i].from - before);
		before = set->edge[i].from;
	}
	for (int col = 0; col < COLUMNS; col++) {
		for (size_t i = 0; i < set->nr; i++) {
			struct edge e = set->edge[i];

			e.to = fold(e.to - e.from);
			varint_put(&body, *column(&e, col));
		}
	}
	err = pack_put(&body, out);
	buf_fini(&body);
	return err;
}

static int read_columns(const uint8_t *at, const uint8_t *end, struct edge *edge,
			size_t nr)
{
	uint64_t before = 0;
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		err = varint_get(&at, end, &edge[i].from);
		if (!err && __builtin_add_overflow(before, edge[i].from, &edge[i].from))
			err = -CPI_ECORRUPT;
		before = edge[i].from;
	}
	for (int col = 0; col < COLUMNS; col++) {
		for (size_t i = 0; !err && i < nr; i++)
			err = varint_get(&at, end, column(&edge[i], col));
	}
	for (size_t i = 0; !err && i < nr; i++)
		edge[i].to = edge[i].from + unfold(edge[i].to);
	return err ? err : at != end ? -CPI_ECORRUPT : 0;
}

static bool are_right(const struct edge *edge, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!edge[i].n || edge[i].nr_timed > edge[i].n ||
		    edge[i].mispredicted > edge[i].n ||
		    (edge[i].cycles && !edge[i].nr_timed) ||
		    (i && compare(&edge[i - 1], &edge[i]) >= 0))
			return false;
	}
	return true;
}

static int add_body(const uint8_t *body, size_t size, struct edges *set)
{
	const uint8_t *at = body;
	struct edge *edge;
	uint64_t nr;
	int err = varint_get(&at, body + size, &nr);

	if (err)
		return err;
	if (nr > EDGES_MAX)
		return -CPI_ELIMIT;
	if (!nr)
		return -CPI_ECORRUPT;
	if (nr > size / LEAST_BYTES)
		return -CPI_ETRUNCATED;
	edge = calloc(nr, sizeof(*edge));
	if (!edge)
		return -ENOMEM;
	err = read_columns(at, body + size, edge, nr);
	if (!err && !are_right(edge, nr))
		err = -CPI_ECORRUPT;
	for (size_t i = 0; !err && i < nr; i++)
		err = edges_add(set, &edge[i]);
	free(edge);
	return err;
}

int edges_decode(const void *blob, size_t size, struct edges *set)
{
	struct buf memory = { 0 };
	const uint8_t *body;
	size_t body_size;
	int err = pack_get(blob, size, MAX_BODY, &memory, &body, &body_size);

	if (!err)
		err = add_body(body, body_size, set);
	buf_fini(&memory);
	return err;
}
