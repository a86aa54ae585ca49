/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An AUX area and its ring, as a kernel would fill them, and what becomes of it. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/collect/spelive.h"
#include "t/unit/unit.h"

#define AREA 4096 /* small, so that it goes round */
#define RING 4096

struct machine {
	struct auxarea a;
	struct perf_event_mmap_page meta;
	uint8_t ring[RING], area[AREA];
	uint64_t written; /* into the area */
};

struct got {
	uint64_t nr, sum, first_ns, last_ns, lost[NR_LOSSES];
	uint32_t pid;
};

static void open_machine(struct machine *m)
{
	memset(m, 0, sizeof(*m));
	m->a = (struct auxarea){
		.ring = { .meta = &m->meta,
			  .data = m->ring,
			  .size = RING,
			  .wrapped = malloc(65536) },
		.area = m->area,
		.size = AREA,
		.told_ns = 10,
	};
}

static void write_area(struct machine *m, const void *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		m->area[m->written++ & (AREA - 1)] = ((const uint8_t *)data)[i];
}

/* A PC, a context where tid is not 0, and a timestamp. */
static void write_record(struct machine *m, uint64_t pc, uint32_t tid)
{
	uint8_t data[32], *at = data;

	*at++ = 0xb0;
	memcpy(at, &pc, 8);
	at += 8;
	if (tid) {
		*at++ = 0x64;
		memcpy(at, &tid, 4);
		at += 4;
	}
	*at++ = 0x71;
	memset(at, 9, 8);
	write_area(m, data, (size_t)(at + 8 - data));
}

static void write_ring(struct machine *m, const void *record, size_t size)
{
	for (size_t i = 0; i < size; i++)
		m->ring[(m->meta.data_head + i) & (RING - 1)] =
			((const uint8_t *)record)[i];
	m->meta.data_head += size;
}

static void tell(struct machine *m, uint64_t from, uint64_t flags, uint64_t time_ns)
{
	const struct {
		struct perf_event_header header;
		uint64_t offset, size, flags;
		uint32_t pid, tid;
		uint64_t time_ns;
	} record = { { PERF_RECORD_AUX, 0, sizeof(record) },
		     from,
		     m->written - from,
		     flags,
		     42,
		     43,
		     time_ns };

	write_ring(m, &record, sizeof(record));
}

static void take(void *ctx, const struct auxarea_sample *s)
{
	struct got *g = ctx;

	g->nr++;
	g->sum = g->sum * 31 + s->hw->value[HW_PC];
	g->first_ns = s->from_ns;
	g->last_ns = s->to_ns;
	g->pid = s->pid;
}

static void lost(void *ctx, enum loss loss, uint64_t n)
{
	struct got *g = ctx;

	g->lost[loss] += n;
}

static void drain(struct machine *m, struct got *g)
{
	const struct auxarea_owner owner = { take, lost, g };

	auxarea_snapshot(&m->a, false);
	auxarea_drain(&m->a, &owner);
}

START_TEST(an_area_that_goes_round_gives_all_that_it_was_told_of)
{
	uint64_t seed = unit_seed(), state = seed | 1, nr = 0, sum = 0, told = 0;
	struct got got = { 0 };
	struct machine m;

	open_machine(&m);
	for (uint64_t round = 1; round < 500; round++) {
		for (uint64_t i = unit_random(&state) % 100; i; i--, nr++) {
			sum = sum * 31 + 0x1000 + nr;
			write_record(&m, 0x1000 + nr, 7);
		}
		tell(&m, told, 0, 100 * round);
		told = m.written;
		drain(&m, &got);
		ck_assert_msg(got.nr == nr && got.sum == sum, "seed %#" PRIx64, seed);
		ck_assert_uint_eq(m.meta.aux_tail, told);
		ck_assert_uint_eq(m.meta.data_tail, m.meta.data_head);
	}
	ck_assert_uint_gt(m.written, 10 * AREA);
	ck_assert_uint_eq(got.pid, 42);
	for (int i = 0; i < NR_LOSSES; i++)
		ck_assert_uint_eq(got.lost[i], 0);
	free(m.a.ring.wrapped);
}
END_TEST

START_TEST(a_sample_is_between_the_records_that_told)
{
	struct got got = { 0 };
	struct machine m;

	open_machine(&m);
	write_record(&m, 1, 0);
	tell(&m, 0, 0, 100);
	drain(&m, &got);
	ck_assert_uint_eq(got.first_ns, 10);
	ck_assert_uint_eq(got.last_ns, 100);
	write_record(&m, 2, 0);
	tell(&m, m.meta.aux_tail, 0, 250);
	drain(&m, &got);
	ck_assert_uint_eq(got.first_ns, 100);
	ck_assert_uint_eq(got.last_ns, 250);
	free(m.a.ring.wrapped);
}
END_TEST

static const struct {
	uint64_t flags;
	uint64_t truncated, collision, partial;
} flags[] = {
	{ 0, 0, 0, 0 },
	{ PERF_AUX_FLAG_TRUNCATED, 1, 0, 0 },
	{ PERF_AUX_FLAG_COLLISION, 0, 1, 0 },
	{ PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_TRUNCATED, 1, 0, 1 },
	{ PERF_AUX_FLAG_OVERWRITE, 0, 0, 0 },
};

