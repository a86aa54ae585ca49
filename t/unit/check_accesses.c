/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "db/profile/accesses.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "db/profile/pack.h"
#include "t/unit/unit.h"

#define MAX_WINDOWS  300
#define MAX_ACCESSES 60
#define NR_INSNS     12
#define MAX_ALL      (MAX_WINDOWS * MAX_ACCESSES)

/* One window as it was added. */
struct made {
	struct access a[MAX_ACCESSES];
	size_t nr;
	uint32_t tid;
};

/* Widths of the address range, and how many windows. */
static const struct {
	uint32_t range;
	size_t nr;
} shapes[] = { { 200, 40 },         { 40000, 100 }, { 1u << 20, 200 },
	       { 0xffffffff, 300 }, { 1, 30 },      { 3000, 0 } };

static void make(struct made *m, uint32_t range, uint64_t *state)
{
	m->nr = unit_random(state) % (MAX_ACCESSES + 1);
	m->tid = (uint32_t)(unit_random(state) % 2);
	for (size_t i = 0; i < m->nr; i++) {
		const uint32_t insn = (uint32_t)(unit_random(state) % NR_INSNS);
		struct access *a = &m->a[i];

		*a = (struct access){ .offset = 16 * (insn / 2), .image = insn % 2 };
		a->known = unit_random(state) % 8 != 0;
		a->store = unit_random(state) % 3 == 0;
		a->writes = a->store || unit_random(state) % 8 == 0;
		a->nr = (uint8_t)(i + i / 2);
		a->size = (uint8_t)(unit_random(state) % 7);
		a->address = (uint32_t)unit_random(state) % range;
		if (insn < 4 && i)
			a->address = m->a[i - 1].address + 8;
	}
}

static bool same_insn(const struct access *a, const struct accesses_insn *insn)
{
	return a->image == insn->image && a->offset == insn->offset;
}

/* Whether granules of 2^bits bytes of a have the one where b begins. */
static bool covers(const struct access *a, const struct access *b, unsigned int bits)
{
	const uint64_t first = a->address >> bits,
		       last = (a->address + (UINT64_C(1) << a->size) - 1) >> bits;

	return a->known && first <= b->address >> bits && b->address >> bits <= last;
}

/* Counts of one instruction and granule, as slowly as can be. */
struct truth {
	uint64_t known, unknown, splits, pairs;
	uint64_t reused[ACCESSES_AGES], survived[ACCESSES_AGES];
	uint32_t number[MAX_ALL]; /* of each first touch */
	size_t nr;
	int32_t stride[MAX_ALL];
	uint64_t aligned[ACCESSES_ALIGNMENTS];
	uint64_t forwarded[ACCESSES_AGES], partial;
};

/* How many of the bytes of access i an earlier access k stored. */
static int stored_bytes(const struct made *m, size_t k, size_t i)
{
	int nr = 0;

	for (uint32_t b = 0; b < 1U << m->a[i].size; b++)
		nr += m->a[i].address + b - m->a[k].address < 1U << m->a[k].size;
	return m->a[k].known && m->a[k].writes ? nr : 0;
}

static void note_forwarded(struct truth *t, const struct made *m, size_t i)
{
	for (size_t k = i; k-- > 0 && !m->a[i].store;) {
		const int nr = stored_bytes(m, k, i);

		if (!nr)
			continue;
		t->forwarded[31 -
			     __builtin_clz((unsigned int)(m->a[i].nr - m->a[k].nr))]++;
		t->partial += nr < 1 << m->a[i].size;
		return;
	}
}

