/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_sample.c - the kernel's samples of each kind of event
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "daemon/collect/sample.h"
#include "daemon/os/arch.h"
#include "t/unit/unit.h"

#define MAX_WORDS 64

struct made {
	struct perf_event_header header;
	uint64_t word[MAX_WORDS];
};

static void add(struct made *m, uint64_t word)
{
	m->word[(m->header.size - sizeof(m->header)) / 8] = word;
	m->header.size += 8;
}

/* IP, TID and TIME, as all of them begin. */
static struct made begin(bool with_id, uint16_t misc)
{
	struct made m = { .header = { PERF_RECORD_SAMPLE, misc, sizeof(m.header) } };

	if (with_id)
		add(&m, 77);
	add(&m, 0x401000);
	add(&m, 12 | 13ULL << 32);
	add(&m, 1234567);
	return m;
}

static void add_regs(struct made *m)
{
	add(m, PERF_SAMPLE_REGS_ABI_64);
	for (int i = __builtin_popcountll(arch_native.regs_mask); i > 0; i--)
		add(m, 100 + i);
}

/* The registers of an IBS op, a taken branch, behind their size and capabilities. */
static void add_ibs(struct made *m, uint64_t ctl)
{
	const uint64_t reg[8] = { ctl, 0x402000, 5 | 9 << 16 | 1ULL << 35 | 1ULL << 37,
				  0,   0,        0,
				  0,   0x403000 };
	const uint32_t caps = IBS_CAP_BRANCH_TARGET;
	uint32_t size = sizeof(caps) + sizeof(reg);

	add(m, size | (uint64_t)caps << 32);
	for (size_t i = 0; i < NR(reg); i++)
		add(m, reg[i]);
}

static const struct event plain = { .name = "cycles" };
static const struct event ibs_op = { .name = "ibs_op", .record = EVENT_RECORDS_IBS_OP };
static const struct event pebs = { .name = "cycles:pp",
				   .record = EVENT_RECORDS_PEBS,
				   .weight_type = PERF_SAMPLE_WEIGHT_STRUCT };

static void check_head(const struct sample *s)
{
	ck_assert_uint_eq(s->pid, 12);
	ck_assert_uint_eq(s->time_ns, 1234567);
}

START_TEST(a_plain_sample_has_a_pc_and_registers)
{
	struct made m = begin(_i, 0);
	struct sample s;

	add_regs(&m);
	ck_assert_int_eq(sample_read(&plain, _i, &m.header, &s), 0);
	check_head(&s);
	ck_assert_uint_eq(s.pc, 0x401000);
	ck_assert(!s.has_hw);
	if (arch_native.regs_mask)
		ck_assert_uint_eq(s.regs[0],
				  100 + __builtin_popcountll(arch_native.regs_mask));
}
END_TEST

START_TEST(a_kernel_thread_has_no_registers)
{
	struct made m = begin(false, 0);
	struct sample s;

	add(&m, PERF_SAMPLE_REGS_ABI_NONE);
	ck_assert_int_eq(sample_read(&plain, false, &m.header, &s), 0);
	ck_assert_ptr_null(s.regs);
}
END_TEST

START_TEST(an_op_is_at_the_pc_that_the_hardware_recorded)
{
	struct made m = begin(_i, 0);
	struct sample s;

	add_ibs(&m, 3 << 17);
	ck_assert_int_eq(sample_read(&ibs_op, _i, &m.header, &s), 0);
	check_head(&s);
	ck_assert(s.has_hw);
	ck_assert_uint_eq(s.pc, 0x402000);
	ck_assert(hw_is(&s.hw, HW_BRANCH) && hw_is(&s.hw, HW_TAKEN));
	ck_assert_uint_eq(s.hw.value[HW_TARGET], 0x403000);
	ck_assert_ptr_null(s.regs);
}
END_TEST

START_TEST(registers_that_are_not_valid_leave_the_interrupts_pc)
{
	struct made m = begin(false, 0);
	struct sample s;

	add_ibs(&m, 1 << 17);
	ck_assert_int_eq(sample_read(&ibs_op, false, &m.header, &s), 0);
	ck_assert(!s.has_hw);
	ck_assert_uint_eq(s.pc, 0x401000);
}
END_TEST

START_TEST(a_precise_sample_tells_of_its_access)
{
	struct made m = begin(false, PERF_RECORD_MISC_EXACT_IP);
	struct sample s;

	add(&m, 0x7000);
	add(&m, 225 | 30ULL << 32 | 7ULL << 48);
	add(&m, 0x10268100142); /* a hit in the first level */
	add_regs(&m);
	ck_assert_int_eq(sample_read(&pebs, false, &m.header, &s), 0);
	check_head(&s);
	ck_assert(s.has_hw && hw_is(&s.hw, HW_RETIRED) && hw_is(&s.hw, HW_LOAD));
	ck_assert_uint_eq(s.hw.value[HW_DATA_ADDRESS], 0x7000);
	ck_assert_uint_eq(s.hw.value[HW_MEMORY], 225);
	ck_assert_uint_eq(s.hw.value[HW_RETIRE_TO_RETIRE], 7);
	m.header.misc = 0;
	ck_assert_int_eq(sample_read(&pebs, false, &m.header, &s), 0);
	ck_assert(!s.has_hw);
}
END_TEST

/* Whatever its length and its words: read to the end that it says, or refused. */
START_TEST(a_sample_that_is_cut_off_is_refused)
{
	static const struct event *const kinds[] = { &plain, &ibs_op, &pebs };
	uint64_t seed = unit_seed(), state = seed | 1;

	for (size_t kind = 0; kind < NR(kinds); kind++) {
		struct made m = begin(true, PERF_RECORD_MISC_EXACT_IP);
		struct sample s;
		uint16_t size;

		if (kinds[kind] == &ibs_op) {
			add_ibs(&m, 3 << 17);
		} else {
			for (int i = 0; i < 3 && kinds[kind] == &pebs; i++)
				add(&m, 0);
			add_regs(&m);
		}
		size = m.header.size;
		for (m.header.size = sizeof(m.header); m.header.size < size;
		     m.header.size += 8) {
			/* the exact bytes: sanitizers see a read beyond them */
			void *exact = malloc(m.header.size);

			memcpy(exact, &m, m.header.size);
			ck_assert_int_eq(sample_read(kinds[kind], true, exact, &s),
					 -EBADMSG);
			free(exact);
		}
		for (int round = 0; round < 2000; round++) {
			uint64_t *exact = malloc(size);

			memcpy(exact, &m, size);
			exact[1 + unit_random(&state) % (size / 8 - 1)] =
				unit_random(&state);
			sample_read(kinds[kind], true,
				    (struct perf_event_header *)exact, &s);
			free(exact);
		}
	}
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("sample");
	TCase *tc = tcase_create("sample");

	tcase_add_loop_test(tc, a_plain_sample_has_a_pc_and_registers, 0, 2);
	tcase_add_test(tc, a_kernel_thread_has_no_registers);
	tcase_add_loop_test(tc, an_op_is_at_the_pc_that_the_hardware_recorded, 0, 2);
	tcase_add_test(tc, registers_that_are_not_valid_leave_the_interrupts_pc);
	tcase_add_test(tc, a_precise_sample_tells_of_its_access);
	tcase_add_test(tc, a_sample_that_is_cut_off_is_refused);
	suite_add_tcase(suite, tc);
	return suite;
}

UNIT_MAIN(make_suite)