START_TEST(flags_are_losses_by_name)
{
	struct got got = { 0 };
	struct machine m;

	open_machine(&m);
	write_record(&m, 1, 0);
	tell(&m, 0, flags[_i].flags, 100);
	drain(&m, &got);
	ck_assert_uint_eq(got.nr, 1);
	ck_assert_uint_eq(got.lost[SAMPLE_AUX_TRUNCATED], flags[_i].truncated);
	ck_assert_uint_eq(got.lost[SAMPLE_AUX_COLLISION], flags[_i].collision);
	ck_assert_uint_eq(got.lost[SAMPLE_AUX_PARTIAL], flags[_i].partial);
	ck_assert_uint_eq(got.lost[SAMPLE_AUX_DAMAGED], 0);
	free(m.a.ring.wrapped);
}
END_TEST

START_TEST(a_part_that_nobody_told_of_is_lost_by_name)
{
	struct got got = { 0 };
	struct machine m;

	open_machine(&m);
	write_record(&m, 1, 0);
	tell(&m, 0, 0, 100);
	write_record(&m, 2, 0);
	write_record(&m, 3, 0);
	tell(&m, m.written - 18, 0, 300);
	drain(&m, &got);
	ck_assert_uint_eq(got.nr, 2);
	ck_assert_uint_eq(got.lost[SAMPLE_AUX_PARTIAL], 1);
	free(m.a.ring.wrapped);
}
END_TEST

START_TEST(bytes_that_are_no_records_are_lost_by_name)
{
	const uint8_t timestamp[] = { 0x71, 1, 2, 3, 4, 5, 6, 7, 8 }, no_packet = 0xff;
	struct got got = { 0 };
	struct machine m;

	open_machine(&m);
	write_record(&m, 1, 0);
	write_area(&m, &no_packet, 1);
	write_area(&m, timestamp, sizeof(timestamp));
	write_area(&m, timestamp, sizeof(timestamp)); /* a record without a PC */
	write_record(&m, 2, 0);
	tell(&m, 0, 0, 100);
	drain(&m, &got);
	ck_assert_uint_eq(got.nr, 2);
	ck_assert_uint_eq(got.lost[SAMPLE_AUX_DAMAGED], 2);
	free(m.a.ring.wrapped);
}
END_TEST

/* Whatever the record says, nothing is read that is not the area's. */
START_TEST(records_that_cannot_be_are_passed_over)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	struct got got = { 0 };
	struct machine m;

	open_machine(&m);
	for (int round = 0; round < 3000; round++) {
		uint64_t record[16];
		struct perf_event_header h = { PERF_RECORD_AUX, 0,
					       8 + 8 * (unit_random(&state) % 15) };

		for (int i = 0; i < 16; i++)
			record[i] = unit_random(&state) >> (unit_random(&state) % 64);
		memcpy(record, &h, sizeof(h));
		write_ring(&m, record, h.size);
		for (int i = 0; i < 64; i++)
			m.area[unit_random(&state) % AREA] = unit_random(&state);
		drain(&m, &got);
		ck_assert_msg(m.meta.data_tail == m.meta.data_head, "seed %#" PRIx64,
			      seed);
	}
	free(m.a.ring.wrapped);
}
END_TEST

static const struct {
	bool branch, conditional, knows_taken, taken;
	enum cpi_outcome outcome;
} outcomes[] = {
	{ false, false, false, false, CPI_OUTCOME_NONE },
	{ true, false, true, true, CPI_OUTCOME_NONE },
	{ true, true, false, false, CPI_OUTCOME_NONE },
	{ true, true, true, true, CPI_OUTCOME_TAKEN },
	{ true, true, true, false, CPI_OUTCOME_NOT_TAKEN },
};

START_TEST(a_conditional_branch_says_where_it_went)
{
	struct hw_record hw = { 0 };

	hw_tell(&hw, HW_BRANCH, outcomes[_i].branch);
	if (outcomes[_i].branch)
		hw_tell(&hw, HW_CONDITIONAL, outcomes[_i].conditional);
	if (outcomes[_i].knows_taken)
		hw_tell(&hw, HW_TAKEN, outcomes[_i].taken);
	ck_assert_int_eq(spelive_outcome(&hw), outcomes[_i].outcome);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("spelive");
	TCase *tc = tcase_create("area");

	tcase_add_test(tc, an_area_that_goes_round_gives_all_that_it_was_told_of);
	tcase_add_test(tc, a_sample_is_between_the_records_that_told);
	tcase_add_loop_test(tc, flags_are_losses_by_name, 0, NR(flags));
	tcase_add_test(tc, a_part_that_nobody_told_of_is_lost_by_name);
	tcase_add_test(tc, bytes_that_are_no_records_are_lost_by_name);
	tcase_add_test(tc, records_that_cannot_be_are_passed_over);
	tcase_add_loop_test(tc, a_conditional_branch_says_where_it_went, 0,
			    NR(outcomes));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
