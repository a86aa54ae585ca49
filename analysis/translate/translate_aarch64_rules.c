/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_aarch64_rules.c - which function translates which AArch64 instruction
 *
 * The first rule that matches is used. Rules are in the order of the Arm ARM's section
 * C4.1: grouped by bits 25 to 28 and, within a group, special ones before general ones.
 */
#include "config.h"

#include "analysis/translate/translate_aarch64.h"

/* Bits 26 to 28 are 100: a constant. */
static const struct a64_rule constants[] = {
	{ 0x9f000000, 0x10000000, a64_adr, 0 },
	{ 0x9f000000, 0x90000000, a64_adr, 1 },
	{ 0x1f800000, 0x11000000, a64_add_imm, 0 },
	{ 0x1f800000, 0x12000000, a64_logic_imm, 0 },
	{ 0x7f800000, 0x32800000, a64_stop, CPI_WINDOW_UNSUPPORTED }, /* none */
	{ 0x1f800000, 0x12800000, a64_move_wide, 0 },
	{ 0x1f800000, 0x13000000, a64_bitfield, 0 },
	{ 0x7fa00000, 0x13800000, a64_extract, 0 },
	{ 0, 0, NULL, 0 },
};

/* Bits 26 to 28 are 101: jumps, and what is the system's. */
static const struct a64_rule control[] = {
	{ 0xfc000000, 0x14000000, a64_b, 0 },
	{ 0xfc000000, 0x94000000, a64_bl, 0 },
	{ 0xff000000, 0x54000000, a64_b_cond, 0 },
	{ 0x7e000000, 0x34000000, a64_cbz, 0 },
	{ 0x7e000000, 0x36000000, a64_tbz, 0 },
	{ 0xfffffc1f, 0xd61f0000, a64_br, 0 },
	{ 0xfffffc1f, 0xd63f0000, a64_blr, 0 },
	{ 0xfffffc1f, 0xd65f0000, a64_br, 0 }, /* ret */
	{ 0xfffff81f, 0xd61f081f, a64_br_signed, 0 },
	{ 0xfffff81f, 0xd63f081f, a64_blr_signed, 0 },
	{ 0xfffffbff, 0xd65f0bff, a64_br_signed, 1 }, /* retaa, retab */
	{ 0xfffff800, 0xd71f0800, a64_br_signed, 0 },
	{ 0xfffff800, 0xd73f0800, a64_blr_signed, 0 },
	{ 0xffe0001f, 0xd4000001, a64_stop, CPI_WINDOW_SYSTEM_CALL },
	{ 0xff000000, 0xd4000000, a64_stop, CPI_WINDOW_TRAP },
	{ 0xffffffff, 0xd50320ff, a64_strip_register, A64_LINK }, /* xpaclri */
	{ 0xffffffbf, 0xd503219f, a64_strip_register, 17 }, /* autia1716, autib1716 */
	{ 0xffffffbf, 0xd503211f, a64_forget, 17 },         /* pacia1716, pacib1716 */
	{ 0xffffff9f, 0xd503239f, a64_strip_register,
	  A64_LINK },                               /* autiaz, autiasp, … */
	{ 0xffffffff, 0xd503251f, a64_forget, 16 }, /* chkfeat */
	{ 0xfffff01f, 0xd503201f, a64_nop, 0 },     /* hints */
	{ 0xfffff01f, 0xd503301f, a64_nop, 0 },     /* barriers, clrex */
	{ 0xffffff1f, 0xd500401f, a64_unflag, 0 },  /* cfinv, xaflag, axflag */
	{ 0xffffffe0, 0xd53bd040, a64_get_thread, 0 },
	{ 0xffffffe0, 0xd51bd040, a64_set_thread, 0 },
	{ 0xffffffe0, 0xd51b4200, a64_unflag, 0 }, /* msr nzcv */
	{ 0xffffffc0, 0xd51b4400, a64_nop, 0 },    /* msr fpcr, fpsr */
	{ 0xfff00000, 0xd5300000, a64_unknown, 0 },
	{ 0, 0, NULL, 0 },
};

