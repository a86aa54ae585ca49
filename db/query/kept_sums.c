/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kept_sums.c - blocks of epochs, and the sums in them
 *
 * Format of a kept block: the number of sums (u64); for each sum, in ascending order of
 * keys, its key and the position and size of its parts; then the parts of all sums.
 *
 * A part is a kind of profile: { kind, size }, and the blob of db/profile/codec.h.
 */
#include "config.h"

#include "db/query/kept_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/times.h"
#include "db/query/epoch_numbers.h"

#define BLOCK_NS     (10 * 86400 * NSEC_PER_SEC)
#define MIN_EPOCHS   8           /* of a block */
#define MIN_SELECTED 48          /* epochs of a selection */
#define MAX_BYTES    (15u << 20) /* of a block's parts */

struct sum_key {
	uint64_t hash[2];
};

struct kept_sum {
	struct sum_key key;
	uint64_t at, size; /* in parts */
};

struct block {
	uint64_t number;  /* start / BLOCK_NS */
	size_t nr_epochs; /* selected */
	bool is_open;     /* an epoch is, or it is the last block */
	struct query_keep_key key;
	bool was_loaded, is_new;
	struct kept_sum *sum; /* the first nr_old by key */
	size_t nr, nr_old;
	struct buf parts;
};

struct kept_sums {
	const struct query_keeper *keeper;
	struct block *block;
	size_t nr;
	struct epoch_numbers of; /* the block of each epoch */
};

/* ---- blocks ---- */

static void add_word(uint64_t hash[2], uint64_t word)
{
	hash[0] = hash_u64(hash[0] ^ word);
	hash[1] = hash_u64(hash[1] * 3 + word);
}

/* Epochs are in order of time, so each belongs to the last block or to a new one. */
static int add_epoch(struct kept_sums *ks, const struct query_epoch *e)
{
	const uint64_t number = e->from_ns / BLOCK_NS;
	struct block *b = ks->nr ? &ks->block[ks->nr - 1] : NULL;

	if (!b || b->number != number) {
		if (GROW(ks->block, ks->nr))
			return -ENOMEM;
		b = &ks->block[ks->nr++];
		*b = (struct block){ .number = number };
	}
	b->nr_epochs++;
	b->is_open |= e->open;
	add_word(b->key.hash, (uint64_t)e->id);
	add_word(b->key.hash, e->from_ns);
	add_word(b->key.hash, e->to_ns);
	add_word(b->key.hash, e->run_ns);
	add_word(b->key.hash, e->samples);
	return 0;
}

static int divide(struct kept_sums *ks, const struct query_epochs *epochs)
{
	uint32_t *block = calloc(epochs->nr, sizeof(*block));
	int err = block ? 0 : -ENOMEM;

	for (size_t i = 0; i < epochs->nr && !err; i++) {
		err = add_epoch(ks, &epochs->epoch[i]);
		block[i] = (uint32_t)(ks->nr - 1);
	}
	if (!err) {
		ks->block[ks->nr - 1].is_open = true;
		err = epoch_numbers_init(&ks->of, epochs, block);
	}
	free(block);
	return err;
}

int kept_sums_open(const struct query_selection *sel, struct kept_sums **out)
{
	struct kept_sums *ks;
	int err;

	*out = NULL;
	if (!sel->keeper || sel->totals || sel->epochs->nr < MIN_SELECTED)
		return 0;
	ks = calloc(1, sizeof(*ks));
	if (!ks)
		return -ENOMEM;
	ks->keeper = sel->keeper;
	err = divide(ks, sel->epochs);
	if (err)
		kept_sums_close(ks, false);
	else
		*out = ks;
	return err;
}

static struct block *block_of(struct kept_sums *ks, int64_t epoch)
{
	const uint32_t *block = epoch_numbers_find(&ks->of, epoch);

	return block ? &ks->block[*block] : NULL;
}

static bool is_kept(const struct block *b)
{
	return b && !b->is_open && b->nr_epochs >= MIN_EPOCHS;
}

size_t kept_sums_run(struct kept_sums *ks, const struct profile_place *place, size_t nr)
{
	const struct block *b = ks ? block_of(ks, place[0].epoch) : NULL;
	size_t n = 0;

	if (!is_kept(b))
		return 0;
	while (n < nr && block_of(ks, place[n].epoch) == b)
		n++;
	return n;
}

/* ---- what was kept of a block ---- */

static int compare_keys(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct sum_key));
}

/* Takes what was kept; it is untrusted. */
static int take(struct block *b, const struct buf *kept)
{
	size_t at, room = 1; /* a power of two, as GROW() wants it */
	uint64_t nr;

	if (kept->len < sizeof(nr))
		return -CPI_ECORRUPT;
	memcpy(&nr, kept->data, sizeof(nr));
	if (!nr || nr > (kept->len - sizeof(nr)) / sizeof(*b->sum))
		return -CPI_ECORRUPT;
	at = sizeof(nr) + nr * sizeof(*b->sum);
	while (room < nr)
		room *= 2;
	b->sum = calloc(room, sizeof(*b->sum));
	if (!b->sum)
		return -ENOMEM;
	memcpy(b->sum, kept->data + sizeof(nr), nr * sizeof(*b->sum));
	buf_put(&b->parts, kept->data + at, kept->len - at);
	for (size_t i = 0; i < nr && !b->parts.err; i++) {
		const struct kept_sum *s = &b->sum[i];

		if (s->at > b->parts.len || s->size > b->parts.len - s->at ||
		    (i && compare_keys(s - 1, s) >= 0))
			return -CPI_ECORRUPT;
	}
	b->nr = b->nr_old = nr;
	return b->parts.err;
}

