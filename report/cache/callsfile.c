/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callsfile.c - one file of solved call graphs, for all images
 *
 *	{ key, number of factors }, factors …
 *
 * The file is written if a graph was made. Those that this process used, and those that
 * it or its workers made, come first. When the file is full, the last ones are left
 * out.
 */
#include "config.h"

#include "report/cache/callsfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/hmap.h"
#include "base/log.h"
#include "report/cache/cachefile.h"

#define NAME     "calls"
#define MAX_SIZE (16u << 20)

struct calls_head {
	struct calls_key key;
	uint64_t nr;
};

struct calls_entry {
	struct hnode node;
	struct calls_key key;
	const struct callgraph_kept *factor;
	size_t nr;
	struct calls_entry *next; /* in the order of the file */
	bool used;
	struct buf own; /* the factors, unless they are in the file */
};

struct callsfile {
	struct buf file;
	struct hmap map;
	struct calls_entry *first, **end;
	struct calls_entry *
		*marked; /* where entries begin that callsfile_mark() did not see */
	bool is_new;
};

static const struct cachefile the_file = {
	.name = NAME, .key = NAME, .key_size = sizeof(NAME), .max_size = MAX_SIZE
};

/* ---- the key ---- */

void calls_key_add(struct calls_key *k, const void *data, size_t size)
{
	hash_add(k->hash, data, size);
}

static void add_bytes(void *ctx, const void *data, size_t size)
{
	calls_key_add(ctx, data, size);
}

static void add_counts(struct calls_key *k, const struct profile *p)
{
	size_t nr = 0;
	/* Sorting changes only how the counts are kept. */
	const struct count *c = p ? profile_sorted((struct profile *)p, &nr) : NULL;

	calls_key_add(k, c, nr * sizeof(*c));
}

static void add_profile(struct calls_key *k, const struct profile *p)
{
	add_counts(k, p);
	for (int w = 0; w < NR_WEIGHTS; w++)
		add_counts(k, profile_weights(p, w));
}

static void add_edges(struct calls_key *k, struct edges *e)
{
	size_t nr = 0;
	const struct edge *edge = e ? edges_sorted(e, &nr) : NULL;

	calls_key_add(k, edge, nr * sizeof(*edge));
}

static void add_stream(struct calls_key *k, const struct explain_stream *s)
{
	const double each[] = { s->landing, s->period_cycles, s->unit };

	calls_key_add(k, each, sizeof(each));
	add_profile(k, s->profile);
}

void calls_key_add_input(struct calls_key *k, const struct explain_input *in)
{
	const char *cpu = isa_cpu(in->isa);

	calls_key_add(k, cpu, strlen(cpu));
	calls_key_add(k, &in->deferred, sizeof(in->deferred));
	for (int i = 0; i < in->nr_streams; i++)
		add_stream(k, &in->stream[i]);
	for (int i = 0; i < in->nr_retired; i++) {
		calls_key_add(k, &in->retired[i].period, sizeof(double));
		add_profile(k, in->retired[i].profile);
	}
	add_edges(k, in->branches);
	add_edges(k, in->runs);
	if (!in->windows)
		return;
	add_edges(k, in->windows->runs);
	add_edges(k, in->windows->branches);
	window_weights_bytes(in->windows->weights, in->windows->image, add_bytes, k);
}

/* ---- the file ---- */

static struct calls_entry *entry_of(struct hnode *n)
{
	return container_of(n, struct calls_entry, node);
}

static struct calls_entry *find_entry(const struct callsfile *f,
				      const struct calls_key *k)
{
	for (struct hnode *n = hmap_first(&f->map, k->hash[0]); n; n = hmap_next(n)) {
		if (!memcmp(&entry_of(n)->key, k, sizeof(*k)))
			return entry_of(n);
	}
	return NULL;
}

static struct calls_entry *add_entry(struct callsfile *f, const struct calls_key *k)
{
	struct calls_entry *e = calloc(1, sizeof(*e));

	if (!e || hmap_insert(&f->map, &e->node, k->hash[0])) {
		free(e);
		return NULL;
	}
	e->key = *k;
	*f->end = e;
	f->end = &e->next;
	return e;
}

/* The file's content is untrusted; it ends where it is not valid. */
static void list_entries(struct callsfile *f)
{
	const char *at = f->file.data, *end = at + f->file.len;
	struct calls_head h;

	while ((size_t)(end - at) >= sizeof(h)) {
		struct calls_entry *e;

		memcpy(&h, at, sizeof(h));
		at += sizeof(h);
		if (h.nr > (size_t)(end - at) / sizeof(struct callgraph_kept))
			return;
		e = find_entry(f, &h.key) ? NULL : add_entry(f, &h.key);
		if (!e)
			return;
		e->factor = (const struct callgraph_kept *)at;
		e->nr = h.nr;
		at += h.nr * sizeof(*e->factor);
	}
}