static void note_known(struct truth *t, const struct made *m, size_t i,
		       const struct accesses_insn *insn, unsigned int bits)
{
	size_t age = 0;
	int zeros = 0;

	t->known++;
	while (zeros < ACCESSES_ALIGNMENTS - 1 && m->a[i].address % (2U << zeros) == 0)
		zeros++;
	t->aligned[zeros]++;
	note_forwarded(t, m, i);
	t->splits += m->a[i].address >> 6 !=
		     (m->a[i].address + (UINT64_C(1) << m->a[i].size) - 1) >> 6;
	for (size_t k = 0; k < i; k++) {
		if (covers(&m->a[k], &m->a[i], bits))
			age = i - k;
	}
	for (size_t k = i; k-- > 0;)
		if (m->a[k].known && same_insn(&m->a[k], insn)) {
			t->stride[t->pairs++] =
				(int32_t)(m->a[i].address - m->a[k].address);
			break;
		}
	for (int c = 0; c < ACCESSES_AGES; c++) {
		const size_t x = age ? age : i + 1;

		if (x >> c == 1)
			(age ? t->reused : t->survived)[c]++;
	}
	if (!age)
		t->number[t->nr++] = m->a[i].address >> bits;
}

static void find_truth(struct truth *t, const struct made *m, size_t nr,
		       const struct accesses_insn *insn, unsigned int bits)
{
	memset(t, 0, sizeof(*t));
	for (size_t w = 0; w < nr; w++)
		for (size_t i = 0; i < m[w].nr; i++) {
			if (!same_insn(&m[w].a[i], insn))
				continue;
			if (m[w].a[i].known)
				note_known(t, &m[w], i, insn, bits);
			else
				t->unknown++;
		}
}

static int by_hash(const void *a, const void *b)
{
	const uint32_t x = accesses_hash(*(const uint32_t *)a),
		       y = accesses_hash(*(const uint32_t *)b);

	return (x > y) - (x < y);
}

/* The sample has all places below the bound, as often as they were touched. */
static void check_places(const struct accesses *set, const struct accesses_insn *insn,
			 enum accesses_granule g, struct truth *t)
{
	const struct accesses_reuse *r = &insn->reuse[g];
	const uint64_t bound = accesses_bound(set, insn, g);
	size_t at = 0, nr = 0;

	qsort(t->number, t->nr, sizeof(*t->number), by_hash);
	for (size_t i = 0; i < t->nr; i = at, nr++) {
		while (at < t->nr && t->number[at] == t->number[i])
			at++;
		if (accesses_hash(t->number[i]) >= bound)
			break;
		ck_assert_uint_lt(nr, r->nr_places);
		ck_assert_uint_eq(r->place[nr].number, t->number[i]);
		ck_assert_uint_eq(r->place[nr].n, at - i);
	}
	ck_assert(nr >= ACCESSES_LEAST - 1 || at == t->nr);
}

static void check_strides(const struct accesses_insn *insn, const struct truth *t)
{
	uint64_t sum = 0;

	for (int i = 0; i < ACCESSES_STRIDES; i++) {
		const struct accesses_stride *s = &insn->stride[i];
		uint64_t n = 0;

		for (size_t k = 0; k < t->pairs; k++)
			n += t->stride[k] == s->bytes;
		ck_assert_uint_le(s->n, n);
		ck_assert(!s->n || s->n + t->pairs / (ACCESSES_STRIDES + 1) >= n);
		ck_assert(!i || s->n <= insn->stride[i - 1].n);
		sum += s->n;
	}
	/* A stride with more than a fifth is there. */
	for (size_t k = 0; k < t->pairs; k++) {
		uint64_t n = 0;
		bool found = false;

		for (size_t j = 0; j < t->pairs; j++)
			n += t->stride[j] == t->stride[k];
		for (int i = 0; i < ACCESSES_STRIDES; i++)
			found |= insn->stride[i].n &&
				 insn->stride[i].bytes == t->stride[k];
		ck_assert(found || n <= t->pairs / (ACCESSES_STRIDES + 1));
		k += t->pairs / 50;
	}
	ck_assert_uint_le(sum, t->pairs);
}

