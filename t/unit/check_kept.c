/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "analysis/isa/isa_kept.h"
#include "base/err.h"
#include "t/unit/unit.h"

#define MAX_INSNS 16
#define LOOPS     40
#define MANY      600
#define LIMIT     2000 /* damaged files */

/* Loads, divisions and additions, in an order that number decides. */
static int make_run(struct isa *isa, unsigned int number, struct insn *insn)
{
	static const struct {
		uint8_t code[4];
		size_t size;
	} words[] = {
		{ { 0x48, 0x8b, 0x07 }, 3 },       /* mov rax, [rdi] */
		{ { 0x48, 0x01, 0xc8 }, 3 },       /* add rax, rcx */
		{ { 0x48, 0xf7, 0xf1 }, 3 },       /* div rcx */
		{ { 0xf2, 0x0f, 0x59, 0xc1 }, 4 }, /* mulsd xmm0, xmm1 */
	};
	int nr = 0;

	for (; nr < MAX_INSNS && (number || !nr); number /= 4, nr++)
		ck_assert_int_eq(isa_decode(isa, words[number % 4].code,
					    words[number % 4].size, 0x1000, &insn[nr]),
				 0);
	return nr;
}

static void schedule(struct isa *isa, unsigned int number, struct arena *arena,
		     struct isa_schedule *out, int *nr)
{
	struct insn insn[MAX_INSNS];
	const struct isa_run run = { .insn = insn,
				     .nr = make_run(isa, number, insn),
				     .loops = true };

	ck_assert_int_eq(isa_schedule(isa, &run, arena, out), 0);
	*nr = run.nr;
}

static struct isa *open_isa(void)
{
	struct isa *isa = NULL;

	ck_assert_int_eq(isa_open(MACHINE_X86_64, &isa), 0);
	ck_assert_int_eq(isa_set_cpu(isa, "znver4"), 0);
	return isa;
}

static void check_equal(const struct isa_timing *a, const struct isa_timing *b)
{
	ck_assert_int_eq(a->modelled, b->modelled);
	ck_assert_float_eq(a->head, b->head);
	ck_assert_float_eq(a->front_end, b->front_end);
	ck_assert_float_eq(a->dependency, b->dependency);
	ck_assert_float_eq(a->unit, b->unit);
	ck_assert_float_eq(a->execute, b->execute);
	ck_assert_int_eq(a->culprit, b->culprit);
	ck_assert_int_eq(a->reg, b->reg);
	ck_assert_int_eq(a->carried, b->carried);
	ck_assert_pstr_eq(a->wanted, b->wanted);
	ck_assert_int_eq(a->latency, b->latency);
	ck_assert_int_eq(a->uops, b->uops);
}

static int nr_reads, nr_closed;

static int read_bytes(void *ctx, uint64_t at, void *out, size_t size)
{
	const struct buf *file = ctx;

	ck_assert_uint_le(at + size, file->len);
	memcpy(out, file->data + at, size);
	nr_reads++;
	return 0;
}

static void close_bytes(void *ctx)
{
	(void)ctx;
	nr_closed++;
}

static int open_bytes(struct isa *isa, struct buf *file, size_t size)
{
	const struct isa_kept_source source = { read_bytes, close_bytes, file, size };

	return isa_kept_open(isa, &source);
}

static void put_all(struct buf *out)
{
	struct isa *isa = open_isa();
	struct isa_schedule s;
	struct arena arena;
	int nr;

	arena_init(&arena, 0);
	isa_kept_seed(isa, 12345);
	for (unsigned int i = 0; i < LOOPS; i++)
		schedule(isa, i * 7, &arena, &s, &nr);
	ck_assert(isa_kept_grew(isa));
	ck_assert_int_eq(isa_kept_put(isa, out), 0);
	arena_fini(&arena);
	isa_close(isa);
}

START_TEST(kept_schedules_are_those_of_simulation)
{
	struct isa *simulates = open_isa(), *reads = open_isa();
	struct buf file = { 0 };
	struct isa_schedule a, b;
	struct arena arena;
	int nr;

	put_all(&file);
	arena_init(&arena, 0);
	ck_assert_int_eq(open_bytes(reads, &file, file.len), 0);
	for (unsigned int i = 0; i < LOOPS; i++) {
		schedule(simulates, i * 7, &arena, &a, &nr);
		schedule(reads, i * 7, &arena, &b, &nr);
		for (int k = 0; k < nr; k++)
			check_equal(&a.insn[k], &b.insn[k]);
	}
	ck_assert(!isa_kept_grew(reads)); /* nothing was simulated */
	schedule(reads, 999999, &arena, &b, &nr);
	ck_assert(isa_kept_grew(reads));
	arena_fini(&arena);
	buf_fini(&file);
	isa_close(simulates);
	isa_close(reads);
}
END_TEST

