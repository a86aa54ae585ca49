/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_x86_64.h - one x86-64 instruction on its way to micro-ops
 *
 * Private to analysis/translate/translate_x86_64*.c. A rule per mnemonic names the
 * function that translates it. If this function cannot express the instruction, it sets
 * failed; then what the instruction writes becomes unknown, or it ends the window
 * (translate_x86_64.c).
 */
#ifndef CPI_ANALYSIS_TRANSLATE_X86_64_H
#define CPI_ANALYSIS_TRANSLATE_X86_64_H

#include <Zydis/Zydis.h>

#include "abi/window.h"
#include "analysis/translate/translate_machine.h"

enum {
	X86_RAX = 0,
	X86_RCX = 1,
	X86_RDX = 2,
	X86_RSP = CPI_REG_X86_RSP,
	X86_RBP = 5,
	X86_RSI = 6,
	X86_RDI = 7,
};

struct x86 {
	const ZydisDecodedInstruction *in;
	const ZydisDecodedOperand *all; /* in->operand_count of them */
	/* Those that are written in assembly, but for AVX-512's masks. */
	const ZydisDecodedOperand *op[ZYDIS_MAX_OPERAND_COUNT];
	unsigned int nr;
	unsigned int mask; /* its register, or 0 */
	bool zeroing;
	bool failed;
	bool refused; /* failed, and writes more than its operands */
	struct translated *out;
};

/* A condition. */
#define X86_EQUAL 4

/* Strings' ops. */
enum {
	X86_MOVS,
	X86_STOS,
	X86_LODS,
};

/* op and arg are the rule's. */
typedef void x86_translate_fn(struct x86 *x, unsigned int op, unsigned int arg);

struct x86_rule {
	x86_translate_fn *translate;
	uint8_t op;
	uint8_t arg;
};

/* Operands. */

/* Appends a micro-op of 1 << size bytes that reads and writes nothing yet. */
struct cpi_uop *x86_add(struct x86 *x, unsigned int op, unsigned int size);
/* Its operands: a register or memory, and for the source a constant. */
void x86_left(struct x86 *x, struct cpi_uop *u, const ZydisDecodedOperand *o);
void x86_src(struct x86 *x, struct cpi_uop *u, const ZydisDecodedOperand *o);
void x86_dst(struct x86 *x, struct cpi_uop *u, const ZydisDecodedOperand *o);
void x86_memory(struct x86 *x, struct cpi_uop *u, const ZydisDecodedOperand *o,
		int32_t offset);

/* log2 of an operand's bytes; fails if it is not 1, 2, 4 or 8. */
unsigned int x86_size(struct x86 *x, const ZydisDecodedOperand *o);
bool x86_is_memory(const ZydisDecodedOperand *o);
bool x86_is_register(const ZydisDecodedOperand *o);
/* Numbers of registers of a kind, or -1. */
int x86_gpr(const ZydisDecodedOperand *o, bool *high);
int x86_vector(const ZydisDecodedOperand *o);
int x86_mask(const ZydisDecodedOperand *o);
bool x86_same_register(const ZydisDecodedOperand *a, const ZydisDecodedOperand *b);

/* The 64-bit lane of a vector operand; what is beyond the fourth is not known. */
void x86_lane_left(struct x86 *x, struct cpi_uop *u, const ZydisDecodedOperand *o,
		   unsigned int lane);
void x86_lane_src(struct x86 *x, struct cpi_uop *u, const ZydisDecodedOperand *o,
		  unsigned int lane);
void x86_lane_dst(struct x86 *x, struct cpi_uop *u, const ZydisDecodedOperand *o,
		  unsigned int lane);
/* VEX and EVEX forms clear what is above their vector. */
bool x86_clears_upper(const struct x86 *x);

/* The rule of a mnemonic; NULL if there is none. */
const struct x86_rule *x86_rule_of(ZydisMnemonic mnemonic);

/* Translations, by file. */

x86_translate_fn x86_unknown; /* all that it writes is unknown then */

x86_translate_fn x86_binary, x86_compare, x86_unary, x86_shift, x86_shift_three;
x86_translate_fn x86_shift_double, x86_bit_test, x86_scan, x86_three, x86_swap;
x86_translate_fn x86_movbe, x86_multiply, x86_multiply_wide, x86_divide;

x86_translate_fn x86_mov, x86_extend, x86_lea, x86_extend_rax, x86_sign_rax;
x86_translate_fn x86_xchg, x86_xadd, x86_cmpxchg, x86_setcc, x86_cmov;
x86_translate_fn x86_push, x86_pop, x86_leave, x86_unflag, x86_forward, x86_string;
x86_translate_fn x86_movsd, x86_cmpsd, x86_pushf;

x86_translate_fn x86_jmp, x86_jcc, x86_jcxz, x86_loop, x86_call, x86_ret;
x86_translate_fn x86_stop; /* arg: enum cpi_window_end */
x86_translate_fn x86_nop;
x86_translate_fn x86_pause;

x86_translate_fn x86_vmov, x86_vmov_scalar, x86_vmov_half, x86_vbinary, x86_vmask;
x86_translate_fn x86_vdup, x86_vunpack, x86_vunpack_quad, x86_vshuf, x86_valign;
x86_translate_fn x86_vshift_bytes, x86_vshift, x86_comis, x86_vzeroupper;
x86_translate_fn x86_vternary, x86_vextract, x86_vinsert;

x86_translate_fn x86_kmov, x86_kbinary, x86_knot, x86_kshift, x86_ktest, x86_kunpack;
x86_translate_fn x86_kcompare, x86_kcompare_imm, x86_vcompare;

#endif