static void check_all(const struct accesses *set, const struct made *m, size_t nr)
{
	static struct truth t;
	const struct accesses_insn *const *insn;
	uint64_t seen = 0, windows = 0, kept = 0;
	size_t nr_insns;

	for (size_t w = 0; w < nr; w++) {
		seen += m[w].nr;
		windows += m[w].nr != 0;
	}
	insn = accesses_insns(set, &nr_insns);
	for (size_t i = 0; i < nr_insns; i++) {
		for (int g = 0; g < ACCESSES_NR_GRANULES; g++) {
			const struct accesses_reuse *r = &insn[i]->reuse[g];

			find_truth(&t, m, nr, insn[i],
				   g == ACCESSES_LINES ? ACCESSES_LINE_BITS
						       : ACCESSES_PAGE_BITS);
			ck_assert_uint_eq(insn[i]->known, t.known);
			ck_assert_uint_eq(insn[i]->unknown, t.unknown);
			ck_assert_uint_eq(insn[i]->splits, t.splits);
			ck_assert_uint_eq(insn[i]->pairs, t.pairs);
			ck_assert_mem_eq(insn[i]->aligned, t.aligned,
					 sizeof(t.aligned));
			ck_assert_mem_eq(insn[i]->forwarded, t.forwarded,
					 sizeof(t.forwarded));
			ck_assert_uint_eq(insn[i]->partial, t.partial);
			ck_assert_uint_eq(r->first, t.nr);
			ck_assert_mem_eq(r->reused, t.reused, sizeof(t.reused));
			ck_assert_mem_eq(r->survived, t.survived, sizeof(t.survived));
			check_places(set, insn[i], g, &t);
		}
		check_strides(insn[i], &t);
		kept += insn[i]->known + insn[i]->unknown;
	}
	ck_assert_uint_eq(accesses_seen(set), seen);
	ck_assert_uint_eq(accesses_kept(set), kept);
	ck_assert_uint_eq(kept, seen);
	ck_assert_uint_eq(accesses_windows(set), windows);
}

static struct accesses *new_set(void)
{
	struct accesses *set = accesses_new(ACCESSES_MAX_INSNS);

	ck_assert_ptr_nonnull(set);
	return set;
}

static void check_equal(const struct accesses *a, const struct accesses *b)
{
	struct buf x = { 0 }, y = { 0 };

	ck_assert_int_eq(accesses_encode(a, &x), 0);
	ck_assert_int_eq(accesses_encode(b, &y), 0);
	ck_assert_uint_eq(x.len, y.len);
	ck_assert(!x.len || !memcmp(x.data, y.data, x.len));
	buf_fini(&x);
	buf_fini(&y);
}

START_TEST(sets_sum_up_windows_and_survive_merging_and_a_blob)
{
	uint64_t state = (unit_seed() + (uint64_t)_i) | 1;
	static struct made all[MAX_WINDOWS];
	const size_t nr = shapes[_i].nr;
	struct accesses *set = new_set(), *half = new_set(), *again = new_set();
	struct buf blob = { 0 };

	for (size_t i = 0; i < nr; i++) {
		make(&all[i], shapes[_i].range, &state);
		ck_assert_int_eq(accesses_add(set, all[i].a, all[i].nr, all[i].tid), 0);
		ck_assert_int_eq(accesses_add(i % 3 ? half : again, all[i].a, all[i].nr,
					      all[i].tid),
				 0);
	}
	check_all(set, all, nr);
	ck_assert_int_eq(accesses_merge(half, again, NULL, 0), 0);
	check_all(half, all, nr);
	ck_assert_int_eq(accesses_encode(half, &blob), 0);
	ck_assert_int_eq(blob.len != 0, accesses_seen(half) != 0);
	accesses_free(again);
	again = new_set();
	if (blob.len)
		ck_assert_int_eq(accesses_decode(blob.data, blob.len, again), 0);
	check_equal(half, again);
	buf_fini(&blob);
	accesses_free(set);
	accesses_free(half);
	accesses_free(again);
}
END_TEST

/* By member: a place has padding. */
static void check_same_place(const struct accesses_place *a,
			     const struct accesses_place *b)
{
	ck_assert_uint_eq(a->number, b->number);
	ck_assert_uint_eq(a->hash, b->hash);
	ck_assert_uint_eq(a->n, b->n);
	ck_assert_uint_eq(a->thread, b->thread);
}

