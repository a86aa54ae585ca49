/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "analysis/isa/isa_seen.h"
#include "t/unit/unit.h"

#define LENGTH 3

struct fixture {
	struct isa_seen seen;
	struct insn insn[LENGTH];
	struct isa_timing timing[LENGTH], found[LENGTH];
	uint8_t code[LENGTH][4];
	struct isa_run run;
};

static void make_fixture(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	for (int i = 0; i < LENGTH; i++) {
		f->code[i][0] = (uint8_t)i;
		f->insn[i] = (struct insn){ .code = f->code[i],
					    .size = 4,
					    .opcode = (uint16_t)(100 + i) };
		f->insn[i].memory.displacement = 8;
		f->timing[i] =
			(struct isa_timing){ .head = (float)i + 1, .culprit = i };
	}
	f->run = (struct isa_run){ .insn = f->insn, .nr = LENGTH, .loops = true };
}

START_TEST(a_run_that_was_added_is_found)
{
	struct fixture f;

	make_fixture(&f);
	ck_assert(!isa_seen_find(&f.seen, &f.run, f.found));
	isa_seen_add(&f.seen, &f.run, f.timing);
	ck_assert(isa_seen_find(&f.seen, &f.run, f.found));
	for (int i = 0; i < LENGTH; i++) {
		ck_assert_float_eq(f.found[i].head, f.timing[i].head);
		ck_assert_int_eq(f.found[i].culprit, i);
	}
	isa_seen_fini(&f.seen);
	ck_assert(!isa_seen_find(&f.seen, &f.run, f.found));
}
END_TEST

static void change_opcode(struct fixture *f)
{
	f->insn[1].opcode++;
}

static void change_reads(struct fixture *f)
{
	f->insn[1].reads.bit[1] ^= 4;
}

static void change_index(struct fixture *f)
{
	f->insn[2].memory.index++;
}

static void change_order(struct fixture *f)
{
	const struct insn first = f->insn[0];

	f->insn[0] = f->insn[1];
	f->insn[1] = first;
}

static void change_length(struct fixture *f)
{
	f->run.nr--;
}

static void change_loop(struct fixture *f)
{
	f->run.loops = false;
}

static void change_precision(struct fixture *f)
{
	f->run.rough = true;
}

static void change_constants(struct fixture *f)
{
	f->insn[0].memory.displacement = 16;
	f->insn[0].address += 64;
	f->code[0][3]++;
}

static void change_displacement(struct fixture *f)
{
	f->insn[0].memory.displacement = 0;
}

/* What a schedule depends on, and what it does not. */
static const struct {
	const char *what;
	void (*change)(struct fixture *f);
	bool by_code, found;
} changes[] = {
	{ "another opcode", change_opcode, false, false },
	{ "another operand", change_reads, false, false },
	{ "another address register", change_index, false, false },
	{ "another order", change_order, false, false },
	{ "a part of it", change_length, false, false },
	{ "not in a loop", change_loop, false, false },
	{ "roughly", change_precision, false, false },
	{ "no displacement", change_displacement, false, false },
	{ "other constants, elsewhere", change_constants, false, true },
	{ "other constants that matter", change_constants, true, false },
};

START_TEST(only_constants_and_places_may_differ)
{
	struct fixture f;

	make_fixture(&f);
	f.seen.by_code = changes[_i].by_code;
	isa_seen_add(&f.seen, &f.run, f.timing);
	changes[_i].change(&f);
	ck_assert_msg(isa_seen_find(&f.seen, &f.run, f.found) == changes[_i].found,
		      "%s", changes[_i].what);
	isa_seen_fini(&f.seen);
}
END_TEST

START_TEST(memory_is_bounded)
{
	struct fixture f;
	int found = 0;

	make_fixture(&f);
	for (int i = 0; i < 800000; i++) {
		f.insn[0].reads.bit[0] = (uint64_t)i;
		isa_seen_add(&f.seen, &f.run, f.timing);
		ck_assert_uint_le(f.seen.nr_insns, 1 << 21);
		found += isa_seen_find(&f.seen, &f.run, f.found);
	}
	ck_assert_int_eq(found, 800000);
	isa_seen_fini(&f.seen);
}
END_TEST

START_TEST(what_an_earlier_run_kept_makes_room_unless_it_is_used)
{
	struct isa_timing timing[ISA_SEEN_INSNS] = { { 0 } };
	struct fixture f;
	struct isa_seen_run kept = { .nr = ISA_SEEN_INSNS, .timing = timing };

	make_fixture(&f);
	isa_seen_add(&f.seen, &f.run, f.timing);
	while (isa_seen_put(&f.seen, &kept))
		kept.hash += 1ull << 32 | 1;
	f.insn[0].reads.bit[0] = 1;
	for (size_t full = f.seen.nr_insns; f.seen.nr_insns >= full;) {
		isa_seen_add(&f.seen, &f.run, f.timing);
		f.insn[0].reads.bit[0]++;
	}
	for (f.insn[0].reads.bit[0]--; f.insn[0].reads.bit[0] + 1;
	     f.insn[0].reads.bit[0]--)
		ck_assert(isa_seen_find(&f.seen, &f.run, f.found));
	ck_assert(isa_seen_put(&f.seen, &kept));
	isa_seen_fini(&f.seen);
}
END_TEST

static Suite *seen_suite(void)
{
	Suite *s = suite_create("seen");
	TCase *tc = tcase_create("seen");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_run_that_was_added_is_found);
	tcase_add_loop_test(tc, only_constants_and_places_may_differ, 0, NR(changes));
	tcase_add_test(tc, memory_is_bounded);
	tcase_add_test(tc, what_an_earlier_run_kept_makes_room_unless_it_is_used);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(seen_suite)
