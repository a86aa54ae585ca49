/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top.c - the rows of cpi top, each with its time in the last refreshes ("looks")
 *
 * Each row has a ring of times. The number of the look is the index of all rings, so a
 * new look only clears one element of each. Rows without time in the ring are freed,
 * which bounds memory.
 */
#include "config.h"

#include "report/profile/top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static struct top_row *row_of(struct hnode *n)
{
	return container_of(n, struct top_row, node);
}

static void row_free(struct top_row *r)
{
	free(r->name);
	free(r->image);
	free(r);
}

void top_fini(struct top *t)
{
	struct hnode *n, *next;

	for (int by = 0; by < NR_TOP_BY; by++) {
		hmap_for_each (&t->rows[by], n, next)
			row_free(row_of(n));
		hmap_fini(&t->rows[by]);
	}
}

size_t top_slot(const struct top *t, size_t back)
{
	return (t->look - 1 - back) % TOP_LOOKS;
}

size_t top_nr_looks(const struct top *t)
{
	return t->look < TOP_LOOKS ? t->look : TOP_LOOKS;
}

static double sum_of(const struct top_row *r)
{
	double sum = 0;

	for (size_t i = 0; i < TOP_LOOKS; i++)
		sum += r->ns[i];
	return sum;
}

void top_begin(struct top *t)
{
	struct hnode *n, *next;
	size_t slot;

	t->look++;
	slot = top_slot(t, 0);
	t->busy[slot] = t->idle[slot] = 0;
	for (int by = 0; by < NR_TOP_BY; by++) {
		hmap_for_each (&t->rows[by], n, next) {
			row_of(n)->ns[slot] = 0;
			if (sum_of(row_of(n)) > 0)
				continue;
			hmap_remove(&t->rows[by], n);
			row_free(row_of(n));
		}
	}
}

static struct top_row *row_new(const char *name, const char *image)
{
	struct top_row *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->name = strdup(name);
	r->image = image ? strdup(image) : NULL;
	if (r->name && (r->image || !image))
		return r;
	row_free(r);
	return NULL;
}

static bool is_row(const struct top_row *r, const char *name, const char *image)
{
	return !strcmp(r->name, name) &&
	       (image ? r->image && !strcmp(r->image, image) : !r->image);
}

static struct top_row *find_row(struct hmap *rows, const char *name, const char *image)
{
	uint64_t hash = hash_bytes(0, name, strlen(name));
	struct top_row *r;
	struct hnode *n;

	if (image)
		hash = hash_bytes(hash, image, strlen(image));
	for (n = hmap_first(rows, hash); n; n = hmap_next(n)) {
		if (is_row(row_of(n), name, image))
			return row_of(n);
	}
	if (rows->nr >= TOP_ROWS && (image || strcmp(name, TOP_OTHER) != 0))
		return find_row(rows, TOP_OTHER, NULL);
	r = row_new(name, image);
	if (r && !hmap_insert(rows, &r->node, hash))
		return r;
	if (r)
		row_free(r);
	return NULL;
}

int top_add(struct top *t, enum top_by by, const char *name, const char *image,
	    double ns)
{
	struct top_row *r = find_row(&t->rows[by], name, image);

	if (!r)
		return -ENOMEM;
	r->ns[top_slot(t, 0)] += ns;
	return 0;
}

int top_add_busy(struct top *t, const char *procedure, const char *image, double ns)
{
	int err = top_add(t, TOP_PROCEDURE, procedure, image, ns);

	if (!err)
		err = top_add(t, TOP_IMAGE, image ? image : procedure, NULL, ns);
	if (!err)
		t->busy[top_slot(t, 0)] += ns;
	return err;
}

void top_add_idle(struct top *t, double ns)
{
	t->idle[top_slot(t, 0)] += ns;
}

static bool matches(const struct top_row *r, const char *filter)
{
	return !filter || strcasestr(r->name, filter) ||
	       (r->image && strcasestr(r->image, filter));
}

struct top_ranking {
	enum top_order order;
	size_t slot;
};

/* Equal rows keep their order from look to look. */
static int compare_names(const struct top_row *a, const struct top_row *b)
{
	int c = strcmp(a->name, b->name);

	return c ? c : strcmp(a->image ? a->image : "", b->image ? b->image : "");
}

static int compare(const void *va, const void *vb, void *ctx)
{
	const struct top_row *a = *(struct top_row *const *)va;
	const struct top_row *b = *(struct top_row *const *)vb;
	const struct top_ranking *by = ctx;
	double now = b->ns[by->slot] - a->ns[by->slot];

	if (by->order == TOP_BY_NOW && now != 0)
		return now > 0 ? 1 : -1;
	if (by->order != TOP_BY_NAME && a->sum != b->sum)
		return b->sum > a->sum ? 1 : -1;
	return compare_names(a, b);
}

struct top_row **top_rank(struct top *t, enum top_by by, enum top_order order,
			  const char *filter, size_t *nr)
{
	struct top_row **row = calloc(t->rows[by].nr + 1, sizeof(struct top_row *));
	struct top_ranking ranking = { order, top_slot(t, 0) };
	struct hnode *n, *next;
	size_t nr_rows = 0;

	if (!row)
		return NULL;
	hmap_for_each (&t->rows[by], n, next) {
		if (!matches(row_of(n), filter))
			continue;
		row_of(n)->sum = sum_of(row_of(n));
		row[nr_rows++] = row_of(n);
	}
	qsort_r(row, nr_rows, sizeof(struct top_row *), compare, &ranking);
	*nr = nr_rows;
	return row;
}
