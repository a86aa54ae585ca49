/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_rows.c - finds, makes, sums and orders the rows of a profile
 *
 * A row has an array of sums by event at the end of its struct. All orders compare the
 * names last, so the order of rows is the same in each run.
 */
#include "config.h"

#include "report/profile/prof_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "report/select/cgroupname.h"
#include "report/select/facts.h"
#include "report/select/optional_text.h"

static uint64_t key_hash(const struct row_key *k)
{
	uint64_t h = hash_u64(k->kind + 8 * (uint64_t)k->line);

	h = hash_u64(h ^ (k->image ? (uint64_t)k->image->id : 0));
	h = hash_u64(h ^ k->start);
	h = optional_text_hash(optional_text_hash(h, k->procedure), k->inlined);
	return optional_text_hash(optional_text_hash(h, k->context), k->file);
}

static bool same_key(const struct prof_row *r, const struct row_key *k)
{
	return r->kind == k->kind && r->image == (k->image ? k->image->id : 0) &&
	       r->start == k->start && r->line == k->line &&
	       optional_text_same(r->procedure, k->procedure) &&
	       optional_text_same(r->inlined, k->inlined) &&
	       optional_text_same(r->context, k->context) &&
	       optional_text_same(r->file, k->file);
}

static void row_free(struct prof_row *r)
{
	if (!r)
		return;
	free(r->over_time);
	free(r->image_name);
	free(r->build_id);
	free(r->procedure);
	free(r->inlined);
	free(r->context);
	free(r->container);
	free(r->file);
	free(r);
}

static struct prof_row *row_new(const struct prof *p, const struct row_key *k)
{
	struct prof_row *r =
		calloc(1, sizeof(*r) + (p->ev.nr + 1) * sizeof(r->tally[0]));
	char build_id[REPORT_BUILD_ID_SIZE] = "";

	if (!r)
		return NULL;
	r->kind = k->kind;
	r->start = k->start;
	r->line = k->line;
	if (k->image) {
		r->image = k->image->id;
		report_build_id(&k->image->desc, build_id);
	}
	if (optional_text_copy(k->image ? k->image->desc.name : NULL, &r->image_name) ||
	    optional_text_copy(*build_id ? build_id : NULL, &r->build_id) ||
	    optional_text_copy(k->procedure, &r->procedure) ||
	    optional_text_copy(k->inlined, &r->inlined) ||
	    optional_text_copy(k->context, &r->context) ||
	    optional_text_copy(k->file, &r->file) ||
	    cgroupname_copy(k->container, &r->container)) {
		row_free(r);
		return NULL;
	}
	return r;
}

static struct prof_row *row_of(struct hnode *n)
{
	return container_of(n, struct prof_row, node);
}

static struct prof_row *find_row(const struct prof *p, const struct row_key *key,
				 uint64_t hash)
{
	for (struct hnode *n = hmap_first(&p->map, hash); n; n = hmap_next(n)) {
		if (same_key(row_of(n), key))
			return row_of(n);
	}
	return NULL;
}

int prof_row(struct prof *p, const struct row_key *key, struct prof_row **out)
{
	const uint64_t hash = key_hash(key);
	struct prof_row *r = find_row(p, key, hash);

	if (r) {
		*out = r;
		return 0;
	}
	r = row_new(p, key);
	if (!r)
		return -ENOMEM;
	if (hmap_insert(&p->map, &r->node, hash)) {
		row_free(r);
		return -ENOMEM;
	}
	*out = r;
	return 0;
}

/* A JIT compiler may compile a procedure several times; all copies share a row. */
uint64_t prof_row_start(const struct query_image *image, const struct symbol *symbol)
{
	if (!symbol)
		return NO_SYMBOL;
	return image->desc.kind == IMAGE_JIT ? 0 : symbol->start;
}

const struct prof_row *prof_procedure_row(const struct prof *p,
					  const struct query_image *image,
					  const struct symbol *symbol)
{
	const struct row_key key = { .image = image,
				     .start = prof_row_start(image, symbol),
				     .procedure =
					     symbol ? symbol->name : NO_SYMBOL_NAME };

	return find_row(p, &key, key_hash(&key));
}

struct prof_row *prof_same_row(const struct prof *p, const struct prof_row *row)
{
	const struct query_image image = { .id = row->image };
	const struct row_key key = { .kind = row->kind,
				     .image = row->image ? &image : NULL,
				     .start = row->start,
				     .procedure = row->procedure,
				     .inlined = row->inlined,
				     .context = row->context,
				     .file = row->file,
				     .line = row->line };

	return find_row(p, &key, key_hash(&key));
}

static void tally_add(struct event_sum *t, uint64_t n, double amount)
{
	t->n += n;
	t->weight += amount;
}

