/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "analysis/isa/isa.h"
#include "base/err.h"
#include "t/unit/unit.h"

#define MAX_INSNS 2048

struct fixture {
	struct isa *isa;
	struct arena arena;
	struct insn insn[MAX_INSNS];
	int nr;
};

static void open_fixture(struct fixture *f, enum machine machine, const char *cpu,
			 const void *code, size_t size)
{
	size_t at = 0;

	ck_assert_int_eq(isa_open(machine, &f->isa), 0);
	ck_assert_int_eq(isa_set_cpu(f->isa, cpu), 0);
	arena_init(&f->arena, 0);
	for (f->nr = 0; at < size && f->nr < MAX_INSNS; f->nr++) {
		ck_assert_int_eq(isa_decode(f->isa, (const uint8_t *)code + at,
					    size - at, 0x1000 + at, &f->insn[f->nr]),
				 0);
		at += f->insn[f->nr].size;
	}
}

static void close_fixture(struct fixture *f)
{
	arena_fini(&f->arena);
	isa_close(f->isa);
}

static void schedule(struct fixture *f, bool loops, struct isa_schedule *s)
{
	struct isa_run run = { .insn = f->insn, .nr = f->nr, .loops = loops };

	ck_assert_int_eq(isa_schedule(f->isa, &run, &f->arena, s), 0);
}

/* Cycles of one iteration that any model of these CPUs must come to. */
static const struct {
	enum machine machine;
	const char *cpu, *what, *code;
	size_t size;
	float least, most;
} loops[] = {
#define CODE(bytes) bytes, sizeof(bytes) - 1
	{ MACHINE_X86_64, "znver4", "add rax, rax: a chain of one cycle",
	  CODE("\x48\x01\xc0"), 0.99F, 1.01F },
	{ MACHINE_X86_64, "skylake-avx512", "imul rax, rax: three cycles",
	  CODE("\x48\x0f\xaf\xc0"), 2.99F, 3.01F },
	{ MACHINE_X86_64, "skylake-avx512", "mov rax, [rax]: a load's latency",
	  CODE("\x48\x8b\x00"), 3.9F, 5.1F },
	{ MACHINE_X86_64, "skylake-avx512", "four adds that wait for nothing",
	  CODE("\x83\xc0\x01\x83\xc1\x01\x83\xc2\x01\x83\xc3\x01"), 0.9F, 1.1F },
	{ MACHINE_X86_64, "znver4", "call and ret are no hundred cycles",
	  CODE("\xe8\0\0\0\0\xc3"), 0.1F, 12.0F },
	{ MACHINE_AARCH64, "neoverse-n1", "mul x0, x0, x0", CODE("\0\x7c\0\x9b"), 3.0F,
	  4.1F },
	{ MACHINE_AARCH64, "neoverse-v2", "bl, blr, ret",
	  CODE("\0\0\0\x94\x20\0\x3f\xd6\xc0\x03\x5f\xd6"), 0.1F, 6.0F },
};

START_TEST(loops_take_what_the_cpu_needs)
{
	struct isa_schedule s;
	struct fixture f;
	float sum = 0;

	open_fixture(&f, loops[_i].machine, loops[_i].cpu, loops[_i].code,
		     loops[_i].size);
	schedule(&f, true, &s);
	ck_assert_msg(s.cycles >= loops[_i].least && s.cycles <= loops[_i].most,
		      "%s: %f cycles", loops[_i].what, (double)s.cycles);
	for (int i = 0; i < f.nr; i++) {
		const struct isa_timing *t = &s.insn[i];

		ck_assert(t->modelled && t->uops);
		ck_assert_float_eq_tol(t->dependency + t->unit + t->execute, t->head,
				       0.01F);
		sum += t->head + t->front_end;
	}
	ck_assert_float_eq_tol(sum, s.cycles, 0.01F);
	close_fixture(&f);
}
END_TEST

START_TEST(a_wait_names_its_culprit)
{
	/* mov rax, [rdi]; nop; add rcx, rax; idiv rsi; mov rdx, rax */
	static const char code[] =
		"\x48\x8b\x07\x90\x48\x01\xc1\x48\xf7\xfe\x48\x01\xc2";
	struct isa_schedule s;
	struct fixture f;

	open_fixture(&f, MACHINE_X86_64, "skylake-avx512", code, sizeof(code) - 1);
	schedule(&f, false, &s);
	ck_assert_int_eq(s.insn[0].culprit, ISA_NO_CULPRIT);
	ck_assert_int_eq(s.insn[2].culprit, 0);
	ck_assert_uint_eq(s.insn[2].reg, ISA_GENERAL);
	ck_assert_int_eq(s.insn[4].culprit, 3);
	ck_assert(!s.insn[4].carried);
	ck_assert_float_ge(s.insn[3].head, 20);
	close_fixture(&f);
}
END_TEST

