/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accesses_codec.c - accesses as a blob
 *
 * What can be computed is not stored: known executions are the reused and the first
 * touches of lines, first touches are the sum of survived, and hashes are made of
 * numbers.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/varint.h"
#include "db/profile/accesses.h"
#include "db/profile/accesses_private.h"
#include "db/profile/pack.h"

#define MAX_BODY    (1u << 24)
#define MOST_INSNS  (ACCESSES_MAX_INSNS + ACCESSES_MAX_INSNS / 4)
#define MOST_PLACES (ACCESSES_SAMPLE + ACCESSES_LEAST * MOST_INSNS) /* of a set */
#define LEAST_BYTES 8 /* of an instruction */

enum {
	LOADS = 1,
	STORES = 2,
	SIZE_SHIFT = 2,
	SIZE_BITS = 7,
	ALIGNED = 32, /* sets of older versions have no alignments */
	FORWARDED = 64,
};

static const uint32_t most_numbers[] = {
	[ACCESSES_LINES] = UINT32_MAX >> ACCESSES_LINE_BITS,
	[ACCESSES_PAGES] = UINT32_MAX >> ACCESSES_PAGE_BITS,
};

static uint32_t fold(int32_t d)
{
	return (uint32_t)d << 1 ^ -((uint32_t)d >> 31);
}

static int32_t unfold(uint32_t v)
{
	return (int32_t)(v >> 1 ^ -(v & 1));
}

