/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flush_merge.c - checks a flush, and adds it to an epoch
 *
 * Samples, stacks and windows are handled alike: the streams are checked, their tallies
 * are stored, and their rows are merged (flush_kind.h). Then symbols, code and
 * instructions of images are stored, and last the flush's own row, by which a second
 * merge of the same flush is noticed.
 */
#include "config.h"

#include "db/store/flush_merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/log.h"
#include "db/core/image_numbers.h"
#include "db/core/intern.h"
#include "db/core/sql.h"
#include "db/core/tallies.h"
#include "db/store/flush_kind.h"

/* The id of an image of the flush, in a map by the address of its description. */
struct merged_image {
	struct hnode node;
	const struct image_desc *desc;
	int64_t id;
};

static const struct flush_kind *const kinds[] = {
	&flush_samples,
	&flush_stacks,
	&flush_windows,
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void part_fini(struct flush_part *part)
{
	free(part->stored);
	free(part->id);
	free(part->map);
}

/* Begins a part of a flush. Call part_fini() in any case. */
static int part_init(const struct flush_kind *kind, const struct flush *f,
		     struct flush_part *part)
{
	part->stored = calloc(part->streams.nr + 1, sizeof(*part->stored));
	part->id = calloc(part->streams.nr + 1, sizeof(*part->id));
	part->map = calloc(part->nr_images + 1, sizeof(*part->map));
	if (!part->stored || !part->id || !part->map)
		return -ENOMEM;
	return kind->add_up(f, part);
}

static int check_kind(const struct flush_kind *kind, const struct flush *f,
		      const char *path)
{
	struct flush_part part = { 0 };
	int err;

	if (!kind->describe(f, &part))
		return 0;
	err = part_init(kind, f, &part);
	if (err == -EINVAL)
		log_err("db: %s: flush %" PRIu64 " names a stream that is not in it",
			path, f->seq);
	if (!err)
		err = tallies_check(&part.streams, kind->tally, part.stored, f->seq,
				    path);
	part_fini(&part);
	return err;
}

int flush_check(const struct flush *f, const char *path)
{
	int err = 0;

	for (size_t i = 0; !err && i < NR_KINDS; i++)
		err = check_kind(kinds[i], f, path);
	return err;
}

int merge_image_id(struct merge *m, const struct image_desc *desc, int64_t *id)
{
	const uint64_t hash = hash_u64((uintptr_t)desc);
	struct merged_image *known;
	struct hnode *n;
	int err;

	for (n = hmap_first(&m->images, hash); n; n = hmap_next(n)) {
		known = container_of(n, struct merged_image, node);
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

static int merge_kind(struct merge *m, const struct flush_kind *kind)
{
	struct flush_part part = { 0 };
	int err;

	if (!kind->describe(m->f, &part))
		return 0;
	err = part_init(kind, m->f, &part);
	if (!err)
		err = tallies_add(m->h, kind->tally, m->epoch, &part.streams,
				  part.stored, part.id);
	if (!err)
		err = image_numbers_give(m->h, m->epoch, part.images, part.nr_images,
					 m->image_search, part.map);
	if (!err)
		err = kind->merge(m, &part);
	part_fini(&part);
	return err;
}

static int merge_kinds(struct merge *m)
{
	int err = 0;

	for (size_t i = 0; !err && i < NR_KINDS; i++)
		err = merge_kind(m, kinds[i]);
	return err;
}

/*
 * Stores symbols. Rows that are already there are not written, so that their pages stay
 * clean.
 */
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

		err = merge_image_id(m, s->image, &image);
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
	sqlite3_stmt *st = NULL;
	int err = sql_prepare(m->h, add, &st);

	for (size_t i = 0; !err && i < m->f->nr_codes; i++) {
		const struct flush_code *c = &m->f->codes[i];
		int64_t image;

		err = merge_image_id(m, c->image, &image);
		if (!err)
			err = sql_bind(st, "iib", image, c->start, c->bytes, c->size);
		if (!err)
			err = sql_run(st);
	}
	sqlite3_finalize(st);
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

		err = merge_image_id(m, in->image, &image);
		if (!err)
			err = sql_bind(st, "iis", image, in->start, in->text);
		if (!err)
			err = sql_run(st);
	}
	sqlite3_finalize(st);
	return err;
}

static int put_interval(struct merge *m)
{
	const struct flush *f = m->f;
	const uint64_t to_ns = f->to_ns < f->from_ns ? f->from_ns : f->to_ns;
	uint64_t received = 0;
	int err;

	for (size_t i = 0; i < f->nr_streams; i++)
		received += f->streams[i].received;
	err = sql_do(m->h,
		     "INSERT INTO flush (run, seq, epoch, from_ns, to_ns, duration_ns,"
		     " received, stored, lost)"
		     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
		     "iiiiiiiii", m->run, f->seq, m->epoch, f->from_ns, to_ns,
		     f->duration_ns, received, m->nr_stored, received - m->nr_stored);
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
		free(container_of(n, struct merged_image, node));
	}
	hmap_fini(&m->images);
	for (size_t i = 0; i < NR_SET_KINDS; i++)
		set_adder_fini(&m->adder[i]);
	sqlite3_finalize(m->image_search);
}

int flush_merge(sqlite3 *h, int64_t run, int64_t epoch, const struct flush *f)
{
	static int (*const steps[])(struct merge *) = {
		merge_kinds,        merge_symbols, merge_codes,
		merge_instructions, put_interval,
	};
	struct merge m = { .h = h, .run = run, .epoch = epoch, .f = f };
	int err = intern_image_search(h, &m.image_search);

	for (size_t i = 0; !err && i < sizeof(steps) / sizeof(steps[0]); i++)
		err = steps[i](&m);
	merge_fini(&m);
	return err;
}
