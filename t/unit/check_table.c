/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "kmod/table.h"
#include "t/unit/unit.h"

#define BUCKETS  8
#define OVERFLOW 16
#define KEYS     200

struct fixture {
	struct cpi_bucket buckets[BUCKETS];
	struct cpi_entry overflow[2][OVERFLOW];
	struct cpi_table t;
};

static void fixture_init(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->t.buckets = f->buckets;
	f->t.mask = BUCKETS - 1;
	for (int i = 0; i < 2; i++) {
		f->t.overflow[i].entries = f->overflow[i];
		f->t.overflow[i].cap = OVERFLOW;
	}
}

static uint64_t key_pc(unsigned int key)
{
	return key & 1 ? 0xffffffff81000000ULL + key : 0x401000 + key;
}

static unsigned int key_of(const struct cpi_entry *e)
{
	uint64_t pc = cpi_entry_pc(e);

	return (unsigned int)(pc >> 63 ? pc - 0xffffffff81000000ULL : pc - 0x401000);
}

static void take(const struct cpi_entry *e, uint64_t *counts)
{
	if (!cpi_entry_count(e))
		return;
	ck_assert_uint_lt(key_of(e), KEYS);
	ck_assert_uint_eq(cpi_entry_tgid(e), key_of(e) + 1);
	ck_assert_uint_eq(cpi_entry_generation(e), key_of(e) & 3);
	counts[key_of(e)] += cpi_entry_count(e);
}

static void drain_overflow(struct fixture *f, int which, uint64_t *counts)
{
	for (uint32_t i = 0; i < f->t.overflow[which].nr; i++)
		take(&f->overflow[which][i], counts);
	f->t.overflow[which].nr = 0;
}

static enum cpi_table_result add(struct fixture *f, unsigned int key)
{
	return cpi_table_add(&f->t, cpi_entry_word0(key_pc(key), 0, 0),
			     cpi_entry_who(key + 1, key & 3));
}

/* The reference model: an array of counts. I3 of table.h, key by key. */
START_TEST(counts_agree_with_a_reference_model)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	struct fixture *f = aligned_alloc(64, (sizeof(*f) + 63) / 64 * 64);

	for (int round = 0; round < 50; round++) {
		uint64_t want[KEYS] = { 0 }, got[KEYS] = { 0 };

		fixture_init(f);
		for (int i = 0; i < 5000; i++) {
			/* squared: some keys are hot */
			unsigned int r = unit_random(&state) % KEYS;
			unsigned int key = r * r / KEYS;

			want[key]++;
			if (add(f, key) == CPI_TABLE_FILLED) {
				uint32_t full = f->t.active;

				f->t.active ^= 1;
				drain_overflow(f, full, got);
			}
		}
		drain_overflow(f, 0, got);
		drain_overflow(f, 1, got);
		for (int b = 0; b < BUCKETS; b++) {
			for (int w = 0; w < CPI_TABLE_WAYS; w++)
				take(&f->buckets[b].way[w], got);
		}
		for (int k = 0; k < KEYS; k++)
			ck_assert_msg(got[k] == want[k],
				      "seed %llu, key %d: %llu not %llu",
				      (unsigned long long)seed, k,
				      (unsigned long long)got[k],
				      (unsigned long long)want[k]);
		ck_assert_uint_eq(f->t.dropped, 0);
	}
	free(f);
}
END_TEST

/* Nobody drains: what does not fit is dropped by count, nothing is overrun. */
START_TEST(full_buffers_drop_and_say_how_much)
{
	struct fixture *f = aligned_alloc(64, (sizeof(*f) + 63) / 64 * 64);
	uint64_t kept = 0, counts[KEYS] = { 0 };
	uint64_t state = 42;

	fixture_init(f);
	for (int i = 0; i < 5000; i++)
		add(f, unit_random(&state) % KEYS);
	ck_assert_uint_eq(f->t.overflow[0].nr, OVERFLOW);
	ck_assert_uint_eq(f->t.overflow[1].nr, OVERFLOW);
	drain_overflow(f, 0, counts);
	drain_overflow(f, 1, counts);
	for (int b = 0; b < BUCKETS; b++) {
		for (int w = 0; w < CPI_TABLE_WAYS; w++)
			take(&f->buckets[b].way[w], counts);
	}
	for (int k = 0; k < KEYS; k++)
		kept += counts[k];
	ck_assert_uint_eq(kept + f->t.dropped, 5000);
	ck_assert_uint_gt(f->t.dropped, 0);
	free(f);
}
END_TEST