static void load(struct kept_sums *ks, struct block *b)
{
	struct buf kept = { 0 };

	b->was_loaded = true;
	if (!ks->keeper->load(ks->keeper, &b->key, &kept) && take(b, &kept)) {
		free(b->sum);
		b->sum = NULL;
		b->nr = b->nr_old = 0;
		buf_fini(&b->parts);
		b->parts = (struct buf){ 0 };
	}
	buf_fini(&kept);
}

static void save(const struct kept_sums *ks, struct block *b)
{
	const uint64_t nr = b->nr;
	struct buf out = { 0 };
	size_t kept = 0;

	qsort(b->sum, b->nr, sizeof(*b->sum), compare_keys);
	for (size_t i = 0; i < b->nr; i++) {
		if (!i || compare_keys(&b->sum[i - 1], &b->sum[i]))
			kept++;
	}
	if (kept == nr) { /* else two sums have one key, which cannot be */
		buf_put(&out, &nr, sizeof(nr));
		buf_put(&out, b->sum, nr * sizeof(*b->sum));
		buf_put(&out, b->parts.data, b->parts.len);
		if (!out.err)
			ks->keeper->save(ks->keeper, &b->key, out.data, out.len);
	}
	buf_fini(&out);
}

void kept_sums_close(struct kept_sums *ks, bool is_whole)
{
	bool saved = false;

	if (!ks)
		return;
	for (size_t i = 0; i < ks->nr; i++) {
		struct block *b = &ks->block[i];

		if (b->is_new && is_whole) {
			save(ks, b);
			saved = true;
		}
		free(b->sum);
		buf_fini(&b->parts);
	}
	if (saved)
		ks->keeper->limit(ks->keeper);
	free(ks->block);
	epoch_numbers_fini(&ks->of);
	free(ks);
}

/* ---- sums ---- */

static struct sum_key key_of(const struct kept_row *row)
{
	const struct image_desc *desc = &row->image->desc;
	struct sum_key key = { { row->nr, (uint64_t)row->stream } };

	add_word(key.hash, (uint64_t)row->image->id);
	add_word(key.hash, (uint64_t)desc->kind);
	hash_add(key.hash, desc->name, strlen(desc->name));
	hash_add(key.hash, desc->build_id, desc->build_id_size);
	hash_add(key.hash, desc->content,
		 desc->has_content ? sizeof(desc->content) : 0);
	for (size_t i = 0; i < row->nr; i++) {
		add_word(key.hash, (uint64_t)row->place[i].epoch);
		add_word(key.hash, (uint64_t)row->place[i].context);
		add_word(key.hash, row->place[i].total);
	}
	return key;
}

/* Adds the parts of a sum to p. The parts are untrusted. */
static int add_parts(const uint8_t *part, size_t left, struct profile *p)
{
	int err = 0;

	while (left && !err) {
		uint32_t head[2]; /* kind, size */

		if (left < sizeof(head))
			return -CPI_ECORRUPT;
		memcpy(head, part, sizeof(head));
		part += sizeof(head);
		left -= sizeof(head);
		if (head[0] >= PROFILE_NR_KINDS || head[1] > left)
			return -CPI_ECORRUPT;
		err = codec_decode(part, head[1], (enum profile_kind)head[0], p);
		part += head[1];
		left -= head[1];
	}
	return err;
}

int kept_sums_get(struct kept_sums *ks, const struct kept_row *row, struct profile *p)
{
	struct block *b = block_of(ks, row->place[0].epoch);
	const struct sum_key key = key_of(row);
	const struct kept_sum *s;

	if (!b->was_loaded)
		load(ks, b);
	s = b->nr_old ? bsearch(&key, b->sum, b->nr_old, sizeof(*b->sum), compare_keys)
		      : NULL;
	if (!s)
		return -ENOENT;
	return add_parts((const uint8_t *)b->parts.data + s->at, s->size, p);
}

void kept_sums_forget(struct kept_sums *ks)
{
	for (size_t i = 0; i < ks->nr; i++) {
		ks->block[i].was_loaded = true;
		ks->block[i].is_open = true;
		ks->block[i].is_new = false;
	}
}

static int put_parts(struct buf *out, struct profile *p)
{
	int err = 0;

	for (uint32_t kind = 0; kind < PROFILE_NR_KINDS && !err; kind++) {
		struct buf blob = { 0 };
		uint32_t head[2] = { kind, 0 };

		/* 3 is not used */
		err = kind == 3 ? 0 : codec_encode(p, (enum profile_kind)kind, &blob);
		if (!err && blob.len > MAX_BYTES)
			err = -CPI_ELIMIT;
		if (!err && blob.len) {
			head[1] = (uint32_t)blob.len;
			buf_put(out, head, sizeof(head));
			buf_put(out, blob.data, blob.len);
			err = out->err;
		}
		buf_fini(&blob);
	}
	return err;
}

void kept_sums_put(struct kept_sums *ks, const struct kept_row *row, struct profile *p)
{
	struct block *b = block_of(ks, row->place[0].epoch);
	const size_t at = b->parts.len;
	int err = b->parts.err;

	if (!err)
		err = put_parts(&b->parts, p);
	if (!err && b->parts.len > MAX_BYTES)
		err = -CPI_ELIMIT;
	if (!err && GROW(b->sum, b->nr))
		err = -ENOMEM;
	if (err) {
		if (!b->parts.err)
			b->parts.len = at;
		return;
	}
	b->sum[b->nr++] = (struct kept_sum){ key_of(row), at, b->parts.len - at };
	b->is_new = true;
}