/* Bit 27 is set, bit 25 is not: memory. */
static const struct a64_rule memory[] = {
	{ 0xbfbf0000, 0x0c000000, a64_structures, 0 },
	{ 0xbfa00000, 0x0c800000, a64_structures, 0 },
	{ 0xbf9f0000, 0x0d000000, a64_structure, 0 },
	{ 0xbf800000, 0x0d800000, a64_structure, 0 },
	{ 0x3fe00000, 0x08400000, a64_ordered, 0 },   /* ldxr, ldaxr */
	{ 0x3fa00000, 0x08800000, a64_ordered, 0 },   /* ldar, stlr */
	{ 0xbfe00000, 0x88600000, a64_load_pair, 0 }, /* ldxp, ldaxp */
	{ 0x3fa07c00, 0x08a07c00, a64_compare_swap, 0 },
	{ 0x3b000000, 0x18000000, a64_literal, 0 },
	{ 0x3f200c00, 0x19000000, a64_single_unscaled, 0 }, /* ldapur, stlur */
	{ 0x3a000000, 0x28000000, a64_pair, 0 },
	{ 0x3b000000, 0x39000000, a64_single_imm, 0 },
	{ 0x3b200c00, 0x38000000, a64_single_unscaled, 0 },
	{ 0x3f200c00, 0x38000800, a64_single_unscaled, 0 }, /* ldtr, sttr */
	{ 0x3b200c00, 0x38000400, a64_single_indexed, 0 },
	{ 0x3b200c00, 0x38000c00, a64_single_indexed, 1 },
	{ 0x3b200c00, 0x38200800, a64_single_register, 0 },
	{ 0x3f20fc00, 0x38200000, a64_atomic, CPI_UOP_ADD },
	{ 0x3f20fc00, 0x38201000, a64_atomic, CPI_UOP_ANDN },
	{ 0x3f20fc00, 0x38202000, a64_atomic, CPI_UOP_XOR },
	{ 0x3f20fc00, 0x38203000, a64_atomic, CPI_UOP_OR },
	{ 0x3f20cc00, 0x38204000, a64_atomic, CPI_UOP_NOP }, /* minima, maxima */
	{ 0x3f20fc00, 0x38208000, a64_swap, 0 },
	{ 0x3ffffc00, 0x38bfc000, a64_ordered, 1 }, /* ldapr */
	{ 0, 0, NULL, 0 },
};

/* Bits 25 to 27 are 101: registers. */
static const struct a64_rule registers[] = {
	{ 0x1f200000, 0x0a000000, a64_logic, 0 },
	{ 0x1f200000, 0x0a200000, a64_logic, 1 }, /* inverts */
	{ 0x1f200000, 0x0b000000, a64_add_shifted, 0 },
	{ 0x1fe00000, 0x0b200000, a64_add_extended, 0 },
	{ 0x1fe0fc00, 0x1a000000, a64_adc, 0 },
	{ 0xffe07c10, 0xba000400, a64_unflag, 0 }, /* rmif */
	{ 0xffffbc1f, 0x3a00080d, a64_unflag, 0 }, /* setf8, setf16 */
	{ 0x3fe00c10, 0x3a400000, a64_ccmp, 0 },
	{ 0x3fe00c10, 0x3a400800, a64_ccmp, 1 },
	{ 0x3fe00800, 0x1a800000, a64_csel, 0 },
	{ 0x7fe00000, 0x1b000000, a64_multiply, 0 },
	{ 0xffe00000, 0x9b200000, a64_multiply_long, CPI_UOP_SEXT },
	{ 0xffe00000, 0x9ba00000, a64_multiply_long, CPI_UOP_MOV },
	{ 0xffe08000, 0x9b400000, a64_binary, CPI_UOP_MULHS },
	{ 0xffe08000, 0x9bc00000, a64_binary, CPI_UOP_MULHU },
	{ 0x7fe0fc00, 0x1ac00800, a64_binary, CPI_UOP_QUOTU },
	{ 0x7fe0fc00, 0x1ac00c00, a64_binary, CPI_UOP_QUOTS },
	{ 0x7fe0fc00, 0x1ac02000, a64_shift, CPI_UOP_SHL },
	{ 0x7fe0fc00, 0x1ac02400, a64_shift, CPI_UOP_SHR },
	{ 0x7fe0fc00, 0x1ac02800, a64_shift, CPI_UOP_SAR },
	{ 0x7fe0fc00, 0x1ac02c00, a64_shift, CPI_UOP_ROR },
	{ 0xffe0fc00, 0x9ac01000, a64_stop, CPI_WINDOW_UNSUPPORTED }, /* irg */
	{ 0x7fe00000, 0x1ac00000, a64_unknown, 0 },                   /* crc32, … */
	{ 0x7ffffc00, 0x5ac00000, a64_unary, CPI_UOP_RBIT },
	{ 0x7ffffc00, 0x5ac00400, a64_reverse, 1 },
	{ 0x7ffffc00, 0x5ac00800, a64_reverse, 2 },
	{ 0xfffffc00, 0xdac00c00, a64_reverse, 3 },
	{ 0x7ffffc00, 0x5ac01000, a64_unary, CPI_UOP_LZCNT },
	{ 0xfffff800, 0xdac11000, a64_strip, 0 }, /* autia, autib */
	{ 0xfffffbe0, 0xdac133e0, a64_strip, 0 }, /* autiza, autizb */
	{ 0xffffffe0, 0xdac143e0, a64_strip, 0 }, /* xpaci */
	{ 0x7fe00000, 0x5ac00000, a64_unknown, 0 },
	{ 0, 0, NULL, 0 },
};