static int by_number(const void *a, const void *b)
{
	const struct accesses_place *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static void put_counts(const uint64_t *n, struct buf *out)
{
	for (int i = 0; i < ACCESSES_AGES; i++)
		varint_put(out, n[i]);
}

/* Without the zeros at the end. */
static void put_gaps(const uint64_t *n, struct buf *out)
{
	int nr = ACCESSES_GAPS;

	while (nr && !n[nr - 1])
		nr--;
	varint_put(out, (uint64_t)nr);
	for (int i = 0; i < nr; i++)
		varint_put(out, n[i]);
}

static int put_places(const struct accesses_reuse *r, struct buf *out)
{
	struct accesses_place *p = calloc(r->nr_places + 1, sizeof(*p));
	uint32_t before = 0;

	if (!p)
		return -ENOMEM;
	if (r->nr_places)
		memcpy(p, r->place, r->nr_places * sizeof(*p));
	qsort(p, r->nr_places, sizeof(*p), by_number);
	varint_put(out, r->nr_places);
	for (uint32_t i = 0; i < r->nr_places; i++) {
		varint_put(out, p[i].number - before);
		before = p[i].number;
	}
	for (uint32_t i = 0; i < r->nr_places; i++)
		varint_put(out, p[i].n);
	for (uint32_t i = 0; i < r->nr_places; i++)
		buf_putc(out, (char)p[i].thread);
	free(p);
	return 0;
}

static bool has_alignments(const struct accesses_insn *insn)
{
	uint64_t sum = 0;

	for (int i = 0; i < ACCESSES_ALIGNMENTS; i++)
		sum += insn->aligned[i];
	return sum;
}

static bool has_forwarded(const struct accesses_insn *insn)
{
	uint64_t sum = 0;

	for (int i = 0; i < ACCESSES_AGES; i++)
		sum += insn->forwarded[i];
	return sum;
}

static int put_insn(const struct accesses_insn *insn, struct buf *out)
{
	const bool aligned = has_alignments(insn), forwarded = has_forwarded(insn);
	int err = 0;

	varint_put(out, (insn->loads ? LOADS : 0U) + (insn->stores ? STORES : 0U) +
				((uint32_t)insn->size << SIZE_SHIFT) +
				(aligned ? ALIGNED : 0U) +
				(forwarded ? FORWARDED : 0U));
	for (int i = 0; aligned && i < ACCESSES_ALIGNMENTS; i++)
		varint_put(out, insn->aligned[i]);
	if (forwarded) {
		put_counts(insn->forwarded, out);
		varint_put(out, insn->partial);
	}
	varint_put(out, insn->unknown);
	varint_put(out, insn->splits);
	varint_put(out, insn->pairs);
	for (int i = 0; i < ACCESSES_STRIDES; i++) {
		varint_put(out, insn->stride[i].n);
		if (!insn->stride[i].n)
			break;
		varint_put(out, fold(insn->stride[i].bytes));
	}
	for (int g = 0; !err && g < ACCESSES_NR_GRANULES; g++) {
		put_counts(insn->reuse[g].reused, out);
		put_counts(insn->reuse[g].survived, out);
		put_gaps(insn->reuse[g].again, out);
		put_gaps(insn->reuse[g].never, out);
		err = put_places(&insn->reuse[g], out);
	}
	return err;
}

int accesses_encode(const struct accesses *set, struct buf *out)
{
	const struct accesses_insn *const *insn;
	struct buf body = { 0 }, operands = { 0 };
	size_t nr;
	int err = 0;

	if (set->operands)
		operands_put(set->operands, &operands);
	if (!accesses_seen(set) && !operands.len)
		return 0;
	insn = accesses_insns(set, &nr);
	varint_put(&body, accesses_windows(set));
	varint_put(&body, accesses_seen(set) - accesses_kept(set));
	for (int g = 0; g < ACCESSES_NR_GRANULES; g++)
		varint_put(&body, (unsigned int)__builtin_ctzll(set->bound[g]));
	varint_put(&body, nr);
	for (size_t i = 0; i < nr; i++)
		varint_put(&body, insn[i]->image - (i ? insn[i - 1]->image : 0));
	for (size_t i = 0; i < nr; i++) {
		const bool same = i && insn[i]->image == insn[i - 1]->image;

		varint_put(&body, insn[i]->offset - (same ? insn[i - 1]->offset : 0));
	}
	for (size_t i = 0; !err && i < nr; i++)
		err = put_insn(insn[i], &body);
	if (!err && operands.len)
		buf_put(&body, operands.data, operands.len);
	if (!err)
		err = pack_put(&body, out);
	buf_fini(&operands);
	buf_fini(&body);
	return err;
}

/* What is being read. */
struct accesses_reader {
	const uint8_t *at, *end;
	struct accesses *set;
	uint64_t left; /* that counts may have, all together */
	int err;
};

/* A number of at most most; 0 after an error. */
static uint64_t get(struct accesses_reader *r, uint64_t most)
{
	return varint_take(&r->at, r->end, most, &r->err);
}

static uint64_t get_counts(struct accesses_reader *r, uint64_t *n)
{
	uint64_t sum = 0;

	for (int i = 0; i < ACCESSES_AGES; i++) {
		n[i] = get(r, r->left - sum);
		sum += n[i];
	}
	return sum;
}

/* Reads counts whose sum is at most `most`; returns most minus this sum. */
static uint64_t get_gaps(struct accesses_reader *r, uint64_t *n, uint64_t most)
{
	const uint64_t nr = get(r, ACCESSES_GAPS);

	for (uint64_t i = 0; i < nr; i++) {
		n[i] = get(r, most);
		most -= n[i];
	}
	if (!r->err && nr && !n[nr - 1])
		r->err = -CPI_ECORRUPT;
	return most;
}

static void get_strides(struct accesses_reader *r, struct accesses_insn *insn)
{
	uint64_t left = insn->pairs;

	for (int i = 0; i < ACCESSES_STRIDES && !r->err; i++) {
		struct accesses_stride *s = &insn->stride[i];

		s->n = get(r, i ? insn->stride[i - 1].n : left);
		if (!s->n)
			break;
		s->bytes = unfold((uint32_t)get(r, UINT32_MAX));
		for (int k = 0; k < i; k++)
			if (insn->stride[k].bytes == s->bytes)
				r->err = -CPI_ECORRUPT;
		if (s->n > left)
			r->err = -CPI_ECORRUPT;
		left -= s->n;
	}
}

/* Numbers ascend, and no place has more touches than are left. */
static void check_places(struct accesses_reader *r, struct accesses_reuse *reuse, int g)
{
	uint64_t left = reuse->first, number = 0;

	for (uint32_t i = 0; i < reuse->nr_places && !r->err; i++) {
		const uint64_t step = get(r, UINT32_MAX);

		number += step;
		if (number > most_numbers[g] || (i && !step))
			r->err = -CPI_ECORRUPT;
		reuse->place[i].number = (uint32_t)number;
		reuse->place[i].hash = accesses_hash((uint32_t)number);
	}
	for (uint32_t i = 0; i < reuse->nr_places; i++) {
		reuse->place[i].n = get(r, left);
		if (!r->err && !reuse->place[i].n)
			r->err = -CPI_ECORRUPT;
		left -= reuse->place[i].n;
	}
	for (uint32_t i = 0; i < reuse->nr_places && !r->err; i++) {
		if (r->at == r->end)
			r->err = -CPI_ETRUNCATED;
		else
			reuse->place[i].thread = *r->at++;
		if (!r->err && !reuse->place[i].thread)
			r->err = -CPI_ECORRUPT;
	}
	/* Those that are missing are those with the higher hashes. */
	if (!r->err && left && reuse->nr_places < ACCESSES_LEAST)
		r->err = -CPI_ECORRUPT;
}

static void get_places(struct accesses_reader *r, struct accesses_reuse *reuse, int g)
{
	const uint64_t nr = get(r, MOST_PLACES);

	if (!r->err && nr > (uint64_t)(r->end - r->at))
		r->err = -CPI_ETRUNCATED;
	if (!r->err && r->set->nr_places[g] + nr > MOST_PLACES)
		r->err = -CPI_ECORRUPT;
	if (r->err)
		return;
	reuse->place = calloc(accesses_room(nr), sizeof(*reuse->place));
	if (!reuse->place) {
		r->err = -ENOMEM;
		return;
	}
	accesses_set_places(r->set, reuse, g, (uint32_t)nr);
	check_places(r, reuse, g);
	qsort(reuse->place, nr, sizeof(*reuse->place), accesses_compare_places);
}

/* Returns their sum. */
static uint64_t get_alignments(struct accesses_reader *r, struct accesses_insn *insn)
{
	uint64_t sum = 0;

	for (int i = 0; i < ACCESSES_ALIGNMENTS; i++) {
		insn->aligned[i] = get(r, r->left - sum);
		sum += insn->aligned[i];
	}
	return sum;
}

/* Returns the sum of forwarded. */
static uint64_t get_forwarded(struct accesses_reader *r, struct accesses_insn *insn)
{
	const uint64_t sum = get_counts(r, insn->forwarded);

	insn->partial = get(r, sum);
	if (!r->err && !sum)
		r->err = -CPI_ECORRUPT;
	return sum;
}

static void get_insn(struct accesses_reader *r, struct accesses_insn *insn)
{
	const uint64_t flags = get(r, (ACCESSES_MAX_SIZE << SIZE_SHIFT) + LOADS +
					      STORES + ALIGNED + FORWARDED);
	const uint64_t aligned = flags & ALIGNED ? get_alignments(r, insn) : 0;
	const uint64_t forwarded = flags & FORWARDED ? get_forwarded(r, insn) : 0;

	insn->loads = flags & LOADS;
	insn->stores = flags & STORES;
	insn->size = (uint8_t)(flags >> SIZE_SHIFT & SIZE_BITS);
	insn->unknown = get(r, r->left);
	r->left -= insn->unknown;
	insn->splits = get(r, r->left);
	insn->pairs = get(r, r->left);
	get_strides(r, insn);
	for (int g = 0; g < ACCESSES_NR_GRANULES && !r->err; g++) {
		struct accesses_reuse *reuse = &insn->reuse[g];
		uint64_t known = get_counts(r, reuse->reused);

		r->left -= known;
		reuse->first = get_counts(r, reuse->survived);
		r->left += known;
		known += reuse->first;
		get_gaps(r, reuse->never, get_gaps(r, reuse->again, reuse->first));
		if (g && known != insn->known)
			r->err = -CPI_ECORRUPT;
		insn->known = known;
		if (!r->err)
			get_places(r, reuse, g);
	}
	r->left -= r->err ? 0 : insn->known;
	if (!r->err &&
	    (!(flags & (LOADS | STORES)) || insn->splits > insn->known ||
	     aligned > insn->known || forwarded > insn->known ||
	     (forwarded && !(flags & LOADS)) || insn->size > ACCESSES_MAX_SIZE ||
	     (insn->pairs && insn->pairs >= insn->known) ||
	     !(insn->known + insn->unknown)))
		r->err = -CPI_ECORRUPT;
}

static void get_names(struct accesses_reader *r, uint64_t nr)
{
	struct accesses *set = r->set;
	uint64_t image = 0;

	for (uint64_t i = 0; i < nr && !r->err; i++) {
		image += get(r, UINT32_MAX - image);
		set->insn[i]->image = (uint32_t)image;
	}
	for (uint64_t i = 0; i < nr && !r->err; i++) {
		const bool same = i && set->insn[i]->image == set->insn[i - 1]->image;
		const uint64_t before = same ? set->insn[i - 1]->offset : 0;
		const uint64_t step = get(r, UINT64_MAX - before);

		if (same && !step)
			r->err = r->err ? r->err : -CPI_ECORRUPT;
		set->insn[i]->offset = before + step;
	}
}

static void get_insns(struct accesses_reader *r)
{
	const uint64_t nr = get(r, MOST_INSNS);

	if (!r->err && nr > (size_t)(r->end - r->at) / LEAST_BYTES)
		r->err = -CPI_ETRUNCATED;
	if (!r->err)
		r->err = accesses_add_empty(r->set, nr);
	if (!r->err)
		get_names(r, nr);
	for (uint64_t i = 0; i < nr && !r->err; i++)
		get_insn(r, r->set->insn[i]);
}

static void get_operands(struct accesses_reader *r)
{
	r->set->operands = operands_new(OPERANDS_MAX_SITES);
	r->err = r->set->operands ? operands_get(&r->at, r->end, r->set->operands)
				  : -ENOMEM;
}

static int read_body(struct accesses_reader *r)
{
	struct accesses *set = r->set;

	set->windows = get(r, INT64_MAX);
	set->left_out = get(r, INT64_MAX);
	r->left = INT64_MAX - set->left_out;
	for (int g = 0; g < ACCESSES_NR_GRANULES; g++)
		set->bound[g] = UINT64_C(1) << get(r, ACCESSES_HASH_BITS);
	get_insns(r);
	set->seen = INT64_MAX - r->left;
	if (!r->err && r->at != r->end)
		get_operands(r);
	if (!r->err && (r->at != r->end || set->windows > set->seen ||
			!set->windows != !set->seen || (!set->seen && !set->operands)))
		r->err = -CPI_ECORRUPT;
	return r->err;
}

int accesses_decode(const void *blob, size_t size, struct accesses *into)
{
	struct accesses_reader r = { .set = accesses_new(ACCESSES_MAX_INSNS) };
	struct buf memory = { 0 };
	size_t body_size;
	int err = r.set ? pack_get(blob, size, MAX_BODY, &memory, &r.at, &body_size)
			: -ENOMEM;

	if (!err) {
		r.end = r.at + body_size;
		err = read_body(&r);
	}
	if (!err)
		err = accesses_merge(into, r.set, NULL, 0);
	accesses_free(r.set);
	buf_fini(&memory);
	return err;
}