START_TEST(a_full_count_is_spilled_not_wrapped)
{
	struct fixture *f = aligned_alloc(64, (sizeof(*f) + 63) / 64 * 64);
	uint64_t word0 = cpi_entry_word0(0x1234, 1, CPI_OUTCOME_TAKEN);
	uint64_t who = cpi_entry_who(7, 3);
	struct cpi_entry *e;

	fixture_init(f);
	ck_assert_int_eq(cpi_table_add(&f->t, word0, who), CPI_TABLE_INSERT);
	e = &f->buckets[cpi_table_hash(word0, who) & f->t.mask].way[0];
	e->word1 = who | (uint64_t)CPI_MAX_COUNT << CPI_COUNT_SHIFT;
	ck_assert_int_eq(cpi_table_add(&f->t, word0, who), CPI_TABLE_EVICT);
	ck_assert_uint_eq(cpi_entry_count(e), 1);
	ck_assert_uint_eq(cpi_entry_count(&f->overflow[0][0]), CPI_MAX_COUNT);
	ck_assert_uint_eq(cpi_entry_tgid(&f->overflow[0][0]), 7);
	ck_assert_uint_eq(cpi_entry_generation(&f->overflow[0][0]), 3);
	free(f);
}
END_TEST

/* The common case: one is added in the way that has the key, and nowhere else. */
START_TEST(a_hit_counts_in_its_way_alone)
{
	const uint64_t one = 1ULL << CPI_COUNT_SHIFT;
	struct cpi_bucket b = { 0 }, before;

	for (unsigned int i = 0; i < CPI_TABLE_WAYS; i++) {
		b.way[i].word0 = cpi_entry_word0(key_pc(i), 0, 0);
		b.way[i].word1 = cpi_entry_who(7, i & 3) | (i + 1) * one;
	}
	for (unsigned int i = 0; i < CPI_TABLE_WAYS; i++) {
		before = b;
		ck_assert_int_eq(
			cpi_table_hit(&b, b.way[i].word0, cpi_entry_who(7, i & 3)), 1);
		before.way[i].word1 += one;
		ck_assert_mem_eq(&b, &before, sizeof(b));
		ck_assert_int_eq(
			cpi_table_hit(&b, b.way[i].word0, cpi_entry_who(8, i & 3)), 0);
		ck_assert_int_eq(cpi_table_hit(&b, cpi_entry_word0(key_pc(i), 1, 0),
					       cpi_entry_who(7, i & 3)),
				 0);
		ck_assert_mem_eq(&b, &before, sizeof(b));
	}
}
END_TEST

/* The idle task's first sample is an entry like others, although its key word is 0. */
START_TEST(an_entry_of_process_0_is_kept)
{
	const uint64_t word0 = cpi_entry_word0(key_pc(1), 0, 0);
	struct cpi_bucket b = { .way[0] = { word0, 1ULL << CPI_COUNT_SHIFT } };
	struct cpi_entry evicted;
	uint32_t next = 0;

	ck_assert_int_eq(cpi_table_place(&b, word0, cpi_entry_who(7, 1), &next,
					 &evicted),
			 CPI_TABLE_INSERT);
	ck_assert_uint_eq(cpi_entry_count(&b.way[0]), 1);
	ck_assert_uint_eq(cpi_entry_tgid(&b.way[0]), 0);
	ck_assert_uint_eq(cpi_entry_tgid(&b.way[1]), 7);
}
END_TEST

