/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * isa_kept.c - schedules as bytes, for a file that later runs read
 *
 *	seed, number of buckets, sum of the table
 *	table  { position, size, sum of the bucket }…
 *	buckets, each  { hash, check, nr, nr timings }…
 *
 * A report of one procedure needs few of the schedules that a day's reports have made.
 * So a bucket is read when a hash belongs to it that is not known.
 *
 * Numbers have the machine's byte order, and units are numbered as in the CPU model. So
 * the bytes are valid only for the same build of this program; the caller ensures that.
 * They may be damaged or forged, so each value is checked. The seed is random, so
 * nobody can construct code that hashes like other code.
 */
#include "config.h"

#include "analysis/isa/isa_kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/isa/isa_machine.h"
#include "base/err.h"
#include "base/hash.h"

#define NO_UNIT    UINT8_MAX
#define MOST       1e6f /* cycles; far more than a model has */
#define MODELLED   1
#define CARRIED    2
#define ENTRY_SIZE (2 * sizeof(uint64_t) + 1)

#define BUCKET_INSNS 256 /* some 10 kB */
#define MAX_BUCKETS  (1u << 14)

struct kept_head {
	uint64_t seed, nr_buckets, sum;
};

struct kept_bucket {
	uint64_t at, size; /* the size is 0 when it was read */
	uint64_t sum;
};

struct isa_kept {
	struct isa_kept_source source;
	struct kept_bucket *bucket;
	size_t nr_buckets; /* a power of two */
};

struct kept_timing {
	float head, front_end, dependency, unit, execute;
	uint16_t latency, uops;
	int8_t culprit; /* a run has at most ISA_SEEN_INSNS instructions */
	uint8_t reg, flags, wanted;
};

static uint8_t number_of_unit(const struct isa *isa, const char *name)
{
	const unsigned int nr = llvm_nr_units(isa->llvm);

	for (unsigned int i = 0; name && i < nr && i < NO_UNIT; i++) {
		if (llvm_unit(isa->llvm, i) == name)
			return (uint8_t)i;
	}
	return NO_UNIT;
}

static void put_timing(const struct isa *isa, const struct isa_timing *t,
		       struct buf *out)
{
	struct kept_timing k;

	memset(&k, 0, sizeof(k));
	k.head = t->head;
	k.front_end = t->front_end;
	k.dependency = t->dependency;
	k.unit = t->unit;
	k.execute = t->execute;
	k.latency = t->latency;
	k.uops = t->uops;
	k.culprit = (int8_t)t->culprit;
	k.reg = t->reg;
	k.flags = (uint8_t)((t->modelled ? MODELLED : 0) | (t->carried ? CARRIED : 0));
	k.wanted = number_of_unit(isa, t->wanted);
	buf_put(out, &k, sizeof(k));
}

struct isa_keeping {
	const struct isa *isa;
	struct buf *out;
};

static void put_run(void *ctx, const struct isa_seen_run *run)
{
	struct isa_keeping *k = ctx;

	buf_put(k->out, &run->hash, sizeof(run->hash));
	buf_put(k->out, &run->check, sizeof(run->check));
	buf_putc(k->out, (char)run->nr);
	for (int i = 0; i < run->nr; i++)
		put_timing(k->isa, &run->timing[i], k->out);
}

static bool is_time(float cycles)
{
	return cycles >= 0 && cycles < MOST; /* and a number */
}

static bool get_timing(const struct isa *isa, const struct kept_timing *k, int nr,
		       struct isa_timing *t)
{
	if (!is_time(k->head) || !is_time(k->front_end) || !is_time(k->dependency) ||
	    !is_time(k->unit) || !is_time(k->execute) || k->culprit < ISA_NO_CULPRIT ||
	    k->culprit >= nr || k->reg >= ISA_NR_REGISTERS ||
	    k->flags & ~(MODELLED | CARRIED) ||
	    (k->wanted != NO_UNIT && k->wanted >= llvm_nr_units(isa->llvm)))
		return false;
	*t = (struct isa_timing){
		.modelled = k->flags & MODELLED,
		.head = k->head,
		.front_end = k->front_end,
		.dependency = k->dependency,
		.unit = k->unit,
		.execute = k->execute,
		.culprit = k->culprit,
		.reg = k->reg,
		.carried = k->flags & CARRIED,
		.wanted = k->wanted == NO_UNIT ? NULL : llvm_unit(isa->llvm, k->wanted),
		.latency = k->latency,
		.uops = k->uops,
	};
	return true;
}

