/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "db/flush.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/hmap.h"
#include "base/log.h"
#include "db/codec.h"
#include "db/edge_rows.h"
#include "db/intern.h"
#include "db/sql.h"
#include "db/stacks_store.h"
#include "db/tallies.h"
#include "db/window_rows.h"

/* An image of the flush whose id is known, by the address of its description. */
struct known_image {
	struct hnode node;
	const struct image_desc *desc;
	int64_t id;
};

struct merge {
	sqlite3 *h;
	int64_t run, epoch;
	const struct flush *f;
	uint64_t *stored;    /* by stream */
	int64_t *stream_ids; /* by stream */
	struct hmap images;
	sqlite3_stmt *image_search;
};

static struct flush_streams streams_of(const struct flush *f)
{
	return (struct flush_streams){ f->streams, f->nr_streams, f->losses,
				       f->nr_losses };
}

/* What each stream of f stores; -EINVAL where something is of none. */
static int add_up(const struct flush *f, uint64_t *stored)
{
	const struct flush_streams streams = streams_of(f);
	bool right = true;

	for (size_t i = 0; i < f->nr_profiles; i++) {
		const struct flush_profile *p = &f->profiles[i];

		if (!tallies_have(&streams, p->stream))
			return -EINVAL;
		if (!*p->context)
			stored[p->stream] += profile_total(p->profile);
	}
	for (size_t i = 0; i < f->nr_comms; i++)
		right &= tallies_have(&streams, f->comms[i].stream);
	for (size_t i = 0; i < f->nr_edges; i++)
		right &= tallies_have(&streams, f->edges[i].stream);
	return right ? 0 : -EINVAL;
}

static int add_up_kind(const struct flush *f, enum tallies what, uint64_t *stored)
{
	switch (what) {
	case TALLIES_STACKS:
		return stacks_add_up(f->stacks, stored);
	case TALLIES_WINDOWS:
		return window_rows_add_up(f->windows, stored);
	default:
		return add_up(f, stored);
	}
}

static int check(const struct flush *f, enum tallies what,
		 const struct flush_streams *streams, const char *path)
{
	uint64_t *stored = calloc(streams->nr + 1, sizeof(*stored));
	int err = stored ? add_up_kind(f, what, stored) : -ENOMEM;

	if (err == -EINVAL)
		log_err("db: %s: flush %" PRIu64 " names a stream that it has not",
			path, f->seq);
	if (!err)
		err = tallies_check(streams, what, stored, f->seq, path);
	free(stored);
	return err;
}

int flush_check(const struct flush *f, const char *path)
{
	const struct flush_streams samples = streams_of(f);
	int err = check(f, TALLIES_SAMPLES, &samples, path);

	if (!err && f->stacks)
		err = check(f, TALLIES_STACKS, &f->stacks->streams, path);
	if (!err && f->windows)
		err = check(f, TALLIES_WINDOWS, &f->windows->streams, path);
	if (!err && f->anchors)
		err = anchors_check_flush(f->anchors, f->seq, path);
	return err;
}

static int image_id(struct merge *m, const struct image_desc *desc, int64_t *id)
{
	const uint64_t hash = hash_u64((uintptr_t)desc);
	struct known_image *known;
	struct hnode *n;
	int err;

	for (n = hmap_first(&m->images, hash); n; n = hmap_next(n)) {
		known = container_of(n, struct known_image, node);
		if (known->desc == desc) {
			*id = known->id;
			return 0;
		}
	}
	known = calloc(1, sizeof(*known));
	if (!known)
		return -ENOMEM;
	known->desc = desc;
	err = intern_image(m->image_search, desc, &known->id);
	if (!err)
		err = hmap_insert(&m->images, &known->node, hash);
	if (err)
		free(known);
	else
		*id = known->id;
	return err;
}

/* Adds what the epoch has of a profile to *sum, which is made when there is any. */
static int read_stored(struct merge *m, sqlite3_stmt *st, const char *image,
		       struct profile **sum)
{
	int err;

	while ((err = sql_step(st)) == 1) {
		enum profile_kind kind = sqlite3_column_int(st, 0);
		size_t size;
		const void *blob = sql_blob(st, 1, &size);

		if (!*sum)
			*sum = profile_new();
		if (!*sum)
			return -ENOMEM;
		err = codec_decode(blob, size, kind, *sum);
		if (err) {
			log_err("db: %s: profile of %s in epoch %" PRId64
				": %s: begin a new epoch to go on",
				sqlite3_db_filename(m->h, "main"), image, m->epoch,
				err_str(err));
			return err;
		}
	}
	return err;
}

static int write_kind(struct merge *m, sqlite3_stmt *st, struct profile *p,
		      enum profile_kind kind, const int64_t key[3], struct buf *blob)
{
	uint64_t total;
	int err = codec_total(p, kind, &total);

	buf_reset(blob);
	if (!err)
		err = codec_encode(p, kind, blob);
	if (!err && blob->len)
		err = sql_bind(st, "iiiiiib", m->epoch, key[0], key[1], key[2],
			       (int64_t)kind, total, (const void *)blob->data,
			       blob->len);
	if (!err && blob->len)
		err = sql_run(st);
	return err;
}

