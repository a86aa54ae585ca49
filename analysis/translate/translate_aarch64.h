/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_aarch64.h - one AArch64 instruction on its way to micro-ops
 *
 * Private to analysis/translate/translate_aarch64*.c. A rule per encoding names the
 * function that translates it. If this function cannot express the instruction, it sets
 * failed, and the instruction ends the window. Names of fields are those of the Arm
 * ARM, section C4.1.
 */
#ifndef CPI_ANALYSIS_TRANSLATE_AARCH64_H
#define CPI_ANALYSIS_TRANSLATE_AARCH64_H

#include "abi/window.h"
#include "analysis/translate/translate_machine.h"

#define A64_ZERO 31 /* as a register's number: zero, or sp */
#define A64_LINK 30
#define A64_TEMP CPI_REG_TEMP /* and two behind it */

struct a64 {
	uint32_t word;
	bool failed;
	struct translated *out;
};

/* Truth tables of VTERNARY, where c is dst, a left and b src. */
enum {
	A64_A_THEN_B = 0xb8, /* a ? b : c */
	A64_A_THEN_C = 0xe2, /* a ? c : b */
	A64_C_THEN_A = 0xca, /* c ? a : b */
};

/* Vectors' compares that are not one micro-op. */
enum {
	A64_GE,
	A64_HI,
	A64_HS,
	A64_TST,
	A64_EQ_ZERO,
	A64_GT_ZERO,
	A64_GE_ZERO,
	A64_LT_ZERO,
	A64_LE_ZERO,
};

/* arg is the rule's. */
typedef void a64_translate_fn(struct a64 *x, unsigned int arg);

struct a64_rule {
	uint32_t mask, value;
	a64_translate_fn *translate;
	unsigned int arg;
};

/* Fields. */

uint32_t a64_field(const struct a64 *x, unsigned int low, unsigned int width);
int32_t a64_signed(const struct a64 *x, unsigned int low, unsigned int width);
/* log2 of the bytes of the registers that sf, bit 31, says. */
unsigned int a64_size(const struct a64 *x);
/* Registers in fields of five bits; 31 is the zero register, or sp as it is. */
unsigned int a64_read(const struct a64 *x, unsigned int low);
unsigned int a64_written(const struct a64 *x, unsigned int low);
unsigned int a64_or_sp(const struct a64 *x, unsigned int low);
/* A condition field as a micro-op's condition; fails for 14 and 15, both "always". */
unsigned int a64_condition(struct a64 *x, unsigned int cond);

/* Micro-ops. */

struct cpi_uop *a64_add(struct a64 *x, unsigned int op, unsigned int size);
/* dst = left op src, or op src where left is the zero register. */
struct cpi_uop *a64_compute(struct a64 *x, unsigned int op, unsigned int size,
			    unsigned int dst, unsigned int left, unsigned int src);
/* The same with a constant, which also may be a shift's count. */
struct cpi_uop *a64_compute_imm(struct a64 *x, unsigned int op, unsigned int size,
				unsigned int dst, unsigned int left, int32_t imm);
/* dst = the low source bytes (log2) of src, zero- or, by SEXT, sign-extended. */
void a64_extend(struct a64 *x, unsigned int op, unsigned int size, unsigned int dst,
		unsigned int src, unsigned int source);
void a64_constant(struct a64 *x, unsigned int dst, unsigned int size, uint64_t value);
/* dst = base + disp */
void a64_address(struct a64 *x, unsigned int dst, unsigned int base, int32_t disp);
/* The bits of src that mask has replace those of dst. */
void a64_merge(struct a64 *x, unsigned int dst, unsigned int size, unsigned int src,
	       uint64_t mask);
/* A 64-bit lane of the vector register in a field of five bits: 0 or 1. */
unsigned int a64_lane(const struct a64 *x, unsigned int low, unsigned int lane);
/* v's element of 1 << size bytes becomes the low bits of the third temporary. */
void a64_insert(struct a64 *x, unsigned int v, unsigned int element, unsigned int size);
/* All of v is unknown then. */
void a64_forget_vector(struct a64 *x, unsigned int v);

/* The rules of a group, bits 25 to 28; the last one has no function. */
const struct a64_rule *a64_rules_of(unsigned int group);
/* The rule of an instruction; NULL if there is none. */
const struct a64_rule *a64_rule_of(uint32_t word);

/* Translations, by file. */

a64_translate_fn a64_adr, a64_add_imm, a64_logic_imm, a64_move_wide, a64_bitfield;
a64_translate_fn a64_extract, a64_logic, a64_add_shifted, a64_add_extended, a64_adc;
a64_translate_fn a64_ccmp, a64_csel, a64_multiply, a64_multiply_long;
a64_translate_fn a64_binary, a64_shift, a64_reverse, a64_unary;
a64_translate_fn a64_unknown; /* what field rd names is unknown then */

a64_translate_fn a64_single_imm, a64_single_unscaled, a64_single_indexed;
a64_translate_fn a64_single_register, a64_pair, a64_literal, a64_ordered, a64_load_pair;
a64_translate_fn a64_atomic, a64_swap, a64_compare_swap;
a64_translate_fn a64_structures, a64_structure;

a64_translate_fn a64_b, a64_bl, a64_b_cond, a64_cbz, a64_tbz, a64_br, a64_blr;
a64_translate_fn a64_br_signed, a64_blr_signed, a64_strip_register, a64_strip, a64_nop;
a64_translate_fn a64_forget, a64_unflag;
a64_translate_fn a64_stop; /* arg: enum cpi_window_end */
a64_translate_fn a64_get_thread, a64_set_thread;

a64_translate_fn a64_vunknown, a64_vlogic, a64_vselect, a64_vbinary, a64_vcompare;
a64_translate_fn a64_vnot, a64_vpairwise, a64_vreduce, a64_vpermute;
a64_translate_fn a64_vextract, a64_vimm, a64_vnarrow, a64_vextract_narrow, a64_vdup;
a64_translate_fn a64_vdup_element, a64_umov, a64_smov, a64_ins, a64_ins_element;
a64_translate_fn a64_fmov, a64_fmov_imm, a64_fmov_to, a64_fmov_from, a64_fcmp;
a64_translate_fn a64_fmov_high_to, a64_fmov_high_from, a64_fcsel, a64_dup_scalar;
a64_translate_fn a64_addp_scalar;

#endif
