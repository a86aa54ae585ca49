/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/collect/entries.h"

#include <string.h>

#include "t/unit/unit.h"

static struct cpi_entry entry(uint64_t pc, uint32_t tgid, unsigned int generation,
			      uint64_t count)
{
	return (struct cpi_entry){
		.word0 = cpi_entry_word0(pc, 0, CPI_OUTCOME_NONE),
		.word1 = cpi_entry_who(tgid, generation) | count << CPI_COUNT_SHIFT,
	};
}

START_TEST(each_process_is_met_once_and_its_addresses_rise)
{
	struct cpi_entry e[] = {
		entry(0xffffffff81000000, 7, 1, 1), entry(0x400000, 9, 0, 2),
		entry(0x500000, 7, 1, 3),           entry(0x400000, 7, 2, 4),
		entry(0x400000, 9, 0, 5),           entry(0x400000, 7, 1, 6),
	};
	struct cpi_entry spare[NR(e)];
	const struct cpi_entry want[] = {
		entry(0x400000, 7, 1, 6),           entry(0x500000, 7, 1, 3),
		entry(0xffffffff81000000, 7, 1, 1), entry(0x400000, 7, 2, 4),
		entry(0x400000, 9, 0, 7),
	};

	ck_assert_uint_eq(entries_sort(e, spare, NR(e)), NR(want));
	ck_assert_mem_eq(e, want, sizeof(want));
}
END_TEST

START_TEST(none_are_none)
{
	ck_assert_uint_eq(entries_sort(NULL, NULL, 0), 0);
}
END_TEST

static const struct {
	uint64_t a, b;
	size_t nr;
} sums[] = {
	{ CPI_MAX_COUNT - 1, 1, 1 }, /* just fits */
	{ CPI_MAX_COUNT, 1, 2 },
	{ CPI_MAX_COUNT, CPI_MAX_COUNT, 2 },
};

START_TEST(a_sum_that_does_not_fit_stays_in_two)
{
	struct cpi_entry e[] = { entry(1, 2, 3, sums[_i].a),
				 entry(1, 2, 3, sums[_i].b) };
	struct cpi_entry spare[2];
	uint64_t n = 0;

	ck_assert_uint_eq(entries_sort(e, spare, 2), sums[_i].nr);
	for (size_t i = 0; i < sums[_i].nr; i++)
		n += cpi_entry_count(&e[i]);
	ck_assert_uint_eq(n, sums[_i].a + sums[_i].b);
}
END_TEST

#define NR_RANDOM 2000

static bool same_key(const struct cpi_entry *a, const struct cpi_entry *b)
{
	return a->word0 == b->word0 && (uint32_t)a->word1 == (uint32_t)b->word1;
}

static uint64_t count_of(const struct cpi_entry *e, size_t nr,
			 const struct cpi_entry *key)
{
	uint64_t n = 0;

	for (size_t i = 0; i < nr; i++)
		n += same_key(&e[i], key) ? cpi_entry_count(&e[i]) : 0;
	return n;
}

/* By process, generation, event, address, outcome, as one compares by hand. */
static bool in_order(const struct cpi_entry *a, const struct cpi_entry *b)
{
	const uint64_t x[] = { cpi_entry_tgid(a), cpi_entry_generation(a),
			       cpi_entry_event(a), a->word0 << 7 >> 7,
			       cpi_entry_outcome(a) };
	const uint64_t y[] = { cpi_entry_tgid(b), cpi_entry_generation(b),
			       cpi_entry_event(b), b->word0 << 7 >> 7,
			       cpi_entry_outcome(b) };

	for (size_t i = 0; i < NR(x); i++) {
		if (x[i] != y[i])
			return x[i] < y[i];
	}
	return true;
}

/* Few keys, so that most come again; events and outcomes differ, too. */
START_TEST(every_key_keeps_its_count_and_comes_once)
{
	uint64_t seed = unit_seed(), random = seed | 1;
	struct cpi_entry before[NR_RANDOM], after[NR_RANDOM], spare[NR_RANDOM];
	size_t nr;

	for (size_t i = 0; i < NR_RANDOM; i++) {
		uint64_t r = unit_random(&random);

		before[i].word0 = cpi_entry_word0((r & 7) << (r >> 48 & 3) * 16,
						  r >> 8 & 1, r >> 16 & 3);
		before[i].word1 = cpi_entry_who(r >> 24 & 3, r >> 32 & 3) |
				  (1 + (r >> 40 & 0xff)) << CPI_COUNT_SHIFT;
	}
	memcpy(after, before, sizeof(after));
	nr = entries_sort(after, spare, NR_RANDOM);
	for (size_t i = 0; i < NR_RANDOM; i++) {
		if (count_of(before, NR_RANDOM, &before[i]) !=
		    count_of(after, nr, &before[i]))
			ck_abort_msg("seed %llu: entry %zu", (unsigned long long)seed,
				     i);
	}
	for (size_t i = 1; i < nr; i++) {
		if (same_key(&after[i - 1], &after[i]) ||
		    !in_order(&after[i - 1], &after[i]))
			ck_abort_msg("seed %llu: order at %zu",
				     (unsigned long long)seed, i);
	}
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("entries");
	TCase *tc = tcase_create("sort");

	tcase_add_test(tc, each_process_is_met_once_and_its_addresses_rise);
	tcase_add_test(tc, none_are_none);
	tcase_add_loop_test(tc, a_sum_that_does_not_fit_stays_in_two, 0, NR(sums));
	tcase_add_test(tc, every_key_keeps_its_count_and_comes_once);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