/* A huge count is not a common case, but it still grows in its place. */
START_TEST(a_huge_count_grows_in_its_place)
{
	const uint64_t word0 = cpi_entry_word0(key_pc(2), 0, 0),
		       who = cpi_entry_who(7, 1);
	struct cpi_bucket b = { .way[1] = { word0,
					    who | 0xfffffffeULL << CPI_COUNT_SHIFT } };
	struct cpi_entry evicted;
	uint32_t next = 0;

	ck_assert_int_eq(cpi_table_hit(&b, word0, who), 0);
	ck_assert_int_eq(cpi_table_place(&b, word0, who, &next, &evicted),
			 CPI_TABLE_HIT);
	ck_assert_uint_eq(cpi_entry_count(&b.way[1]), 0xffffffff);
	ck_assert_uint_eq(next, 0);
}
END_TEST

/* Evictions go to the other buffer when one is full, in both directions; then to lost.
 */
START_TEST(a_full_buffer_gives_way_to_the_other_one)
{
	struct fixture *f = aligned_alloc(64, (sizeof(*f) + 63) / 64 * 64);
	const struct cpi_entry e = { .word0 = cpi_entry_word0(0x1234, 5, 0),
				     .word1 = cpi_entry_who(7, 3) |
					      9ULL << CPI_COUNT_SHIFT };
	uint64_t lost[CPI_MAX_EVENTS] = { 0 };

	fixture_init(f);
	f->t.lost = lost;
	for (uint32_t from = 0; from < 2; from++) {
		f->t.active = from;
		f->t.overflow[from].nr = OVERFLOW;
		f->t.overflow[from ^ 1].nr = 0;
		ck_assert_int_eq(cpi_table_spill(&f->t, &e), CPI_TABLE_EVICT);
		ck_assert_uint_eq(f->t.active, from ^ 1);
		ck_assert_uint_eq(f->t.overflow[from ^ 1].nr, 1);
	}
	ck_assert_uint_eq(lost[5], 0);
	f->t.overflow[0].nr = f->t.overflow[1].nr = OVERFLOW;
	for (unsigned int i = 1; i < 3; i++) {
		ck_assert_int_eq(cpi_table_spill(&f->t, &e), CPI_TABLE_DROPPED);
		ck_assert_uint_eq(lost[5], 9 * i);
		ck_assert_uint_eq(f->t.dropped, 9 * i);
	}
	free(f);
}
END_TEST

/* SOSP'97 4.2.1: "chosen using a mod-4 counter that is incremented on each eviction".
 */
START_TEST(eviction_goes_round_robin)
{
	struct fixture *f = aligned_alloc(64, (sizeof(*f) + 63) / 64 * 64);
	unsigned int evicted[2 * CPI_TABLE_WAYS];
	unsigned int key = 0, nr = 0;

	fixture_init(f);
	f->t.mask = 0; /* one bucket */
	while (nr < NR(evicted)) {
		if (add(f, key++) == CPI_TABLE_EVICT) {
			evicted[nr] = key_of(&f->overflow[0][nr]);
			nr++;
		}
	}
	for (unsigned int i = 0; i < NR(evicted); i++)
		ck_assert_uint_eq(evicted[i], i);
	free(f);
}
END_TEST

START_TEST(a_bucket_is_one_cache_line)
{
	ck_assert_uint_eq(sizeof(struct cpi_bucket), 64);
	ck_assert_uint_eq(_Alignof(struct cpi_bucket), 64);
	ck_assert_uint_eq(sizeof(struct cpi_table), 64);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("table");
	TCase *tc = tcase_create("table");

	tcase_add_test(tc, counts_agree_with_a_reference_model);
	tcase_add_test(tc, full_buffers_drop_and_say_how_much);
	tcase_add_test(tc, a_full_count_is_spilled_not_wrapped);
	tcase_add_test(tc, a_hit_counts_in_its_way_alone);
	tcase_add_test(tc, an_entry_of_process_0_is_kept);
	tcase_add_test(tc, a_huge_count_grows_in_its_place);
	tcase_add_test(tc, a_full_buffer_gives_way_to_the_other_one);
	tcase_add_test(tc, eviction_goes_round_robin);
	tcase_add_test(tc, a_bucket_is_one_cache_line);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
