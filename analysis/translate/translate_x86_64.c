/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_x86_64.c - an x86-64 instruction to micro-ops
 *
 * Zydis decodes, a rule translates. If the rule cannot express an instruction,
 * everything that the instruction writes becomes unknown. Nothing is ever guessed: an
 * instruction that may do more than write its operands ends the window.
 */
#include "config.h"

#include <elf.h>

#include "analysis/translate/translate_x86_64.h"

static void init(void *state)
{
	ZydisDecoderInit(state, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

/* Instructions that do more than to compute. */
static bool has_effects(const struct x86 *x)
{
	switch (x->in->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_CET:
	case ZYDIS_CATEGORY_CLZERO:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_ENQCMD:
	case ZYDIS_CATEGORY_HRESET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_IOSTRINGOP:
	case ZYDIS_CATEGORY_KEYLOCKER:
	case ZYDIS_CATEGORY_KEYLOCKER_WIDE:
	case ZYDIS_CATEGORY_MOVDIR:
	case ZYDIS_CATEGORY_MPX:
	case ZYDIS_CATEGORY_PADLOCK:
	case ZYDIS_CATEGORY_PCONFIG:
	case ZYDIS_CATEGORY_PKU:
	case ZYDIS_CATEGORY_POP:
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_RDWRFSGS:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SEGOP:
	case ZYDIS_CATEGORY_SGX:
	case ZYDIS_CATEGORY_SMAP:
	case ZYDIS_CATEGORY_STRINGOP:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_TSX_LDTRK:
	case ZYDIS_CATEGORY_UINTR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_VTX:
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
		return true;
	default:
		return false;
	}
}

static struct cpi_uop *add_unknown(struct x86 *x, unsigned int size)
{
	struct cpi_uop *u = x86_add(x, CPI_UOP_MOV, size);

	u->src = CPI_REG_UNKNOWN;
	return u;
}

/* In pieces, of any size that is not a state's. */
static void forget_memory(struct x86 *x, const ZydisDecodedOperand *o)
{
	const unsigned int bytes = o->size / 8;
	unsigned int at, size;

	if (!bytes || bytes > 64)
		x->failed = true;
	for (at = 0; at < bytes && !x->failed; at += 1u << size) {
		struct cpi_uop *u;

		for (size = 3; at + (1u << size) > bytes;)
			size--;
		u = add_unknown(x, size);
		u->flags |= CPI_UOP_STORE;
		x86_memory(x, u, o, (int32_t)at);
	}
}

static void forget_vector(struct x86 *x, const ZydisDecodedOperand *o)
{
	const unsigned int lanes = x86_clears_upper(x) ? 4 : 2;

	for (unsigned int lane = 0; lane < lanes; lane++)
		x86_lane_dst(x, add_unknown(x, 3), o, lane);
}

/* All of them: what Zydis says of single ones is not complete. */
static void forget_flags(struct x86 *x)
{
	const ZydisAccessedFlags *f = x->in->cpu_flags;
	uint32_t flags = f ? f->modified | f->set_0 | f->set_1 | f->undefined : 0;

	if (flags & ZYDIS_CPUFLAG_DF)
		x->failed = true;
	if (flags & CPI_FLAG_ALL)
		x86_unflag(x, 0, 0);
}

static void forget_register(struct x86 *x, const ZydisDecodedOperand *o)
{
	struct cpi_uop *u;

	switch (ZydisRegisterGetClass(o->reg.value)) {
	case ZYDIS_REGCLASS_GPR8:
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		x86_dst(x, add_unknown(x, x86_size(x, o)), o);
		break;
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		forget_vector(x, o);
		break;
	case ZYDIS_REGCLASS_MASK:
		u = add_unknown(x, 3);
		u->dst = (uint8_t)x86_mask(o);
		break;
	case ZYDIS_REGCLASS_FLAGS: /* forget_flags()'s */
	case ZYDIS_REGCLASS_X87:
	case ZYDIS_REGCLASS_MMX:
	case ZYDIS_REGCLASS_TMM:
		break;
	default:
		if (o->reg.value != ZYDIS_REGISTER_MXCSR &&
		    o->reg.value != ZYDIS_REGISTER_X87CONTROL &&
		    o->reg.value != ZYDIS_REGISTER_X87STATUS &&
		    o->reg.value != ZYDIS_REGISTER_X87TAG)
			x->failed = true;
	}
}

/* The operand in memory that is only read, or NULL. */
static const ZydisDecodedOperand *read_operand(const struct x86 *x)
{
	for (unsigned int i = 0; i < x->in->operand_count; i++) {
		const ZydisDecodedOperand *o = &x->all[i];

		if (x86_is_memory(o) && o->mem.type == ZYDIS_MEMOP_TYPE_MEM &&
		    o->actions & ZYDIS_OPERAND_ACTION_MASK_READ &&
		    !(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			return o;
	}
	return NULL;
}

/* Whether a mask, which nobody follows, decides what is read or written. */
static bool is_masked(const struct x86 *x)
{
	switch (x->in->mnemonic) {
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_MASKMOVQ:
	case ZYDIS_MNEMONIC_VMASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ:
		return true;
	default:
		return x->mask;
	}
}

/*
 * The first micro-op also tells the address that is read (cpi_uop_is_data()). A load
 * would only cost time. What a mask may keep from being read is not told.
 */
static void tell_address(struct x86 *x)
{
	const ZydisDecodedOperand *o = read_operand(x);
	struct cpi_uop *u = &x->out->uop[0], with;

	if (!o || u->flags & CPI_UOP_STORE || x->failed || is_masked(x))
		return;
	if (u->op == CPI_UOP_UNFLAG)
		u = x86_add(x, CPI_UOP_NOP, 3);
	with = *u;
	x86_memory(x, &with, o, 0);
	while (with.imm < 6 && 8 << with.imm < o->size)
		with.imm++;
	if (!x->failed)
		*u = with;
	x->failed = false;
}

/*
 * A mask may keep the stores that follow from being executed. So the instruction's
 * first access (cpi_uop_is_data()) is made one at an unknown address.
 */
static void hide_address(struct x86 *x, const ZydisDecodedOperand *o)
{
	struct cpi_uop *u = x86_add(x, CPI_UOP_NOP, 3);

	uop_base(u, CPI_REG_UNKNOWN);
	while (u->imm < 6 && 8 << u->imm < o->size)
		u->imm++;
}

void x86_unknown(struct x86 *x, unsigned int op, unsigned int arg)
{
	for (unsigned int i = 0; i < x->in->operand_count; i++) {
		const ZydisDecodedOperand *o = &x->all[i];

		if (!(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (x86_is_memory(o)) {
			if (is_masked(x))
				hide_address(x, o);
			forget_memory(x, o);
		} else if (x86_is_register(o)) {
			forget_register(x, o);
		} else {
			x->failed = true;
		}
	}
	forget_flags(x);
	if (!x->out->nr)
		x86_add(x, CPI_UOP_NOP, 3);
	tell_address(x);
}

/* Operands apart from masks, which AVX-512 has among them. */
static void sort_operands(struct x86 *x)
{
	for (unsigned int i = 0; i < x->in->operand_count_visible; i++) {
		const ZydisDecodedOperand *o = &x->all[i];

		if (o->encoding == ZYDIS_OPERAND_ENCODING_MASK) {
			if (o->reg.value != ZYDIS_REGISTER_K0)
				x->mask = (unsigned int)x86_mask(o);
			continue;
		}
		x->op[x->nr++] = o;
	}
	x->zeroing = x->in->avx.mask.mode == ZYDIS_MASK_MODE_ZEROING;
}

/* A mask, or one element of memory for all, is more than most rules know. */
static bool is_plain(const struct x86 *x, const struct x86_rule *rule)
{
	if (x->in->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX)
		return true;
	if (x->in->avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID &&
	    !x->in->avx.broadcast.is_static)
		return false;
	return !x->mask || rule->translate == x86_vmov ||
	       rule->translate == x86_kcompare || rule->translate == x86_kcompare_imm ||
	       rule->translate == x86_vcompare;
}

static void begin_again(struct x86 *x)
{
	x->failed = false;
	x->out->nr = 0;
	x->out->ends = false;
}

static void translate(struct x86 *x)
{
	const struct x86_rule *rule = x86_rule_of(x->in->mnemonic);

	if (rule && is_plain(x, rule)) {
		rule->translate(x, rule->op, rule->arg);
		if (!x->failed)
			return;
	}
	begin_again(x);
	if (!x->refused && !has_effects(x)) {
		x86_unknown(x, 0, 0);
		if (!x->failed)
			return;
	}
	begin_again(x);
	x86_stop(x, 0, CPI_WINDOW_UNSUPPORTED);
}

static void instruction(const void *state, const uint8_t *code, size_t size,
			struct translated *out)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	struct x86 x = { .in = &in, .all = operands, .out = out };

	out->nr = 0;
	out->ends = false;
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(state, code, size, &in, operands))) {
		out->length = 1;
		x86_stop(&x, 0, CPI_WINDOW_UNSUPPORTED);
	} else {
		out->length = in.length;
		sort_operands(&x);
		translate(&x);
	}
	if (out->uop[0].op == CPI_UOP_STOP)
		out->ends = true;
}

const struct translate_machine translate_x86_64 = {
	.machine = EM_X86_64,
	.state_size = sizeof(ZydisDecoder),
	.has_leads = true,
	.has_forms = true,
	.init = init,
	.instruction = instruction,
};
