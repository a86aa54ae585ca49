/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codec.c - delta-coded columns, compressed if that is shorter
 *
 * Offsets and values are in separate columns, because zstd compresses runs of similar
 * numbers better than pairs. Decoding reads a body twice: the first pass only checks
 * it, so that nothing of a damaged blob reaches the profile.
 */
#include "config.h"

#include "db/profile/codec.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "base/varint.h"
#include "db/profile/codec_records.h"
#include "db/profile/pack.h"
#include "db/profile/records.h"

#define MAX_COLUMNS 2
#define MAX_VARINT  10

/*
 * The longest body: 64-bit deltas and values that sum up to 64 bits have 40
 * bits on average when there are 2^24 of them, 6 bytes each.
 */
#define MAX_BODY (MAX_VARINT + (1 + MAX_COLUMNS) * 6ULL * CODEC_MAX_OFFSETS)

static int nr_columns(enum profile_kind kind)
{
	return kind == PROFILE_OUTCOME ? 2 : 1;
}

/* The value of a column in c: where it is read from, and where it is put. */
static uint64_t *column(struct count *c, enum profile_kind kind, int i)
{
	if (kind == PROFILE_COUNT)
		return &c->n;
	return i == 0 ? &c->not_taken : &c->taken;
}

static bool has_columns(enum profile_kind kind)
{
	return kind == PROFILE_COUNT || kind == PROFILE_OUTCOME;
}

static bool has_value(const struct count *c, enum profile_kind kind)
{
	return kind == PROFILE_COUNT ? c->n : c->taken || c->not_taken;
}

static void put_body(const struct count *c, size_t nr, enum profile_kind kind,
		     size_t nr_used, struct buf *body)
{
	uint64_t before = 0;

	varint_put(body, nr_used);
	for (size_t i = 0; i < nr; i++) {
		if (!has_value(&c[i], kind))
			continue;
		varint_put(body, c[i].offset - before);
		before = c[i].offset;
	}
	for (int col = 0; col < nr_columns(kind); col++) {
		for (size_t i = 0; i < nr; i++) {
			struct count one = c[i];

			if (has_value(&one, kind))
				varint_put(body, *column(&one, kind, col));
		}
	}
}

/* Nothing without values. */
static int put_counts(struct profile *p, enum profile_kind kind, struct buf *body)
{
	size_t nr, nr_used = 0;
	const struct count *c = profile_sorted(p, &nr);

	for (size_t i = 0; i < nr; i++)
		nr_used += has_value(&c[i], kind);
	if (nr_used > CODEC_MAX_OFFSETS)
		return -CPI_ELIMIT;
	if (nr_used)
		put_body(c, nr, kind, nr_used, body);
	return 0;
}

/* CODEC_MAX_OFFSETS is the bound of all together. */
static int put_weights(const struct profile *p, struct buf *body)
{
	uint64_t nr = 0;
	int err = 0;

	for (int w = 0; w < NR_WEIGHTS && !err; w++) {
		struct profile *weights = profile_weights(p, w);

		nr += weights ? profile_nr(weights) : 0;
		if (nr > CODEC_MAX_OFFSETS)
			err = -CPI_ELIMIT;
		else if (weights && profile_nr(weights))
			err = put_counts(weights, PROFILE_COUNT, body);
		else
			varint_put(body, 0);
	}
	return err;
}

int codec_encode(struct profile *p, enum profile_kind kind, struct buf *out)
{
	struct buf body = { 0 };
	int err = 0;

	if (kind == PROFILE_HISTOGRAM)
		return codec_encode_records(profile_records(p), out);
	if (has_columns(kind))
		err = put_counts(p, kind, &body);
	else if (kind == PROFILE_WEIGHTED && profile_is_weighted(p))
		err = put_weights(p, &body);
	if (!err && (body.len || body.err))
		err = pack_put(&body, out);
	buf_fini(&body);
	return err;
}

static int total_weight(const struct profile *p, uint64_t *total)
{
	uint64_t sum = 0;

	for (int w = 0; w < NR_WEIGHTS; w++) {
		const struct profile *weights = profile_weights(p, w);

		if (weights &&
		    (__builtin_add_overflow(sum, profile_total(weights), &sum) ||
		     sum > INT64_MAX))
			return -EOVERFLOW;
	}
	*total = sum;
	return 0;
}

int codec_total(struct profile *p, enum profile_kind kind, uint64_t *total)
{
	size_t nr;
	const struct count *c = profile_sorted(p, &nr);
	uint64_t sum = 0;

	if (kind == PROFILE_HISTOGRAM) {
		*total = profile_records(p) ? records_total(profile_records(p)) : 0;
		return 0;
	}
	if (kind == PROFILE_WEIGHTED)
		return total_weight(p, total);
	for (size_t i = 0; i < nr; i++) {
		struct count one = c[i];

		for (int col = 0; col < nr_columns(kind); col++) {
			if (__builtin_add_overflow(sum, *column(&one, kind, col),
						   &sum) ||
			    sum > INT64_MAX)
				return -EOVERFLOW;
		}
	}
	*total = sum;
	return 0;
}