/* Reads one run at *pos, and moves it past. timing has room for ISA_SEEN_INSNS. */
static bool get_run(struct isa *isa, const uint8_t **pos, const uint8_t *end,
		    struct isa_seen_run *run, struct isa_timing *timing)
{
	struct kept_timing k;

	if ((size_t)(end - *pos) < ENTRY_SIZE)
		return false;
	memcpy(&run->hash, *pos, sizeof(run->hash));
	memcpy(&run->check, *pos + sizeof(run->hash), sizeof(run->check));
	run->nr = (*pos)[ENTRY_SIZE - 1];
	run->timing = timing;
	*pos += ENTRY_SIZE;
	if (run->nr < 1 || run->nr > ISA_SEEN_INSNS ||
	    (size_t)(end - *pos) < (size_t)run->nr * sizeof(k))
		return false;
	for (int i = 0; i < run->nr; i++, *pos += sizeof(k)) {
		memcpy(&k, *pos, sizeof(k));
		if (!get_timing(isa, &k, run->nr, &timing[i]))
			return false;
	}
	return true;
}

/* ---- buckets ---- */

static uint64_t sum_of(const void *data, size_t size)
{
	return hash_bytes(0, data, size);
}

/* A hash belongs to the bucket of its highest bits. */
static size_t bucket_of(uint64_t hash, size_t nr_buckets)
{
	return nr_buckets > 1 ? hash >> (64 - __builtin_ctzll(nr_buckets)) : 0;
}

/* Adds the runs of a bucket, unless it is damaged. Those that are there already stay.
 */
static void take_bucket(struct isa *isa, const struct kept_bucket *b, uint8_t *bytes)
{
	const uint8_t *pos = bytes, *end = bytes + b->size;
	struct isa_timing timing[ISA_SEEN_INSNS];
	struct isa_seen_run run;

	if (isa->kept->source.read(isa->kept->source.ctx, b->at, bytes, b->size) ||
	    sum_of(bytes, b->size) != b->sum)
		return;
	while (pos < end && get_run(isa, &pos, end, &run, timing))
		isa_seen_put(&isa->seen, &run);
}

static void recall_bucket(struct isa *isa, size_t number)
{
	struct kept_bucket *b = &isa->kept->bucket[number];
	uint8_t *bytes = b->size ? malloc(b->size) : NULL;

	if (bytes)
		take_bucket(isa, b, bytes);
	free(bytes);
	b->size = 0; /* it is read once */
}

static void recall(void *ctx, uint64_t hash)
{
	struct isa *isa = ctx;

	recall_bucket(isa, bucket_of(hash, isa->kept->nr_buckets));
}

static bool is_valid_head(const struct kept_head *h, uint64_t size)
{
	return h->nr_buckets && h->nr_buckets <= MAX_BUCKETS &&
	       !(h->nr_buckets & (h->nr_buckets - 1)) &&
	       size - sizeof(*h) >= h->nr_buckets * sizeof(struct kept_bucket);
}

/* Reads the table of buckets, each of which lies within the source. */
static int read_table(struct isa_kept *kept, const struct kept_head *h)
{
	const struct isa_kept_source *source = &kept->source;
	const size_t size = h->nr_buckets * sizeof(*kept->bucket);
	uint64_t at = sizeof(*h) + size;
	int err;

	kept->nr_buckets = h->nr_buckets;
	kept->bucket = malloc(size);
	if (!kept->bucket)
		return -ENOMEM;
	err = source->read(source->ctx, sizeof(*h), kept->bucket, size);
	if (err)
		return err;
	if (sum_of(kept->bucket, size) != h->sum)
		return -CPI_ECORRUPT;
	for (size_t i = 0; i < kept->nr_buckets; i++) {
		if (kept->bucket[i].at != at ||
		    kept->bucket[i].size > source->size - at)
			return -CPI_ECORRUPT;
		at += kept->bucket[i].size;
	}
	return at == source->size ? 0 : -CPI_ECORRUPT;
}

static int open_source(struct isa *isa)
{
	const struct isa_kept_source *source = &isa->kept->source;
	struct kept_head h;
	int err;

	if (source->size < sizeof(h))
		return -CPI_ETRUNCATED;
	err = source->read(source->ctx, 0, &h, sizeof(h));
	if (err)
		return err;
	if (!is_valid_head(&h, source->size))
		return -CPI_ECORRUPT;
	err = read_table(isa->kept, &h);
	if (!err)
		isa->seen.seed = h.seed;
	return err;
}