START_TEST(only_what_is_needed_is_read)
{
	struct isa *simulates = open_isa(), *reads = open_isa();
	struct buf file = { 0 }, again = { 0 };
	struct isa_schedule s;
	struct arena arena;
	int nr;

	arena_init(&arena, 0);
	isa_kept_seed(simulates, 12345);
	for (unsigned int i = 0; i < MANY; i++)
		schedule(simulates, i, &arena, &s, &nr);
	ck_assert_int_eq(isa_kept_put(simulates, &file), 0);
	nr_reads = nr_closed = 0;
	ck_assert_int_eq(open_bytes(reads, &file, file.len), 0);
	ck_assert_int_eq(nr_reads, 2); /* the head and the table */
	for (int i = 0; i < 3; i++) {
		schedule(reads, MANY / 2, &arena, &s, &nr);
		ck_assert_int_eq(nr_reads, 3);
	}
	ck_assert(!isa_kept_grew(reads));
	schedule(reads, MANY + 1, &arena, &s, &nr);
	ck_assert(isa_kept_grew(reads));
	ck_assert_int_eq(isa_kept_put(reads, &again), 0);
	ck_assert_uint_gt(again.len, file.len); /* those that were not read, too */
	ck_assert_int_gt(nr_reads, 4);
	ck_assert_int_eq(nr_closed, 0);
	isa_close(reads);
	ck_assert_int_eq(nr_closed, 1);
	arena_fini(&arena);
	buf_fini(&file);
	buf_fini(&again);
	isa_close(simulates);
}
END_TEST

/* Of a CPU without a model of its own, nothing was simulated in this process yet. */
START_TEST(schedules_of_another_process_need_no_model_here)
{
	struct isa *worker = NULL, *parent = NULL;
	struct buf made = { 0 };
	struct isa_schedule s;
	struct arena arena;
	int nr;

	arena_init(&arena, 0);
	ck_assert_int_eq(isa_open(MACHINE_X86_64, &worker), 0);
	ck_assert_int_eq(isa_open(MACHINE_X86_64, &parent), 0);
	isa_kept_mark(worker);
	for (unsigned int i = 0; i < LOOPS; i++)
		schedule(worker, i, &arena, &s, &nr);
	ck_assert_int_eq(isa_kept_put_new(worker, &made), 0);
	ck_assert_int_eq(isa_kept_add(parent, (uint8_t *)made.data, made.len), 0);
	ck_assert(isa_kept_grew(parent));
	arena_fini(&arena);
	buf_fini(&made);
	isa_close(worker);
	isa_close(parent);
}
END_TEST

START_TEST(cut_or_damaged_bytes_are_refused_or_harmless)
{
	struct isa *isa = open_isa();
	struct buf file = { 0 };
	struct isa_schedule s;
	struct arena arena;
	uint64_t state = unit_seed();
	int nr, refused = 0;

	put_all(&file);
	arena_init(&arena, 0);
	ck_assert_int_eq(open_bytes(isa, &file, 7), -CPI_ETRUNCATED);
	ck_assert_int_eq(open_bytes(isa, &file, file.len - 1), -CPI_ECORRUPT);
	for (int i = 0; i < LIMIT; i++) {
		const size_t at = unit_random(&state) % file.len;
		const char old = file.data[at];
		int err;

		file.data[at] = (char)unit_random(&state);
		err = open_bytes(isa, &file, file.len);
		ck_assert(!err || err == -CPI_ECORRUPT);
		refused += err != 0;
		schedule(isa, 7 * (unsigned int)(unit_random(&state) % LOOPS), &arena,
			 &s, &nr);
		for (int k = 0; k < nr; k++)
			ck_assert(s.insn[k].head >= 0 && s.insn[k].culprit < nr);
		file.data[at] = old;
	}
	ck_assert_int_gt(refused, 0);
	arena_fini(&arena);
	buf_fini(&file);
	isa_close(isa);
}
END_TEST

static Suite *kept_suite(void)
{
	Suite *s = suite_create("kept");
	TCase *tc = tcase_create("kept");

	tcase_add_test(tc, kept_schedules_are_those_of_simulation);
	tcase_add_test(tc, only_what_is_needed_is_read);
	tcase_add_test(tc, schedules_of_another_process_need_no_model_here);
	tcase_add_test(tc, cut_or_damaged_bytes_are_refused_or_harmless);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(kept_suite)
