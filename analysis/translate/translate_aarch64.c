/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_aarch64.c - an AArch64 instruction to micro-ops
 *
 * All instructions are words of four bytes; a rule matches their bits. Nothing is ever
 * guessed: an instruction without a rule ends the window. So do exclusive stores,
 * because their success depends on other CPUs.
 *
 * Return addresses may be signed. Instructions that check a signature clear the bits
 * above the 48 of a user address; those that sign the link register do nothing. So a
 * window sees the plain address, whether the machine signs or not. Another register is
 * unknown after it was signed.
 */
#include "config.h"

#include "analysis/translate/translate_aarch64.h"

#include <elf.h>

#define LENGTH 4

/* There is no state. */
static void init(void *state)
{
}

static void stop(struct a64 *x)
{
	x->out->nr = 0;
	a64_stop(x, CPI_WINDOW_UNSUPPORTED);
}

static void instruction(const void *state, const uint8_t *code, size_t size,
			struct translated *out)
{
	struct a64 x = { .out = out };
	const struct a64_rule *rule;

	out->nr = 0;
	out->ends = false;
	out->length = LENGTH;
	if (size < LENGTH) {
		stop(&x);
		return;
	}
	x.word = code[0] | code[1] << 8 | code[2] << 16 | (uint32_t)code[3] << 24;
	rule = a64_rule_of(x.word);
	if (rule)
		rule->translate(&x, rule->arg);
	if (!rule || x.failed)
		stop(&x);
}

const struct translate_machine translate_aarch64 = {
	.machine = EM_AARCH64,
	.init = init,
	.instruction = instruction,
};