void prof_add(struct prof *p, struct prof_row *row, size_t event, uint64_t n,
	      double amount)
{
	tally_add(&row->tally[event], n, amount);
	tally_add(row->kind == ROW_IDLE ? &p->idle[event] : &p->busy[event], n, amount);
}

int prof_add_amount(struct prof *p, const struct row_key *key, size_t event, uint64_t n,
		    double amount)
{
	struct prof_row *row;
	int err;

	if (!n && !(amount > 0))
		return 0;
	err = prof_row(p, key, &row);
	if (err)
		return err;
	prof_add(p, row, event, n, amount);
	if (key->kernel && !event)
		row->kernel_ns += amount;
	else if (key->kernel && p->evidence.both && event == p->evidence.ticks)
		row->kernel_ticks_ns += amount;
	return 0;
}

/* Does the same for n samples of equal weight. */
int prof_add_to(struct prof *p, const struct row_key *key, size_t event, uint64_t n,
		double weight)
{
	return prof_add_amount(p, key, event, n, (double)n * weight);
}

int prof_add_idle(struct prof *p, size_t event, uint64_t n, double weight)
{
	const struct row_key key = { .kind = ROW_IDLE };

	return prof_add_to(p, &key, event, n,
			   time_source_counts(&p->source, event) ? weight : 0);
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* Orders rows that are otherwise equal, so that the order is the same in each run. */
static int compare_names(const struct prof_row *a, const struct prof_row *b)
{
	int c = compare_text(a->procedure, b->procedure);

	if (!c)
		c = compare_text(a->inlined, b->inlined);
	if (!c)
		c = compare_text(a->context, b->context);
	if (!c)
		c = compare_text(a->image_name, b->image_name);
	if (!c)
		c = compare_text(a->file, b->file);
	if (!c)
		c = (a->line > b->line) - (a->line < b->line);
	if (!c)
		c = compare_text(a->build_id, b->build_id);
	if (!c)
		c = (a->image > b->image) - (a->image < b->image);
	return c ? c : (a->start > b->start) - (a->start < b->start);
}

static int by_weight(const void *va, const void *vb, void *ctx)
{
	const struct prof_row *a = *(struct prof_row *const *)va;
	const struct prof_row *b = *(struct prof_row *const *)vb;
	const struct prof *p = ctx;
	double wa = a->tally[p->primary].weight, wb = b->tally[p->primary].weight;

	if (wa != wb)
		return wa < wb ? 1 : -1;
	/* Rows without samples of the primary event are ordered by the other events. */
	for (size_t i = 0; i < p->ev.nr; i++) {
		if (a->tally[i].weight != b->tally[i].weight)
			return a->tally[i].weight < b->tally[i].weight ? 1 : -1;
	}
	return compare_names(a, b);
}

static int by_samples(const void *va, const void *vb, void *ctx)
{
	const struct prof_row *a = *(struct prof_row *const *)va;
	const struct prof_row *b = *(struct prof_row *const *)vb;
	const struct prof *p = ctx;
	uint64_t na = a->tally[p->primary].n, nb = b->tally[p->primary].n;

	return na != nb ? (na < nb) - (na > nb) : by_weight(va, vb, ctx);
}

static int by_procedure(const void *va, const void *vb, void *ctx)
{
	return compare_names(*(struct prof_row *const *)va,
			     *(struct prof_row *const *)vb);
}

static int by_image(const void *va, const void *vb, void *ctx)
{
	const struct prof_row *a = *(struct prof_row *const *)va;
	const struct prof_row *b = *(struct prof_row *const *)vb;
	int c = compare_text(a->image_name, b->image_name);

	return c ? c : by_weight(va, vb, ctx);
}

int prof_sort(struct prof *p)
{
	const char *key = p->req->sort;
	int (*compare)(const void *, const void *, void *) = by_weight;
	struct hnode *n, *next;
	int err = 0;

	if (key && !strcmp(key, "samples"))
		compare = by_samples;
	else if (key && !strcmp(key, "procedure"))
		compare = by_procedure;
	else if (key && !strcmp(key, "image"))
		compare = by_image;
	p->row = calloc(p->map.nr + 1, sizeof(*p->row));
	if (!p->row)
		return -ENOMEM;
	hmap_for_each (&p->map, n, next)
		p->row[p->nr_rows++] = row_of(n);
	if (prof_is_one_time(p))
		err = prof_take_evidence(p);
	if (!err)
		qsort_r(p->row, p->nr_rows, sizeof(*p->row), compare, p);
	return err;
}

void prof_free_rows(struct prof *p)
{
	struct hnode *n, *next;

	hmap_for_each (&p->map, n, next)
		row_free(row_of(n));
	hmap_fini(&p->map);
	free(p->row);
}