/* A body that is being read, one cursor for the offsets and one per column. */
struct codec_reader {
	const uint8_t *end;
	const uint8_t *offsets;
	const uint8_t *columns[MAX_COLUMNS];
	uint64_t nr;
};

/*
 * Walks nr numbers. They are corrupt if their sum exceeds 64 bits, or if one with an
 * index of at least `nonzero` is 0.
 */
static int skip_numbers(const uint8_t **pos, const uint8_t *end, uint64_t nr,
			uint64_t nonzero)
{
	uint64_t v, sum = 0;

	for (uint64_t i = 0; i < nr; i++) {
		int err = varint_get(pos, end, &v);

		if (err)
			return err;
		if (__builtin_add_overflow(sum, v, &sum))
			return -CPI_ECORRUPT;
		if (!v && i >= nonzero)
			return -CPI_ECORRUPT;
	}
	return 0;
}

static int next_count(struct codec_reader *r, enum profile_kind kind, struct count *c)
{
	uint64_t delta;
	int err = varint_get(&r->offsets, r->end, &delta);

	c->offset += delta;
	for (int i = 0; !err && i < nr_columns(kind); i++)
		err = varint_get(&r->columns[i], r->end, column(c, kind, i));
	if (!err && !has_value(c, kind))
		err = -CPI_ECORRUPT;
	return err;
}

/* Checks a body whole, leaves r at its beginning and *at behind its end. */
static int reader_init(struct codec_reader *r, const uint8_t **at, const uint8_t *end,
		       enum profile_kind kind)
{
	const uint8_t *pos = *at;
	struct count c = { 0 };
	struct codec_reader walk;
	int err;

	r->end = end;
	err = varint_get(&pos, r->end, &r->nr);
	if (err)
		return err;
	if (r->nr > CODEC_MAX_OFFSETS)
		return -CPI_ELIMIT;
	r->offsets = pos;
	err = skip_numbers(&pos, r->end, r->nr, 1);
	for (int i = 0; !err && i < nr_columns(kind); i++) {
		r->columns[i] = pos;
		err = skip_numbers(&pos, r->end, r->nr,
				   kind == PROFILE_COUNT ? 0 : r->nr);
	}
	walk = *r;
	/* Of two columns, one may be 0. */
	for (uint64_t i = 0; !err && kind != PROFILE_COUNT && i < r->nr; i++)
		err = next_count(&walk, kind, &c);
	*at = pos;
	return err;
}

static int add_body(const uint8_t *body, size_t size, enum profile_kind kind,
		    struct profile *p)
{
	const uint8_t *pos = body;
	struct count c = { 0 };
	struct codec_reader r;
	int err = reader_init(&r, &pos, body + size, kind);

	if (!err && (!r.nr || pos != r.end))
		err = -CPI_ECORRUPT;
	for (uint64_t i = 0; !err && i < r.nr; i++) {
		err = next_count(&r, kind, &c);
		if (!err)
			err = profile_add(p, &c);
	}
	return err;
}

static int add_weights(const uint8_t *body, size_t size, struct profile *p)
{
	const uint8_t *pos = body, *const end = body + size;
	struct codec_reader r[NR_WEIGHTS];
	uint64_t nr = 0;
	int err = 0;

	for (int w = 0; w < NR_WEIGHTS && !err; w++) {
		err = reader_init(&r[w], &pos, end, PROFILE_COUNT);
		nr += err ? 0 : r[w].nr;
	}
	if (!err && nr > CODEC_MAX_OFFSETS)
		err = -CPI_ELIMIT;
	if (!err && (!nr || pos != end))
		err = -CPI_ECORRUPT;
	for (int w = 0; w < NR_WEIGHTS && !err; w++) {
		struct count c = { 0 };

		for (uint64_t i = 0; !err && i < r[w].nr; i++) {
			err = next_count(&r[w], PROFILE_COUNT, &c);
			if (!err)
				err = profile_add_weight(p, w, c.offset, c.n);
		}
	}
	return err;
}

int codec_decode(const void *blob, size_t size, enum profile_kind kind,
		 struct profile *p)
{
	struct buf memory = { 0 };
	const uint8_t *body;
	size_t body_size;
	int err;

	if (kind == PROFILE_HISTOGRAM)
		return codec_decode_records(blob, size, p);
	if (kind != PROFILE_WEIGHTED && !has_columns(kind))
		return -CPI_ECORRUPT;
	err = pack_get(blob, size, MAX_BODY, &memory, &body, &body_size);
	if (!err && kind == PROFILE_WEIGHTED)
		err = add_weights(body, body_size, p);
	else if (!err)
		err = add_body(body, body_size, kind, p);
	buf_fini(&memory);
	return err;
}