/* Windows of one access each, in the reverse order: all but the gaps is the same. */
START_TEST(the_order_of_windows_does_not_matter)
{
	struct accesses *set = new_set(), *back = new_set();
	const struct accesses_insn *const *x, *const *y;
	const uint64_t seed = unit_seed() | 1;
	size_t nr, same;

	for (uint32_t i = 0; i < 40000; i++) {
		for (int k = 0; k < 2; k++) {
			uint64_t state = seed + (k ? 39999 - i : i);
			struct access a = { .known = true };

			unit_random(&state);
			a.address = (uint32_t)(unit_random(&state) >> 32);
			a.offset = a.address % 5;
			ck_assert_int_eq(accesses_add(k ? back : set, &a, 1, 1), 0);
		}
	}
	x = accesses_insns(set, &nr);
	y = accesses_insns(back, &same);
	ck_assert_uint_eq(nr, same);
	for (size_t i = 0; i < nr; i++) {
		const struct accesses_reuse *a = x[i]->reuse, *b = y[i]->reuse;

		ck_assert_uint_eq(x[i]->known, y[i]->known);
		ck_assert_uint_eq(a->nr_places, b->nr_places);
		ck_assert_uint_gt(a->nr_places, 100);
		for (uint32_t j = 0; j < a->nr_places; j++)
			check_same_place(&a->place[j], &b->place[j]);
	}
	accesses_free(set);
	accesses_free(back);
}
END_TEST

/* One line by turns with another that is always new, and windows between. */
START_TEST(gaps_between_windows_are_counted_in_accesses)
{
	struct accesses *set = new_set();
	const struct accesses_insn *const *insn;
	uint64_t want[ACCESSES_GAPS] = { 0 };
	size_t nr;

	for (uint32_t i = 0; i < 20; i++) {
		struct access a[10] = { 0 };

		for (uint32_t k = 0; k < 10; k++)
			a[k] = (struct access){ .offset = 1 + (k > 0),
						.known = true,
						.address =
							k ? (10 * i + k) << 20 : 0x40 };
		ck_assert_int_eq(accesses_add(set, a, i % 2 ? 10 : 5, 1), 0);
	}
	want[2] = 10; /* 5 accesses after those of 5 */
	want[3] = 9;  /* 10 after the others */
	insn = accesses_insns(set, &nr);
	ck_assert_uint_eq(nr, 2);
	ck_assert_mem_eq(insn[0]->reuse[0].again, want, sizeof(want));
	ck_assert_uint_eq(insn[0]->reuse[0].never[0], 1);
	for (int g = 0; g < ACCESSES_GAPS; g++)
		ck_assert_uint_eq(insn[1]->reuse[0].again[g], 0);
	ck_assert_uint_eq(insn[1]->reuse[0].never[7], 21); /* accesses 128 to 150 */
	accesses_free(set);
}
END_TEST

START_TEST(instructions_with_the_fewest_accesses_are_left_out)
{
	struct accesses *set = accesses_new(8);
	const struct accesses_insn *const *insn;
	uint64_t kept = 0;
	size_t nr;

	for (uint32_t i = 0; i < 100; i++)
		for (uint32_t k = 0; k < (i < 8 ? 50 : 1); k++) {
			const struct access a = { .offset = i };

			ck_assert_int_eq(accesses_add(set, &a, 1, 1), 0);
		}
	insn = accesses_insns(set, &nr);
	ck_assert_uint_le(nr, 10);
	for (size_t i = 0; i < nr; i++)
		kept += insn[i]->unknown;
	for (size_t i = 0; i < 8; i++) {
		ck_assert_uint_eq(insn[i]->offset, i);
		ck_assert_uint_eq(insn[i]->unknown, 50);
	}
	ck_assert_uint_eq(accesses_seen(set), 8 * 50 + 92);
	ck_assert_uint_eq(accesses_kept(set), kept);
	ck_assert_uint_lt(kept, 8 * 50 + 92);
	accesses_free(set);
}
END_TEST

/* A flat profile: each instruction runs once, on a page of its own. */
START_TEST(memory_is_bounded_whatever_runs)
{
	struct accesses *set = new_set();

	for (uint32_t i = 0; i < 60000; i++) {
		const struct access a = { .offset = 4 * i,
					  .known = true,
					  .address = i << 12 };

		ck_assert_int_eq(accesses_add(set, &a, 1, 1), 0);
	}
	ck_assert_uint_le(accesses_memory(set), 2 << 20);
	accesses_free(set);
}
END_TEST