START_TEST(a_culprit_may_be_of_an_earlier_iteration)
{
	static const char code[] = "\x48\x8b\x00"; /* mov rax, [rax] */
	struct isa_schedule s;
	struct fixture f;

	open_fixture(&f, MACHINE_X86_64, "skylake-avx512", code, sizeof(code) - 1);
	schedule(&f, true, &s);
	ck_assert_int_eq(s.insn[0].culprit, 0);
	ck_assert(s.insn[0].carried);
	close_fixture(&f);
}
END_TEST

START_TEST(a_culprit_may_stand_before_the_run)
{
	static const char code[] =
		"\x48\xf7\xfe\x48\x01\xc2"; /* idiv rsi; add rdx, rax */
	struct isa_schedule s;
	struct fixture f;
	struct isa_run run;

	open_fixture(&f, MACHINE_X86_64, "skylake-avx512", code, sizeof(code) - 1);
	run = (struct isa_run){
		.insn = f.insn + 1, .nr = 1, .before = f.insn, .nr_before = 1
	};
	ck_assert_int_eq(isa_schedule(f.isa, &run, &f.arena, &s), 0);
	ck_assert_int_eq(s.insn[0].culprit, ISA_BEFORE);
	close_fixture(&f);
}
END_TEST

START_TEST(a_busy_unit_is_named)
{
	/* two divisions that do not depend on each other */
	static const char code[] = "\xf3\x0f\x5e\xc1\xf3\x0f\x5e\xd1\xf3\x0f\x5e\xd9"
				   "\xf3\x0f\x5e\xe1\xf3\x0f\x5e\xe9\xf3\x0f\x5e\xf1";
	struct isa_schedule s;
	struct fixture f;
	bool named = false;

	open_fixture(&f, MACHINE_X86_64, "skylake-avx512", code, sizeof(code) - 1);
	schedule(&f, false, &s);
	for (int i = 1; i < f.nr; i++)
		named |= s.insn[i].wanted && s.insn[i].unit > 0;
	ck_assert(named);
	close_fixture(&f);
}
END_TEST

START_TEST(long_runs_go_through_windows)
{
	static char code[MAX_INSNS * 3];
	struct isa_schedule s;
	struct fixture f;

	for (size_t i = 0; i < sizeof(code); i += 3)
		memcpy(code + i, "\x48\x01\xc0", 3);
	open_fixture(&f, MACHINE_X86_64, "znver4", code, sizeof(code));
	schedule(&f, false, &s);
	ck_assert_float_eq_tol(s.cycles, MAX_INSNS, 300);
	ck_assert_int_eq(s.insn[MAX_INSNS - 1].culprit, MAX_INSNS - 2);
	ck_assert_int_eq(s.insn[512].culprit, 511);
	close_fixture(&f);
}
END_TEST

/* Instructions that wait for units for ever, and an add. */
static const struct {
	const char *cpu, *code;
	size_t size;
} endless[] = {
	{ "sapphirerapids", CODE("\x48\x0f\xc7\x69\x40\x48\x01\xc0") }, /* xsaves64 */
	{ "sapphirerapids", CODE("\x48\x0f\xae\x40\x40\x48\x01\xc0") }, /* fxsave64 */
	{ "alderlake", CODE("\x48\x0f\xae\x40\x40\x48\x01\xc0") },
	{ "icelake-server", CODE("\x48\x0f\xae\x40\x40\x48\x01\xc0") },
	{ "skylake-avx512", CODE("\x48\x0f\xae\x40\x40\x48\x01\xc0") },
	{ "znver4", CODE("\x48\x0f\xae\x40\x40\x48\x01\xc0") },
	{ "x86-64", CODE("\x48\x0f\xae\x40\x40\x48\x01\xc0") },
	{ "x86-64", CODE("\x48\x0f\xc7\x69\x40\x48\x01\xc0") },
};

START_TEST(what_would_never_end_is_left_out)
{
	struct isa_schedule s;
	struct fixture f;

	open_fixture(&f, MACHINE_X86_64, endless[_i].cpu, endless[_i].code,
		     endless[_i].size);
	schedule(&f, false, &s);
	ck_assert_int_eq(f.nr, 2);
	ck_assert(s.insn[1].modelled);
	ck_assert_float_ge(s.cycles, 0.1F);
	close_fixture(&f);
}
END_TEST