/* A profile of the flush, and its key in the epoch. */
struct keyed_profile {
	int64_t key[3]; /* image, stream, context */
	const struct flush_profile *profile;
};

static int compare_keys(const void *a, const void *b)
{
	const struct keyed_profile *x = a, *y = b;

	for (int i = 0; i < 3; i++) {
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	}
	return 0;
}

static int find_key(struct merge *m, const struct flush_profile *fp,
		    struct keyed_profile *out)
{
	int err;

	*out = (struct keyed_profile){ { 0, m->stream_ids[fp->stream], 0 }, fp };
	err = image_id(m, fp->image, &out->key[0]);
	if (!err && *fp->context) /* "" is context 0 */
		err = intern_context(m->h, fp->context, &out->key[2]);
	return err;
}

static int merge_profile(struct merge *m, const struct keyed_profile *keyed,
			 sqlite3_stmt *get, sqlite3_stmt *put, struct buf *blob)
{
	const struct flush_profile *fp = keyed->profile;
	struct profile *sum = NULL;
	int err = sql_bind(get, "iiii", m->epoch, keyed->key[0], keyed->key[1],
			   keyed->key[2]);

	if (!err)
		err = read_stored(m, get, fp->image->name, &sum);
	sqlite3_reset(get);
	if (!err && sum)
		err = profile_merge(sum, fp->profile);
	for (int kind = 0; !err && kind < PROFILE_NR_KINDS; kind++)
		err = write_kind(m, put, sum ? sum : fp->profile, kind, keyed->key,
				 blob);
	profile_free(sum);
	return err;
}

/* In the order of their keys, so that they fill the pages behind the epoch before. */
static int merge_profiles(struct merge *m)
{
	static const char find[] =
		"SELECT kind, counts FROM profile"
		" WHERE epoch = ?1 AND image = ?2 AND stream = ?3 AND context = ?4";
	static const char add[] =
		"INSERT INTO profile (epoch, image, stream, context, kind, total, "
		"counts)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE"
		" SET total = excluded.total, counts = excluded.counts";
	const size_t nr = m->f->nr_profiles;
	struct keyed_profile *keyed = calloc(nr + 1, sizeof(*keyed));
	sqlite3_stmt *get = NULL, *put = NULL;
	struct buf blob = { 0 };
	int err = keyed ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < nr; i++)
		err = find_key(m, &m->f->profiles[i], &keyed[i]);
	if (!err)
		err = sql_prepare(m->h, find, &get);
	if (!err)
		err = sql_prepare(m->h, add, &put);
	if (!err)
		qsort(keyed, nr, sizeof(*keyed), compare_keys);
	for (size_t i = 0; !err && i < nr; i++)
		err = merge_profile(m, &keyed[i], get, put, &blob);
	sqlite3_finalize(get);
	sqlite3_finalize(put);
	buf_fini(&blob);
	free(keyed);
	return err;
}

static int merge_streams(struct merge *m)
{
	const struct flush_streams streams = streams_of(m->f);

	return tallies_add(m->h, TALLIES_SAMPLES, m->epoch, &streams, m->stored,
			   m->stream_ids);
}

static int merge_edges(struct merge *m)
{
	int err = 0;

	for (size_t i = 0; !err && i < m->f->nr_edges; i++) {
		const struct flush_edges *e = &m->f->edges[i];
		struct edge_key key = { .epoch = m->epoch,
					.stream = m->stream_ids[e->stream],
					.kind = e->kind };

		if (e->image)
			err = image_id(m, e->image, &key.image);
		if (!err && e->target)
			err = image_id(m, e->target, &key.target);
		if (!err)
			err = edge_rows_add(m->h, &key, e->edges);
	}
	return err;
}

static int merge_comms(struct merge *m)
{
	static const char add[] = "INSERT INTO comm (epoch, comm, image, stream, n)"
				  " VALUES (?1, ?2, ?3, ?4, ?5)"
				  " ON CONFLICT DO UPDATE SET n = n + excluded.n";
	sqlite3_stmt *st = NULL;
	int err = sql_prepare(m->h, add, &st);

	for (size_t i = 0; !err && i < m->f->nr_comms; i++) {
		const struct flush_comm *c = &m->f->comms[i];
		int64_t image = 0;

		if (c->image)
			err = image_id(m, c->image, &image);
		if (!err)
			err = sql_bind(st, "isiii", m->epoch, c->comm, image,
				       m->stream_ids[c->stream], c->n);
		if (!err)
			err = sql_run(st);
	}
	sqlite3_finalize(st);
	return err;
}