START_TEST(threads_that_share_a_line_are_noticed)
{
	struct accesses *set = new_set(), *other = new_set();
	const struct access a[] = { { .offset = 1, .known = true, .address = 0x1000 },
				    { .offset = 2, .known = true, .address = 0x2000 } };
	const struct accesses_insn *const *insn;
	size_t nr;

	ck_assert_int_eq(accesses_add(set, a, 2, 10), 0);
	ck_assert_int_eq(accesses_add(set, a, 2, 10), 0);
	ck_assert_int_eq(accesses_add(other, &a[1], 1, 11), 0);
	ck_assert_int_eq(accesses_merge(set, other, NULL, 0), 0);
	insn = accesses_insns(set, &nr);
	ck_assert_uint_eq(nr, 2);
	ck_assert_uint_ne(insn[0]->reuse[0].place[0].thread, ACCESSES_SHARED);
	ck_assert_uint_eq(insn[1]->reuse[0].place[0].thread, ACCESSES_SHARED);
	ck_assert_uint_eq(insn[1]->reuse[0].place[0].n, 3);
	accesses_free(set);
	accesses_free(other);
}
END_TEST

START_TEST(images_are_translated_or_refused)
{
	static const uint32_t map[] = { 7, 9 };
	struct accesses *set = new_set(), *from = new_set();
	const struct access a = { .offset = 4, .image = 1 };
	const struct accesses_insn *const *insn;
	size_t nr;

	ck_assert_int_eq(accesses_add(from, &a, 1, 1), 0);
	ck_assert_int_eq(accesses_merge(set, from, map, 1), -CPI_ECORRUPT);
	ck_assert_uint_eq(accesses_seen(set), 0);
	ck_assert_int_eq(accesses_merge(set, from, map, 2), 0);
	insn = accesses_insns(set, &nr);
	ck_assert_uint_eq(nr, 1);
	ck_assert_uint_eq(insn[0]->image, 9);
	accesses_free(set);
	accesses_free(from);
}
END_TEST

START_TEST(what_no_window_can_have_is_refused)
{
	static struct access a[ACCESSES_MAX_WINDOW + 1];
	struct accesses *set = new_set();

	ck_assert_int_eq(accesses_add(set, a, NR(a), 1), -EINVAL);
	a[3].size = ACCESSES_MAX_SIZE + 1;
	ck_assert_int_eq(accesses_add(set, a, 4, 1), -EINVAL);
	ck_assert_uint_eq(accesses_seen(set), 0);
	ck_assert_int_eq(accesses_add(set, a, 3, 1), 0);
	ck_assert_uint_eq(accesses_seen(set), 3);
	accesses_free(set);
}
END_TEST

/* A loop over an array by 8 bytes, a store to the stack, and one unknown address. */
static void add_golden(struct accesses *set)
{
	struct access a[13] = { 0 };

	for (uint32_t i = 0; i < 12; i++) {
		a[i].known = true;
		a[i].offset = i % 3 == 2 ? 0x20 : 0x10;
		a[i].store = i % 3 == 2;
		a[i].size = 3;
		a[i].address = i % 3 == 2 ? 0xffffe010 : 0x7000fdc + 8 * i;
	}
	a[12] = (struct access){ .offset = 0x8, .image = 3, .size = 2 };
	ck_assert_int_eq(accesses_add(set, a, NR(a), 5), 0);
	ck_assert_int_eq(accesses_add(set, a, 3, 6), 0);
}