START_TEST(what_has_no_model_is_left_out)
{
	static const char code[] =
		"\x06\x48\x01\xc0"; /* no instruction; add rax, rax */
	struct isa_run none = { .insn = NULL };
	struct isa_schedule s;
	struct fixture f;

	open_fixture(&f, MACHINE_X86_64, "znver4", code, sizeof(code) - 1);
	schedule(&f, false, &s);
	ck_assert(!s.insn[0].modelled && s.insn[1].modelled);
	ck_assert_float_eq(s.insn[0].head, 0);
	ck_assert_int_eq(isa_schedule(f.isa, &none, &f.arena, &s), 0);
	ck_assert_float_eq(s.cycles, 0);
	close_fixture(&f);
}
END_TEST

static const struct {
	enum machine machine;
	const char *model, *cpu;
} models[] = {
	{ MACHINE_X86_64, "AMD EPYC 9R14", "znver4" },
	{ MACHINE_X86_64, "AMD EPYC 7763 64-Core Processor", "znver3" },
	{ MACHINE_X86_64, "AMD EPYC 9654 96-Core Processor", "znver4" },
	{ MACHINE_X86_64, "AMD Ryzen 9 7950X 16-Core Processor", "znver4" },
	{ MACHINE_X86_64, "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz",
	  "icelake-server" },
	{ MACHINE_X86_64, "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz",
	  "skylake-avx512" },
	{ MACHINE_X86_64, "Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", "broadwell" },
	{ MACHINE_X86_64, "12th Gen Intel(R) Core(TM) i7-12700K", "alderlake" },
	{ MACHINE_X86_64, "Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz", "skylake" },
	{ MACHINE_X86_64, "Intel(R) Xeon(R) Processor", NULL },
	{ MACHINE_X86_64, "Intel(R) Xeon(R) Processor (family 6, model 143)",
	  "sapphirerapids" },
	{ MACHINE_X86_64, "AMD EPYC (family 25, model 17)", "znver4" },
	{ MACHINE_X86_64, "AMD EPYC (family 26, model 2)", "znver5" },
	{ MACHINE_X86_64, "AMD EPYC 7763 (family 99, model 1)", "znver3" },
	{ MACHINE_X86_64, "x (family 6, model )", NULL },
	{ MACHINE_AARCH64, "x (family 6, model 143)", NULL },
	{ MACHINE_X86_64, "", NULL },
	{ MACHINE_AARCH64, "0xd0c", "neoverse-n1" },
	{ MACHINE_AARCH64, "0xfff", NULL },
	{ MACHINE_UNKNOWN, "0xd0c", NULL },
};

START_TEST(models_have_their_cpu)
{
	const char *cpu = isa_cpu_of_model(models[_i].machine, models[_i].model);
	struct isa *isa;

	ck_assert_pstr_eq(cpu, models[_i].cpu);
	if (!cpu)
		return;
	ck_assert_int_eq(isa_open(models[_i].machine, &isa), 0);
	ck_assert_int_eq(isa_set_cpu(isa, cpu), 0);
	ck_assert_str_eq(isa_cpu(isa), cpu);
	isa_close(isa);
}
END_TEST

START_TEST(an_unknown_cpu_changes_nothing)
{
	struct isa *isa;

	ck_assert_int_eq(isa_open(MACHINE_X86_64, &isa), 0);
	ck_assert_int_eq(isa_set_cpu(isa, "znver3"), 0);
	ck_assert_int_eq(isa_set_cpu(isa, "alpha21164"), -EINVAL);
	ck_assert_int_eq(isa_set_cpu(isa, ""), -EINVAL);
	ck_assert_str_eq(isa_cpu(isa), "znver3");
	isa_close(isa);
}
END_TEST

static Suite *schedule_suite(void)
{
	Suite *s = suite_create("schedule");
	TCase *tc = tcase_create("schedule");

	tcase_set_timeout(tc, 600);
	tcase_add_loop_test(tc, loops_take_what_the_cpu_needs, 0, NR(loops));
	tcase_add_test(tc, a_wait_names_its_culprit);
	tcase_add_test(tc, a_culprit_may_be_of_an_earlier_iteration);
	tcase_add_test(tc, a_culprit_may_stand_before_the_run);
	tcase_add_test(tc, a_busy_unit_is_named);
	tcase_add_test(tc, long_runs_go_through_windows);
	tcase_add_loop_test(tc, what_would_never_end_is_left_out, 0, NR(endless));
	tcase_add_test(tc, what_has_no_model_is_left_out);
	tcase_add_loop_test(tc, models_have_their_cpu, 0, NR(models));
	tcase_add_test(tc, an_unknown_cpu_changes_nothing);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(schedule_suite)