struct callsfile *callsfile_open(void)
{
	struct callsfile *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->end = f->marked = &f->first;
	if (!cachefile_load(&the_file, &f->file))
		list_entries(f);
	return f;
}

static void put_entry(const struct calls_entry *e, struct buf *out)
{
	const struct calls_head h = { e->key, e->nr };

	buf_put(out, &h, sizeof(h));
	buf_put(out, e->factor, e->nr * sizeof(*e->factor));
}

/* Appends the entries that were used in this run, or the others, while there is room.
 */
static void put_entries(const struct callsfile *f, bool used, struct buf *out)
{
	for (const struct calls_entry *e = f->first; e; e = e->next) {
		const size_t size =
			sizeof(struct calls_head) + e->nr * sizeof(*e->factor);

		if (e->used == used && out->len + size <= MAX_SIZE)
			put_entry(e, out);
	}
}

static void save(const struct callsfile *f)
{
	struct buf out = { 0 };
	int err;

	put_entries(f, true, &out);
	put_entries(f, false, &out);
	err = out.err ? out.err : cachefile_save(&the_file, out.data, out.len);
	if (err)
		log_debug("call graphs cannot be kept: %s", err_str(err));
	buf_fini(&out);
}

void callsfile_close(struct callsfile *f)
{
	struct calls_entry *e, *next;

	if (!f)
		return;
	if (f->is_new)
		save(f);
	for (e = f->first; e; e = next) {
		next = e->next;
		buf_fini(&e->own);
		free(e);
	}
	hmap_fini(&f->map);
	buf_fini(&f->file);
	free(f);
}

int callsfile_find(struct callsfile *f, const struct calls_key *k,
		   struct callgraph **out)
{
	struct calls_entry *e = find_entry(f, k);
	int err = e ? callgraph_get(e->factor, e->nr, out) : -ENOENT;

	if (!err)
		e->used = true;
	return err == -CPI_ECORRUPT ? -ENOENT : err;
}

bool callsfile_is_empty(const struct callsfile *f)
{
	return !f->first;
}

bool callsfile_has_new(const struct callsfile *f)
{
	return f->is_new;
}

void callsfile_mark(struct callsfile *f)
{
	f->marked = f->end;
}

int callsfile_put_new(const struct callsfile *f, struct buf *out)
{
	for (const struct calls_entry *e = *f->marked; e; e = e->next)
		put_entry(e, out);
	return out->err;
}

/* Adds a graph; the factors need not be aligned. */
static int add_graph(struct callsfile *f, const struct calls_head *h,
		     const uint8_t *data)
{
	const size_t size = h->nr * sizeof(struct callgraph_kept);
	struct callgraph_kept *kept = malloc(size + 1);
	struct callgraph *g;
	int err = kept ? 0 : -ENOMEM;

	if (!err) {
		memcpy(kept, data, size);
		err = callgraph_get(kept, h->nr, &g);
	}
	if (!err) {
		callsfile_keep(f, &h->key, g);
		callgraph_free(g);
	}
	free(kept);
	return err;
}

int callsfile_add(struct callsfile *f, const uint8_t *data, size_t size)
{
	struct calls_head h;
	int err = 0;

	for (size_t n; size >= sizeof(h) && !err; data += n, size -= n) {
		memcpy(&h, data, sizeof(h));
		data += sizeof(h);
		size -= sizeof(h);
		if (h.nr > size / sizeof(struct callgraph_kept))
			return -CPI_ECORRUPT;
		n = h.nr * sizeof(struct callgraph_kept);
		err = add_graph(f, &h, data);
	}
	return err ? err : size ? -CPI_ECORRUPT : 0;
}

void callsfile_keep(struct callsfile *f, const struct calls_key *k,
		    const struct callgraph *g)
{
	struct buf factors = { 0 };
	struct calls_entry *e = NULL;

	if (!find_entry(f, k) && !callgraph_put(g, &factors))
		e = add_entry(f, k);
	if (!e) {
		buf_fini(&factors);
		return;
	}
	e->used = true;
	e->own = factors;
	e->factor = (const struct callgraph_kept *)e->own.data;
	e->nr = e->own.len / sizeof(*e->factor);
	f->is_new = true;
}