START_TEST(the_golden_blob_is_read_and_written)
{
	const char *srcdir = getenv("srcdir");
	struct accesses *set = new_set(), *read = new_set();
	struct buf want = { 0 }, got = { 0 }, memory = { 0 };
	const uint8_t *body;
	size_t size;
	char path[4096];

	snprintf(path, sizeof(path), "%s/t/fixtures/accesses/accesses.blob",
		 srcdir ? srcdir : ".");
	ck_assert_int_eq(file_read_all(AT_FDCWD, path, 4096, &want), 0);
	add_golden(set);
	ck_assert_int_eq(accesses_encode(set, &got), 0);
	ck_assert_int_eq(pack_get(got.data, got.len, 4096, &memory, &body, &size), 0);
	ck_assert_uint_eq(size, want.len - 1);
	ck_assert_mem_eq(body, want.data + 1, size);
	ck_assert_int_eq(accesses_decode(want.data, want.len, read), 0);
	check_equal(set, read);
	accesses_free(set);
	accesses_free(read);
	buf_fini(&want);
	buf_fini(&got);
	buf_fini(&memory);
}
END_TEST

START_TEST(a_blob_of_an_older_version_has_no_alignments)
{
	const char *srcdir = getenv("srcdir");
	struct accesses *set = new_set(), *read = new_set();
	const struct accesses_insn *const *a, *const *b;
	struct buf blob = { 0 };
	size_t nr, nr_read;
	char path[4096];

	snprintf(path, sizeof(path), "%s/t/fixtures/accesses/older.blob",
		 srcdir ? srcdir : ".");
	ck_assert_int_eq(file_read_all(AT_FDCWD, path, 4096, &blob), 0);
	ck_assert_int_eq(accesses_decode(blob.data, blob.len, read), 0);
	add_golden(set);
	a = accesses_insns(set, &nr);
	b = accesses_insns(read, &nr_read);
	ck_assert_uint_eq(nr, nr_read);
	for (size_t i = 0; i < nr; i++) {
		ck_assert_uint_eq(a[i]->known, b[i]->known);
		ck_assert_uint_eq(a[i]->size, b[i]->size);
		for (int k = 0; k < ACCESSES_ALIGNMENTS; k++)
			ck_assert_uint_eq(b[i]->aligned[k], 0);
	}
	ck_assert_int_eq(accesses_merge(read, set, NULL, 0), 0);
	b = accesses_insns(read, &nr_read);
	for (size_t i = 0; i < nr; i++)
		ck_assert_mem_eq(a[i]->aligned, b[i]->aligned, sizeof(a[i]->aligned));
	buf_fini(&blob);
	accesses_free(set);
	accesses_free(read);
}
END_TEST

/* Each byte that is wrong is refused, or means something that is right. */
START_TEST(a_damaged_blob_changes_nothing)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	struct accesses *set = new_set();
	struct buf blob = { 0 };

	add_golden(set);
	ck_assert_int_eq(accesses_encode(set, &blob), 0);
	for (size_t i = 0; i < blob.len; i++) {
		struct accesses *other = new_set();
		int err;

		blob.data[i] ^= 1 << unit_random(&state) % 8;
		err = accesses_decode(blob.data, blob.len, other);
		ck_assert_msg(!err || !accesses_seen(other), "seed %llu",
			      (unsigned long long)seed);
		accesses_free(other);
		other = new_set();
		ck_assert_int_ne(accesses_decode(blob.data, i, other), 0);
		ck_assert_uint_eq(accesses_seen(other), 0);
		accesses_free(other);
	}
	buf_fini(&blob);
	accesses_free(set);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("accesses");
	TCase *t = tcase_create("accesses");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, sets_sum_up_windows_and_survive_merging_and_a_blob, 0,
			    NR(shapes));
	tcase_add_test(t, the_order_of_windows_does_not_matter);
	tcase_add_test(t, gaps_between_windows_are_counted_in_accesses);
	tcase_add_test(t, instructions_with_the_fewest_accesses_are_left_out);
	tcase_add_test(t, memory_is_bounded_whatever_runs);
	tcase_add_test(t, threads_that_share_a_line_are_noticed);
	tcase_add_test(t, images_are_translated_or_refused);
	tcase_add_test(t, what_no_window_can_have_is_refused);
	tcase_add_test(t, the_golden_blob_is_read_and_written);
	tcase_add_test(t, a_blob_of_an_older_version_has_no_alignments);
	tcase_add_test(t, a_damaged_blob_changes_nothing);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