/* Bits 25 to 27 are 111: vectors and floating point. */
static const struct a64_rule vectors[] = {
	/* Three registers of the same kind. */
	{ 0xbfe0fc00, 0x0e201c00, a64_vlogic, CPI_UOP_AND },
	{ 0xbfe0fc00, 0x0e601c00, a64_vlogic, CPI_UOP_ANDN }, /* bic */
	{ 0xbfe0fc00, 0x0ea01c00, a64_vlogic, CPI_UOP_OR },
	{ 0xbfe0fc00, 0x0ee01c00, a64_vlogic, CPI_UOP_NOT }, /* orn */
	{ 0xbfe0fc00, 0x2e201c00, a64_vlogic, CPI_UOP_XOR },
	{ 0xbfe0fc00, 0x2e601c00, a64_vselect, 1 },
	{ 0xbfe0fc00, 0x2ea01c00, a64_vselect, 2 },
	{ 0xbfe0fc00, 0x2ee01c00, a64_vselect, 3 },
	{ 0xbf20fc00, 0x0e203400, a64_vbinary, CPI_UOP_VCMPGT },
	{ 0xbf20fc00, 0x0e203c00, a64_vcompare, A64_GE },
	{ 0xbf20fc00, 0x2e203400, a64_vcompare, A64_HI },
	{ 0xbf20fc00, 0x2e203c00, a64_vcompare, A64_HS },
	{ 0xbf20fc00, 0x0e208c00, a64_vcompare, A64_TST },
	{ 0xbf20fc00, 0x2e208c00, a64_vbinary, CPI_UOP_VCMPEQ },
	{ 0xbf20fc00, 0x2e206400, a64_vbinary, CPI_UOP_VMAXU },
	{ 0xbf20fc00, 0x2e206c00, a64_vbinary, CPI_UOP_VMINU },
	{ 0xbf20fc00, 0x0e208400, a64_vbinary, CPI_UOP_VADD },
	{ 0xbf20fc00, 0x2e208400, a64_vbinary, CPI_UOP_VSUB },
	{ 0xbf20fc00, 0x2e20a400, a64_vpairwise, CPI_UOP_VMAXU },
	{ 0xbf20fc00, 0x2e20ac00, a64_vpairwise, CPI_UOP_VMINU },
	{ 0xbf20fc00, 0x0e20bc00, a64_vpairwise, CPI_UOP_VADD },
	/* Two. */
	{ 0xbf3ffc00, 0x0e208800, a64_vcompare, A64_GT_ZERO },
	{ 0xbf3ffc00, 0x0e209800, a64_vcompare, A64_EQ_ZERO },
	{ 0xbf3ffc00, 0x0e20a800, a64_vcompare, A64_LT_ZERO },
	{ 0xbf3ffc00, 0x2e208800, a64_vcompare, A64_GE_ZERO },
	{ 0xbf3ffc00, 0x2e209800, a64_vcompare, A64_LE_ZERO },
	{ 0xbffffc00, 0x2e205800, a64_vnot, 0 },
	{ 0xbf3ffc00, 0x0e212800, a64_vextract_narrow, 0 },
	{ 0xbf3ffc00, 0x2e30a800, a64_vreduce, CPI_UOP_VMAXU },
	{ 0xbf3ffc00, 0x2e31a800, a64_vreduce, CPI_UOP_VMINU },
	{ 0xbf3ffc00, 0x0e31b800, a64_vreduce, CPI_UOP_VADD },
	{ 0xfffffc00, 0x5ef1b800, a64_addp_scalar, 0 },
	/* Elements, constants. */
	{ 0xbfe0fc00, 0x0e000400, a64_vdup_element, 0 },
	{ 0xbfe0fc00, 0x0e000c00, a64_vdup, 0 },
	{ 0xbfe0fc00, 0x0e002c00, a64_smov, 0 },
	{ 0xbfe0fc00, 0x0e003c00, a64_umov, 0 },
	{ 0xbfe0fc00, 0x0e001c00, a64_ins, 0 },
	{ 0xbfe08400, 0x2e000400, a64_ins_element, 0 },
	{ 0xffe0fc00, 0x5e000400, a64_dup_scalar, 0 },
	{ 0xbf208c00, 0x0e000800, a64_vpermute, 0 },
	{ 0xbfe08400, 0x2e000000, a64_vextract, 0 },
	{ 0x9ff80400, 0x0f000400, a64_vimm, 0 },
	{ 0xbf80fc00, 0x0f008400, a64_vnarrow, 0 },
	/* Numbers. */
	{ 0xff20fc07, 0x1e202000, a64_fcmp, 0 },
	{ 0xff200c00, 0x1e200400, a64_unflag, 0 }, /* fccmp */
	{ 0xffa00c00, 0x1e200c00, a64_fcsel, 0 },
	{ 0xffbffc00, 0x1e204000, a64_fmov, 0 },
	{ 0xffa01fe0, 0x1e201000, a64_fmov_imm, 0 },
	{ 0xfffffc00, 0x1e260000, a64_fmov_to, 2 },
	{ 0xfffffc00, 0x9e660000, a64_fmov_to, 3 },
	{ 0xfffffc00, 0x1e270000, a64_fmov_from, 2 },
	{ 0xfffffc00, 0x9e670000, a64_fmov_from, 3 },
	{ 0xfffffc00, 0x9eae0000, a64_fmov_high_to, 0 },
	{ 0xfffffc00, 0x9eaf0000, a64_fmov_high_from, 0 },
	{ 0xfffffc00, 0x1e7e0000, a64_stop, CPI_WINDOW_UNSUPPORTED }, /* fjcvtzs */
	{ 0x7f3efc00, 0x1e220000, a64_vunknown, 0 }, /* scvtf, ucvtf, */
	{ 0x7f3ffc00, 0x1e270000, a64_vunknown, 0 }, /* fmov of two bytes, */
	{ 0x7f20fc00, 0x1e200000, a64_unknown, 0 },  /* and the other way */
	{ 0x7f3e0000, 0x1e020000, a64_vunknown, 0 },
	{ 0x7f200000, 0x1e000000, a64_unknown, 0 },
	/* Crypto's, and all others. */
	{ 0xff208c00, 0x5e000000, a64_vunknown, 1 },
	{ 0xff3e0c00, 0x5e280800, a64_vunknown, 1 },
	{ 0, 0, a64_vunknown, 0 },
	{ 0, 0, NULL, 0 },
};

/* The others: reserved, scalable vectors and matrices. */
static const struct a64_rule none = { 0, 0, NULL, 0 };

const struct a64_rule *a64_rules_of(unsigned int group)
{
	switch (group & 7) {
	case 4:
	case 6:
		return memory;
	case 5:
		return registers;
	case 7:
		return vectors;
	}
	switch (group) {
	case 8:
	case 9:
		return constants;
	case 10:
	case 11:
		return control;
	}
	return &none;
}

const struct a64_rule *a64_rule_of(uint32_t word)
{
	const struct a64_rule *rule = a64_rules_of(word >> 25 & 15);

	while (rule->translate && (word & rule->mask) != rule->value)
		rule++;
	return rule->translate ? rule : NULL;
}