/* What is there already is left alone: its page stays clean. */
static int merge_symbols(struct merge *m)
{
	static const char add[] =
		"INSERT INTO symbol (image, start, size, name) VALUES (?1, ?2, ?3, ?4)"
		" ON CONFLICT DO UPDATE SET size = excluded.size, name = excluded.name"
		" WHERE size != excluded.size OR name != excluded.name";
	sqlite3_stmt *st = NULL;
	int err = sql_prepare(m->h, add, &st);

	for (size_t i = 0; !err && i < m->f->nr_symbols; i++) {
		const struct flush_symbol *s = &m->f->symbols[i];
		int64_t image;

		err = image_id(m, s->image, &image);
		if (!err)
			err = sql_bind(st, "iiis", image, s->start, s->size, s->name);
		if (!err)
			err = sql_run(st);
	}
	sqlite3_finalize(st);
	return err;
}

static int merge_codes(struct merge *m)
{
	static const char add[] =
		"INSERT INTO code (image, start, bytes) VALUES (?1, ?2, ?3)"
		" ON CONFLICT DO UPDATE SET bytes = excluded.bytes"
		" WHERE bytes != excluded.bytes";
	int err = 0;

	for (size_t i = 0; !err && i < m->f->nr_codes; i++) {
		const struct flush_code *c = &m->f->codes[i];
		int64_t image;

		err = image_id(m, c->image, &image);
		if (!err)
			err = sql_do(m->h, add, "iib", image, c->start, c->bytes,
				     c->size);
	}
	return err;
}

static int merge_instructions(struct merge *m)
{
	static const char add[] =
		"INSERT INTO instruction (image, start, text) VALUES (?1, ?2, ?3)"
		" ON CONFLICT DO UPDATE SET text = excluded.text"
		" WHERE text != excluded.text";
	sqlite3_stmt *st = NULL;
	int err = sql_prepare(m->h, add, &st);

	for (size_t i = 0; !err && i < m->f->nr_instructions; i++) {
		const struct flush_instruction *in = &m->f->instructions[i];
		int64_t image;

		err = image_id(m, in->image, &image);
		if (!err)
			err = sql_bind(st, "iis", image, in->start, in->text);
		if (!err)
			err = sql_run(st);
	}
	sqlite3_finalize(st);
	return err;
}

static int merge_stacks(struct merge *m)
{
	return m->f->stacks
		       ? stacks_merge(m->h, m->epoch, m->f->stacks, m->image_search)
		       : 0;
}

static int merge_windows(struct merge *m)
{
	return m->f->windows ? window_rows_merge(m->h, m->epoch, m->f->windows,
						 m->image_search)
			     : 0;
}

static int merge_anchors(struct merge *m)
{
	return m->f->anchors
		       ? anchors_merge(m->h, m->epoch, m->f->anchors, m->image_search)
		       : 0;
}

static int put_interval(struct merge *m)
{
	const struct flush *f = m->f;
	const uint64_t to_ns = f->to_ns < f->from_ns ? f->from_ns : f->to_ns;
	uint64_t received = 0, stored = 0;
	int err;

	for (size_t i = 0; i < f->nr_streams; i++) {
		received += f->streams[i].received;
		stored += m->stored[i];
	}
	err = sql_do(m->h,
		     "INSERT INTO flush (run, seq, epoch, from_ns, to_ns, duration_ns,"
		     " received, stored, lost)"
		     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
		     "iiiiiiiii", m->run, f->seq, m->epoch, f->from_ns, to_ns,
		     f->duration_ns, received, stored, received - stored);
	if (!err)
		err = sql_do(m->h,
			     "UPDATE run SET to_ns = max(to_ns, ?2) WHERE id = ?1",
			     "ii", m->run, to_ns);
	if (!err)
		err = sql_do(m->h,
			     "UPDATE epoch SET to_ns = max(to_ns, ?2) WHERE id = ?1",
			     "ii", m->epoch, to_ns);
	return err;
}

static void merge_fini(struct merge *m)
{
	struct hnode *n, *next;

	hmap_for_each (&m->images, n, next) {
		hmap_remove(&m->images, n);
		free(container_of(n, struct known_image, node));
	}
	hmap_fini(&m->images);
	sqlite3_finalize(m->image_search);
	free(m->stored);
	free(m->stream_ids);
}

int flush_merge(sqlite3 *h, int64_t run, int64_t epoch, const struct flush *f)
{
	static int (*const parts[])(struct merge *) = {
		merge_streams, merge_profiles, merge_comms,        merge_edges,
		merge_symbols, merge_codes,    merge_instructions, merge_stacks,
		merge_windows, merge_anchors,  put_interval,
	};
	struct merge m = { .h = h, .run = run, .epoch = epoch, .f = f };
	int err = 0;

	m.stored = calloc(f->nr_streams + 1, sizeof(*m.stored));
	m.stream_ids = calloc(f->nr_streams + 1, sizeof(*m.stream_ids));
	if (!m.stored || !m.stream_ids)
		err = -ENOMEM;
	if (!err)
		err = intern_image_search(h, &m.image_search);
	if (!err)
		err = add_up(f, m.stored);
	for (size_t i = 0; !err && i < sizeof(parts) / sizeof(parts[0]); i++)
		err = parts[i](&m);
	merge_fini(&m);
	return err;
}
