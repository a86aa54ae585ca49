/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_seal.c - taking buffers and table away from a handler that nothing stops
 *
 * The handler runs, or does not, at every point of a step where an NMI could
 * make a difference.
 */
#include "config.h"

static void interrupt(void);
#define CPI_SEAL_POINT() interrupt()

#include <string.h>

#include "kmod/seal.h"
#include "t/unit/unit.h"

#define BUCKETS  8
#define OVERFLOW 16
#define KEYS     150

/* The compiled-in handler's view, and what the reader has seen. */
static struct {
	struct cpi_bucket buckets[BUCKETS];
	struct cpi_entry overflow[2][OVERFLOW + 1]; /* the last one is never written */
	struct cpi_table t;
	uint64_t lost[CPI_MAX_EVENTS];
	uint64_t state;
	int direct;
	int rate; /* samples per interruption, at most */
	uint64_t received, read;
} m;

/* What the module's handler does with a sample. */
static void sample(unsigned int key)
{
	uint64_t word0 = cpi_entry_word0(0x1000 + key, key % 3, 0);
	uint64_t who = cpi_entry_who(key, 0);

	m.received++;
	if (m.direct) {
		struct cpi_entry e = { word0, who | 1ULL << CPI_COUNT_SHIFT };

		cpi_table_spill(&m.t, &e);
	} else {
		cpi_table_add(&m.t, word0, who);
	}
}

static void interrupt(void)
{
	for (int n = m.rate ? unit_random(&m.state) % m.rate : 0; n > 0; n--)
		sample(unit_random(&m.state) % KEYS);
}

static void machine_init(uint64_t seed, int rate)
{
	memset(&m, 0, sizeof(m));
	m.state = seed | 1;
	m.rate = rate;
	m.t.buckets = m.buckets;
	m.t.mask = BUCKETS - 1;
	m.t.lost = m.lost;
	for (int i = 0; i < 2; i++) {
		m.t.overflow[i].entries = m.overflow[i];
		m.t.overflow[i].cap = OVERFLOW;
	}
}

/* The reader is slow: the handler runs before it looks, and while it does. */
static void read_entries(unsigned int which, uint32_t nr)
{
	ck_assert_uint_le(nr, OVERFLOW);
	for (uint32_t i = 0; i < nr; i++) {
		const struct cpi_entry *e = &m.overflow[which][i];

		ck_assert_uint_gt(cpi_entry_count(e), 0);
		ck_assert_uint_lt(cpi_entry_tgid(e), KEYS);
		ck_assert_uint_eq(cpi_entry_pc(e), 0x1000 + cpi_entry_tgid(e));
		m.read += cpi_entry_count(e);
		if (i % 4 == 0)
			interrupt();
	}
}

static void read_buffer(unsigned int which, uint32_t nr)
{
	read_entries(which, nr);
	cpi_seal_release(&m.t, which);
}

static void drain_full(void)
{
	unsigned int which;
	uint32_t nr;

	for (int i = 0; i < 4 && (nr = cpi_seal_take(&m.t, 0, &which)); i++)
		read_buffer(which, nr);
}

/* One part of the table, into a buffer that was taken. */
static void sweep_part(unsigned int which, uint32_t *cursor)
{
	uint32_t nr;

	m.direct = 1;
	interrupt();
	nr = cpi_seal_sweep(&m.t, cursor, m.overflow[which], OVERFLOW);
	interrupt();
	m.direct = 0;
	read_buffer(which, nr);
}

/* As the module does it: after a buffer that the handler filled, a part of the table.
 */
static void sweep(void)
{
	uint32_t cursor = 0, nr;
	unsigned int which;

	while (cursor <= m.t.mask) {
		nr = cpi_seal_take_idle(&m.t, &which);
		if (nr)
			read_entries(which, nr);
		sweep_part(which, &cursor);
	}
	nr = cpi_seal_take(&m.t, 1, &which);
	if (nr)
		read_buffer(which, nr);
}

static uint64_t left(void)
{
	uint64_t n = 0;

	for (int b = 0; b < BUCKETS; b++) {
		for (int w = 0; w < CPI_TABLE_WAYS; w++)
			n += cpi_entry_count(&m.buckets[b].way[w]);
	}
	for (int i = 0; i < 2; i++) {
		for (uint32_t j = 0; j < m.t.overflow[i].nr; j++)
			n += cpi_entry_count(&m.overflow[i][j]);
	}
	return n;
}

static void check_accounts(uint64_t seed)
{
	uint64_t lost = 0;

	for (int i = 0; i < 2; i++)
		ck_assert_msg(!m.overflow[i][OVERFLOW].word1,
			      "seed %llu: written past the end",
			      (unsigned long long)seed);
	for (unsigned int i = 0; i < CPI_MAX_EVENTS; i++)
		lost += m.lost[i];
	ck_assert_uint_eq(lost, m.t.dropped);
	ck_assert_msg(m.received == m.read + lost + left(),
		      "seed %llu: %llu received, %llu read, %llu lost, %llu left",
		      (unsigned long long)seed, (unsigned long long)m.received,
		      (unsigned long long)m.read, (unsigned long long)lost,
		      (unsigned long long)left());
}

/* From a quiet machine to one that fills both buffers in a single step. */
static const int rates[] = { 1, 2, 4, 8, 40 };

START_TEST(no_sample_is_lost_or_counted_twice_by_a_handler_amid_a_flush)
{
	uint64_t seed = unit_seed();

	for (int round = 0; round < 300; round++) {
		machine_init(seed + round, rates[_i]);
		for (int i = 0; i < 40; i++) {
			interrupt();
			if (unit_random(&m.state) % 4)
				drain_full();
			else
				sweep();
			check_accounts(seed + round);
		}
	}
}
END_TEST

