/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>

#include "decode/perffields.h"
#include "t/records/text.h"
#include "t/unit/unit.h"

enum { NO, YES, UNKNOWN };

static int told(const struct hw_record *r, enum hw_flag flag)
{
	return hw_knows(r, flag) ? hw_is(r, flag) : UNKNOWN;
}

#define S PERF_MEM_S

static const struct {
	uint64_t data_src;
	const char *text;
	int load, l1, l2, llc, walk, remote;
	int source; /* -1: unknown */
} sources[] = {
	/* the first three are samples of a recorded Skylake */
	{ 0x11868100242,
	  "|OP LOAD|LVL LFB/MAB or LFB/MAB hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  "
	  "N/A",
	  YES, YES, UNKNOWN, UNKNOWN, NO, UNKNOWN, HW_FROM_FILL_BUFFER },
	{ 0x10268100142,
	  "|OP LOAD|LVL L1 or L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A", YES,
	  NO, NO, NO, NO, NO, HW_FROM_L1 },
	{ S(OP, LOAD) | S(LVL, L3) | S(LVL, HIT) | S(LVLNUM, L3) | S(SNOOP, HITM) |
		  S(TLB, WK) | S(TLB, HIT) | S(LOCK, LOCKED),
	  "|OP LOAD|LVL L3 or L3 hit|SNP HitM|TLB Walker hit|LCK Yes|BLK  N/A", YES,
	  YES, YES, NO, YES, NO, HW_FROM_LOCAL_CACHE },
	{ S(OP, LOAD) | S(LVL, REM_RAM1) | S(LVL, HIT) | S(LVLNUM, RAM) |
		  S(REMOTE, REMOTE) | S(SNOOP, NONE),
	  "|OP LOAD|LVL Remote Remote RAM (1 hop) or RAM hit|SNP None|TLB N/A|LCK "
	  "No|BLK  N/A",
	  YES, YES, YES, YES, UNKNOWN, YES, HW_FROM_FAR_RAM },
	{ S(OP, STORE) | S(LVL, L1) | S(LVL, MISS) | S(TLB, L1) | S(TLB, HIT) |
		  S(BLK, DATA) | S(BLK, ADDR),
	  "|OP STORE|LVL L1 miss|SNP N/A|TLB L1 hit|LCK No|BLK  Data Addr", NO, YES,
	  UNKNOWN, UNKNOWN, NO, UNKNOWN, -1 },
	{ S(OP, NA) | S(LVL, NA) | S(SNOOP, NA) | S(LOCK, NA) | S(TLB, NA) | S(BLK, NA),
	  "|OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A", UNKNOWN, UNKNOWN, UNKNOWN,
	  UNKNOWN, UNKNOWN, UNKNOWN, -1 },
	{ S(OP, LOAD) | S(LVLNUM, ANY_CACHE) | S(REMOTE, REMOTE) | S(HOPS, 2) |
		  S(LVL, HIT) | S(SNOOPX, PEER),
	  "|OP LOAD|LVL Remote socket, same board Any cache hit|SNP Peer|TLB N/A|LCK "
	  "No|BLK  N/A",
	  YES, YES, YES, YES, UNKNOWN, YES, HW_FROM_FAR_CACHE },
};

START_TEST(data_sources_read_as_perf_has_them)
{
	const struct perf_fields f = { .has = PERF_SAMPLE_DATA_SRC,
				       .data_src = sources[_i].data_src };
	struct buf text = { 0 };
	struct hw_record r;

	perf_data_src_text(f.data_src, &text);
	ck_assert_str_eq(buf_str(&text), sources[_i].text);
	buf_fini(&text);
	perf_fields_record(&f, &r);
	ck_assert_int_eq(told(&r, HW_LOAD), sources[_i].load);
	ck_assert_int_eq(told(&r, HW_L1D_MISS), sources[_i].l1);
	ck_assert_int_eq(told(&r, HW_L2_MISS), sources[_i].l2);
	ck_assert_int_eq(told(&r, HW_LLC_MISS), sources[_i].llc);
	ck_assert_int_eq(told(&r, HW_DTLB_WALK), sources[_i].walk);
	ck_assert_int_eq(told(&r, HW_REMOTE), sources[_i].remote);
	ck_assert_int_eq(hw_has(&r, HW_DATA_SOURCE) ? (int)r.value[HW_DATA_SOURCE] : -1,
			 sources[_i].source);
	ck_assert(!hw_knows(&r, HW_RETIRED) && !hw_has(&r, HW_PC));
}
END_TEST