int isa_kept_open(struct isa *isa, const struct isa_kept_source *source)
{
	struct isa_kept *kept = calloc(1, sizeof(*kept));
	int err = !kept ? -ENOMEM : isa->has_model ? 0 : isa_set_cpu(isa, isa->cpu);

	if (err) {
		free(kept);
		source->close(source->ctx);
		return err;
	}
	isa_kept_close(isa);
	isa_seen_fini(&isa->seen);
	kept->source = *source;
	isa->kept = kept;
	isa->seen.grew = false;
	err = open_source(isa);
	if (err) {
		isa_kept_close(isa);
		return err;
	}
	isa->seen.recall = recall;
	isa->seen.recall_ctx = isa;
	return 0;
}

void isa_kept_close(struct isa *isa)
{
	struct isa_kept *kept = isa->kept;

	isa->seen.recall = NULL;
	isa->kept = NULL;
	if (!kept)
		return;
	kept->source.close(kept->source.ctx);
	free(kept->bucket);
	free(kept);
}

struct sorting {
	struct isa_keeping *keeping;
	size_t nr_buckets;
	struct buf *bucket;
};

static void put_in_bucket(void *ctx, const struct isa_seen_run *run)
{
	struct sorting *s = ctx;

	s->keeping->out = &s->bucket[bucket_of(run->hash, s->nr_buckets)];
	put_run(s->keeping, run);
}

/* Appends the buckets behind their table. */
static int put_buckets(const struct isa *isa, const struct buf *bucket, size_t nr,
		       struct buf *out)
{
	const size_t size = nr * sizeof(struct kept_bucket);
	struct kept_head h = { .seed = isa->seen.seed, .nr_buckets = nr };
	struct kept_bucket *table = calloc(nr, sizeof(*table));
	uint64_t at = sizeof(h) + size;

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		table[i] =
			(struct kept_bucket){ at, bucket[i].len,
					      sum_of(bucket[i].data, bucket[i].len) };
		at += bucket[i].len;
	}
	h.sum = sum_of(table, size);
	buf_put(out, &h, sizeof(h));
	buf_put(out, table, size);
	free(table);
	for (size_t i = 0; i < nr; i++) {
		buf_put(out, bucket[i].data, bucket[i].len);
		if (bucket[i].err)
			out->err = bucket[i].err;
	}
	return out->err;
}

int isa_kept_put(struct isa *isa, struct buf *out)
{
	struct isa_keeping k = { .isa = isa };
	struct sorting s = { .keeping = &k, .nr_buckets = 1 };
	int err;

	for (size_t i = 0; isa->kept && i < isa->kept->nr_buckets; i++)
		recall_bucket(isa, i);
	isa_seen_trim(&isa->seen);
	while (s.nr_buckets < MAX_BUCKETS &&
	       s.nr_buckets * BUCKET_INSNS < isa->seen.nr_insns)
		s.nr_buckets *= 2;
	s.bucket = calloc(s.nr_buckets, sizeof(*s.bucket));
	if (!s.bucket)
		return -ENOMEM;
	isa_seen_each(&isa->seen, put_in_bucket, &s);
	err = put_buckets(isa, s.bucket, s.nr_buckets, out);
	for (size_t i = 0; i < s.nr_buckets; i++)
		buf_fini(&s.bucket[i]);
	free(s.bucket);
	return err;
}

/* ---- between processes ---- */

void isa_kept_mark(struct isa *isa)
{
	isa_seen_mark(&isa->seen);
}

int isa_kept_put_new(const struct isa *isa, struct buf *out)
{
	struct isa_keeping k = { isa, out };

	isa_seen_each_new(&isa->seen, put_run, &k);
	return out->err;
}

int isa_kept_add(struct isa *isa, const uint8_t *data, size_t size)
{
	const uint8_t *pos = data, *end = data + size;
	const int err = size && !isa->has_model ? isa_set_cpu(isa, isa->cpu) : 0;

	if (err)
		return err;
	while (pos < end) {
		struct isa_timing timing[ISA_SEEN_INSNS];
		struct isa_seen_run run;

		if (!get_run(isa, &pos, end, &run, timing))
			return -CPI_ECORRUPT;
		isa->seen.grew |= isa_seen_take(&isa->seen, &run);
	}
	return 0;
}

bool isa_kept_grew(const struct isa *isa)
{
	return isa->seen.grew;
}

void isa_kept_seed(struct isa *isa, uint64_t seed)
{
	isa_kept_close(isa);
	isa_seen_fini(&isa->seen);
	isa->seen.seed = seed;
}
