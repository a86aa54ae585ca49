/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flush_samples.c - the samples of a flush: profiles, totals by command, and edges
 *
 * Profiles are written in the order of the table's primary key. The key begins with the
 * epoch, so the rows of a new epoch come after all others, and SQLite fills one page
 * after the other. A profile has one row for each kind of numbers that it has (enum
 * profile_kind: counts, outcomes, weights, histograms). These rows are read together,
 * merged, and written one by one, with statements that are prepared once.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "db/core/intern.h"
#include "db/core/sql.h"
#include "db/core/tallies.h"
#include "db/profile/codec.h"
#include "db/profile/stream_account.h"
#include "db/store/flush_kind.h"

static bool describe_samples(const struct flush *f, struct flush_part *part)
{
	part->streams = (struct flush_streams){ f->streams, f->nr_streams, f->losses,
						f->nr_losses };
	return true;
}

static int add_up_samples(const struct flush *f, const struct flush_part *part)
{
	const struct flush_streams *streams = &part->streams;
	bool right = true;

	for (size_t i = 0; i < f->nr_profiles; i++) {
		const struct flush_profile *p = &f->profiles[i];

		if (!tallies_have(streams, p->stream) || (!p->image && !*p->context))
			return -EINVAL;
		if (!*p->context)
			account_add(&part->stored[p->stream],
				    profile_total(p->profile));
	}
	for (size_t i = 0; i < f->nr_comms; i++)
		right &= tallies_have(streams, f->comms[i].stream);
	for (size_t i = 0; i < f->nr_edges; i++)
		right &= tallies_have(streams, f->edges[i].stream);
	return right ? 0 : -EINVAL;
}

/*
 * Adds the epoch's stored counts of a profile to *sum; creates *sum if there are any.
 */
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
		if (err_is_lasting(err))
			log_err("db: %s: profile of %s in epoch %" PRId64
				": %s: begin a new epoch to go on",
				sqlite3_db_filename(m->h, "main"), image, m->epoch,
				err_str(err));
		if (err)
			return err;
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

/* A profile of the flush, with its key in the epoch. */
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

static int find_key(struct merge *m, const struct flush_part *part,
		    const struct flush_profile *fp, struct keyed_profile *out)
{
	int err = 0;

	*out = (struct keyed_profile){ { 0, part->id[fp->stream], 0 }, fp };
	if (fp->image)
		err = merge_image_id(m, fp->image, &out->key[0]);
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
		err = read_stored(m, get, fp->image ? fp->image->name : "[unknown]",
				  &sum);
	sqlite3_reset(get);
	if (!err && sum)
		err = profile_merge(sum, fp->profile);
	for (int kind = 0; !err && kind < PROFILE_NR_KINDS; kind++)
		err = write_kind(m, put, sum ? sum : fp->profile, kind, keyed->key,
				 blob);
	profile_free(sum);
	return err;
}

static int merge_profiles(struct merge *m, const struct flush_part *part)
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
		err = find_key(m, part, &m->f->profiles[i], &keyed[i]);
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

static int merge_comms(struct merge *m, const struct flush_part *part)
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
			err = merge_image_id(m, c->image, &image);
		if (!err)
			err = sql_bind(st, "isiii", m->epoch, c->comm, image,
				       part->id[c->stream], c->n);
		if (!err)
			err = sql_run(st);
	}
	sqlite3_finalize(st);
	return err;
}

static int merge_samples(struct merge *m, const struct flush_part *part)
{
	int err = merge_profiles(m, part);

	for (size_t i = 0; i < part->streams.nr; i++)
		m->nr_stored += part->stored[i];
	if (!err)
		err = merge_comms(m, part);
	return err ? err : merge_edges(m, part, m->f->edges, m->f->nr_edges);
}

const struct flush_kind flush_samples = {
	.tally = TALLY_SAMPLES,
	.describe = describe_samples,
	.add_up = add_up_samples,
	.merge = merge_samples,
};