static const struct {
	uint64_t weight;
	bool is_struct, tells_retire;
	int64_t memory, complete, retire; /* -1: unknown */
} weights[] = {
	{ 0x0007001e000000e1, true, false, 225, 30, 7 },
	{ 0, true, false, -1, -1, -1 },
	{ 0, true, true, -1, -1, 0 }, /* retired together with what was before it */
	{ 0xffffffff, true, true, UINT32_MAX, -1, 0 },
	{ UINT64_MAX, false, false, UINT32_MAX, -1, -1 },
	{ 225, false, false, 225, -1, -1 },
	{ 225, false, true, 225, -1, -1 },
};

static int64_t value(const struct hw_record *r, enum hw_value v)
{
	return hw_has(r, v) ? (int64_t)r->value[v] : -1;
}

START_TEST(weights_are_latencies)
{
	const struct perf_fields f = {
		.has = weights[_i].is_struct ? PERF_SAMPLE_WEIGHT_STRUCT
					     : PERF_SAMPLE_WEIGHT,
		.weight = weights[_i].weight,
		.tells_retire = weights[_i].tells_retire,
	};
	struct hw_record r;

	perf_fields_record(&f, &r);
	ck_assert_int_eq(value(&r, HW_MEMORY), weights[_i].memory);
	ck_assert_int_eq(value(&r, HW_DISPATCH_TO_COMPLETE), weights[_i].complete);
	ck_assert_int_eq(value(&r, HW_RETIRE_TO_RETIRE), weights[_i].retire);
}
END_TEST

START_TEST(a_pc_is_taken_of_exact_samples_alone)
{
	struct perf_fields f = { .has = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR |
					PERF_SAMPLE_PHYS_ADDR,
				 .ip = 0x401000,
				 .addr = 0x7000 };
	struct hw_record r;

	perf_fields_record(&f, &r);
	ck_assert(!hw_has(&r, HW_PC) && !hw_knows(&r, HW_RETIRED));
	ck_assert_int_eq(value(&r, HW_DATA_ADDRESS), 0x7000);
	ck_assert_int_eq(value(&r, HW_DATA_PHYSICAL), -1);
	f.exact_ip = true;
	perf_fields_record(&f, &r);
	ck_assert_int_eq(value(&r, HW_PC), 0x401000);
	ck_assert(hw_is(&r, HW_RETIRED));
}
END_TEST

START_TEST(any_word_makes_a_record_and_a_text)
{
	uint64_t seed = unit_seed(), state = seed | 1;

	for (int round = 0; round < 4000; round++) {
		struct perf_fields f = { .has = UINT64_MAX,
					 .weight = unit_random(&state),
					 .data_src = unit_random(&state) };
		struct buf text = { 0 };
		struct hw_record r;

		if (round & 1)
			f.data_src &= unit_random(&state);
		perf_fields_record(&f, &r);
		ck_assert_msg(!(r.is & ~r.known), "seed %#" PRIx64, seed);
		ck_assert(!hw_has(&r, HW_DATA_SOURCE) ||
			  r.value[HW_DATA_SOURCE] < HW_NR_DATA_SOURCES);
		perf_data_src_text(f.data_src, &text);
		ck_assert_ptr_null(strstr(buf_str(&text), "(null)"));
		buf_fini(&text);
	}
}
END_TEST

START_TEST(every_name_is_there_once)
{
	for (int i = 0; i < HW_NR_FLAGS; i++) {
		for (int j = 0; j < i; j++)
			ck_assert_str_ne(hw_flag_str(i), hw_flag_str(j));
	}
	for (int i = 0; i < HW_NR_VALUES; i++) {
		for (int j = 0; j < i; j++)
			ck_assert_str_ne(hw_value_str(i), hw_value_str(j));
	}
	for (int i = 0; i < HW_NR_DATA_SOURCES; i++) {
		for (int j = 0; j < i; j++)
			ck_assert_str_ne(hw_data_source_str(i), hw_data_source_str(j));
	}
	ck_assert_str_eq(hw_flag_str(HW_NR_FLAGS), "?");
	ck_assert_str_eq(hw_value_str(HW_NR_VALUES), "?");
	ck_assert_str_eq(hw_data_source_str(HW_NR_DATA_SOURCES), "?");
	ck_assert(!hw_is_latency(HW_TIMESTAMP) && hw_is_latency(HW_FETCH));
	ck_assert(hw_is_latency(HW_RETIRE_TO_RETIRE) && !hw_is_latency(HW_NR_VALUES));
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("perffields");
	TCase *tc = tcase_create("perffields");

	tcase_add_loop_test(tc, data_sources_read_as_perf_has_them, 0, NR(sources));
	tcase_add_loop_test(tc, weights_are_latencies, 0, NR(weights));
	tcase_add_test(tc, a_pc_is_taken_of_exact_samples_alone);
	tcase_add_test(tc, any_word_makes_a_record_and_a_text);
	tcase_add_test(tc, every_name_is_there_once);
	suite_add_tcase(suite, tc);
	return suite;
}

UNIT_MAIN(make_suite)
