/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_isa.c - any bytes decode to instructions, that have texts and a schedule
 *
 * The first byte picks machine and loop, the rest is code.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "analysis/isa/isa.h"
#include "t/fuzz/fuzz.h"

#define MAX_INSNS 96

static void check_insn(struct isa *isa, const struct insn *insn, size_t left)
{
	char text[ISA_TEXT_SIZE];
	struct isa_effect e;

	fuzz_check(insn->size >= 1 && insn->size <= left);
	fuzz_check(*isa_text(isa, insn, text) && strlen(text) < sizeof(text));
	e = isa_effect(isa, insn);
	fuzz_check(e.to < ISA_NR_REGISTERS && e.a < ISA_NR_REGISTERS &&
		   e.b < ISA_NR_REGISTERS);
	isa_condition(isa, insn);
}

static void check_schedule(struct isa *isa, const struct isa_run *run)
{
	struct isa_schedule first, again;
	struct arena arena;

	arena_init(&arena, 0);
	fuzz_check(!isa_schedule(isa, run, &arena, &first));
	fuzz_check(!isa_schedule(isa, run, &arena, &again));
	fuzz_check(isfinite(first.cycles) && first.cycles >= 0);
	fuzz_check(first.cycles == again.cycles);
	for (int i = 0; i < run->nr; i++) {
		const struct isa_timing *t = &first.insn[i];

		fuzz_check(t->head >= 0 && t->front_end >= 0 && t->execute >= 0);
		fuzz_check(t->culprit < run->nr);
	}
	arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct isa *isa[2];
	struct insn insn[MAX_INSNS];
	struct isa_run run = { .insn = insn };
	size_t at = 1;
	int which;

	if (!size)
		return 0;
	which = data[0] & 1;
	run.loops = data[0] & 2;
	if (!isa[which])
		fuzz_check(!isa_open(which ? MACHINE_AARCH64 : MACHINE_X86_64,
				     &isa[which]));
	while (run.nr < MAX_INSNS && !isa_decode(isa[which], data + at, size - at,
						 0x1000 + at, &insn[run.nr])) {
		check_insn(isa[which], &insn[run.nr], size - at);
		at += insn[run.nr++].size;
	}
	check_schedule(isa[which], &run);
	return 0;
}