START_TEST(a_sweep_without_a_handler_leaves_nothing_behind)
{
	uint64_t seed = unit_seed();

	for (int round = 0; round < 100; round++) {
		machine_init(seed + round, 0);
		for (int i = 0; i < 30; i++)
			sample(unit_random(&m.state) % KEYS);
		sweep();
		ck_assert_uint_eq(left(), 0);
		ck_assert_uint_eq(m.t.dropped, 0);
		ck_assert_uint_eq(m.read, 30);
	}
}
END_TEST

START_TEST(the_active_buffer_may_be_drained_when_both_are_full)
{
	unsigned int which;
	uint32_t nr;

	machine_init(unit_seed(), 0);
	for (int i = 0; i < 5000; i++)
		sample(unit_random(&m.state) % KEYS);
	ck_assert_uint_gt(m.t.dropped, 0);
	for (int i = 0; i < 2; i++) {
		nr = cpi_seal_take(&m.t, 0, &which);
		ck_assert_uint_eq(nr, OVERFLOW);
		m.rate = 40;
		read_buffer(which, nr);
		m.rate = 0;
	}
	check_accounts(0);
}
END_TEST

START_TEST(nothing_is_taken_from_an_idle_machine)
{
	unsigned int which;

	machine_init(1, 0);
	ck_assert_uint_eq(cpi_seal_take(&m.t, 0, &which), 0);
	ck_assert_uint_eq(cpi_seal_take(&m.t, 1, &which), 0);
	ck_assert_uint_eq(m.t.overflow[0].nr, 0);
	ck_assert_uint_eq(m.t.overflow[1].nr, 0);
}
END_TEST

/* Every state of two buffers, against what seal.h says of cpi_seal_take(). */
START_TEST(a_buffer_is_taken_if_it_has_entries_and_may_be_taken)
{
	static const uint32_t nrs[] = { 0, 1, OVERFLOW - 1, OVERFLOW };
	const unsigned int active = _i & 1, idle = active ^ 1;
	const int swap = _i >> 1 & 1;
	const uint32_t in_idle = nrs[_i >> 2 & 3], in_active = nrs[_i >> 4 & 3];
	unsigned int which, want_active = active, want_which = idle;
	uint32_t want = in_idle;

	machine_init(1, 0);
	m.t.active = active;
	m.t.overflow[idle].nr = in_idle;
	m.t.overflow[active].nr = in_active;
	if (!in_idle && (swap || in_active == OVERFLOW)) {
		want = in_active;
		want_which = active;
		want_active = idle;
	}
	ck_assert_uint_eq(cpi_seal_take(&m.t, swap, &which), want);
	if (want) { /* what is taken looks full */
		ck_assert_uint_eq(which, want_which);
		ck_assert_uint_eq(m.t.overflow[which].nr, OVERFLOW);
	}
	if (!want || want_which == idle)
		ck_assert_uint_eq(m.t.overflow[active].nr, in_active);
	if (!want || want_which == active)
		ck_assert_uint_eq(m.t.overflow[idle].nr, 0);
	ck_assert_uint_eq(m.t.active, want_active);
}
END_TEST

/* Slots with holes, and every size of the output. */
START_TEST(a_sweep_moves_whole_buckets_that_fit)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	struct cpi_entry out[CPI_TABLE_WAYS * BUCKETS], want[NR(out)];

	for (int round = 0; round < 500; round++) {
		const uint32_t cap = unit_random(&state) % (NR(out) + 1);
		uint32_t bucket = unit_random(&state) % BUCKETS, first = bucket, nr;

		machine_init(seed + round, 0);
		for (int b = 0; b < BUCKETS; b++)
			for (uint64_t w = 0; w < CPI_TABLE_WAYS; w++)
				m.buckets[b].way[w] = (struct cpi_entry){
					unit_random(&state),
					unit_random(&state) % 2 << CPI_COUNT_SHIFT | w
				};
		nr = 0;
		for (uint32_t b = first; b < BUCKETS && nr + CPI_TABLE_WAYS <= cap; b++)
			for (int w = 0; w < CPI_TABLE_WAYS; w++)
				if (cpi_entry_count(&m.buckets[b].way[w]))
					want[nr++] = m.buckets[b].way[w];
		ck_assert_msg(cpi_seal_sweep(&m.t, &bucket, out, cap) == nr,
			      "seed %llu, round %d", (unsigned long long)seed, round);
		ck_assert_mem_eq(out, want, nr * sizeof(*out));
		for (uint32_t b = 0; b < BUCKETS; b++)
			for (int w = 0; w < CPI_TABLE_WAYS; w++)
				if (b >= first && b < bucket)
					ck_assert_uint_eq(cpi_entry_count(
								  &m.buckets[b].way[w]),
							  0);
		ck_assert(bucket == BUCKETS || nr + CPI_TABLE_WAYS > cap);
	}
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("seal");
	TCase *t = tcase_create("seal");

	tcase_set_timeout(t, 600);
	tcase_add_loop_test(
		t, no_sample_is_lost_or_counted_twice_by_a_handler_amid_a_flush, 0,
		NR(rates));
	tcase_add_test(t, a_sweep_without_a_handler_leaves_nothing_behind);
	tcase_add_test(t, the_active_buffer_may_be_drained_when_both_are_full);
	tcase_add_test(t, nothing_is_taken_from_an_idle_machine);
	tcase_add_loop_test(t, a_buffer_is_taken_if_it_has_entries_and_may_be_taken, 0,
			    64);
	tcase_add_test(t, a_sweep_moves_whole_buckets_that_fit);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(suite)
