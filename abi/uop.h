/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uop.h - micro-ops: the translated code that the window interpreter executes
 *
 * A window interprets some instructions of the interrupted program, from the sampled
 * registers on. An interrupt has no time to decode instructions. So user space
 * translates code, one page of 4 KiB at a time, to micro-ops
 * (analysis/translate/translate.h), and kmod/window.h interprets these.
 *
 * One instruction is one micro-op, or several: all but the first carry
 * CPI_UOP_MORE. Each goes through the same steps:
 *
 *   address = reg[base] + (reg[index] << scale) + disp
 *   a       = CPI_UOP_LEFT_MEM ? memory[address] : reg[left]
 *   b       = CPI_UOP_SRC_IMM ? imm : CPI_UOP_SRC_MEM ? memory[address] : reg[src]
 *   result  = a op b
 *   CPI_UOP_STORE ? memory[address] : reg[dst] = result
 *
 * a and the result have the size of the op; b and loaded values have the size of the
 * source. As on the CPUs, a result of 1 or 2 bytes does not change the rest of a
 * register, and a result of 4 bytes clears the upper half. Addresses are relative to
 * the instruction (CPI_REG_PC), so micro-ops do not depend on where the page is mapped.
 */
#ifndef CPI_ABI_UOP_H
#define CPI_ABI_UOP_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

/* What a micro-op does, and its name; imm's meaning where it is not operand b. */
#define CPI_UOPS(X)                                                                   \
	/* Control. Of direct jumps disp and address are the target. */               \
	X(STOP, "stop") /* imm: enum cpi_window_end */                                \
	X(NOP, "nop")                                                                 \
	X(GOTO, "goto") /* on with the next instruction, whose micro-op is far */     \
	X(JMP, "jmp")                                                                 \
	X(JMPI, "jmpi") /* to b */                                                    \
	X(JCC, "jcc")   /* imm: condition */                                          \
	X(JZ, "jz")     /* if b is 0 */                                               \
	X(JNZ, "jnz")                                                                 \
	X(CALL, "call")                                                               \
	X(CALLI, "calli")                                                             \
	X(RET, "ret") /* imm: bytes of arguments */                                   \
	/* Data. */                                                                   \
	X(MOV, "mov")                                                                 \
	X(SEXT, "sext")   /* b, sign-extended from the source's size */               \
	X(LEA, "lea")     /* the address */                                           \
	X(CONST, "const") /* disp: bits 0 to 31, imm: 32 to 63 */                     \
	X(PUSH, "push")                                                               \
	X(POP, "pop")                                                                 \
	X(SETCC, "setcc") /* imm: condition */                                        \
	X(CMOV, "cmov")   /* imm: condition ? b : a */                                \
	/* Arithmetic. */                                                             \
	X(ADD, "add")                                                                 \
	X(ADC, "adc")                                                                 \
	X(SUB, "sub")                                                                 \
	X(SBB, "sbb")                                                                 \
	X(AND, "and")                                                                 \
	X(OR, "or")                                                                   \
	X(XOR, "xor")                                                                 \
	X(ANDN, "andn") /* ~a & b */                                                  \
	X(NOT, "not")                                                                 \
	X(NEG, "neg")                                                                 \
	X(INC, "inc")                                                                 \
	X(DEC, "dec")                                                                 \
	X(MUL, "mul")     /* lower half; flags as imul's */                           \
	X(MULHU, "mulhu") /* upper half; flags as mul's */                            \
	X(MULHS, "mulhs")                                                             \
	X(DIVU, "divu") /* reg[base]:a / b */                                         \
	X(REMU, "remu")                                                               \
	X(DIVS, "divs")                                                               \
	X(REMS, "rems")                                                               \
	/* Arithmetic as AArch64 has it: carry is "no borrow", nothing traps. */      \
	X(SUBN, "subn")                                                               \
	X(SBCN, "sbcn")                                                               \
	X(CCMP, "ccmp")   /* imm: CPI_CCMP_IMM */                                     \
	X(QUOTU, "quotu") /* a / b; 0 if b is */                                      \
	X(QUOTS, "quots")                                                             \
	/* Shifts and bits. */                                                        \
	X(SHL, "shl")                                                                 \
	X(SHR, "shr")                                                                 \
	X(SAR, "sar")                                                                 \
	X(ROL, "rol")                                                                 \
	X(ROR, "ror")                                                                 \
	X(SHLD, "shld") /* a, filled from b, by reg[base] + imm */                    \
	X(SHRD, "shrd")                                                               \
	X(BT, "bt")                                                                   \
	X(BTS, "bts")                                                                 \
	X(BTR, "btr")                                                                 \
	X(BTC, "btc")                                                                 \
	X(BSF, "bsf")                                                                 \
	X(BSR, "bsr")                                                                 \
	X(TZCNT, "tzcnt")                                                             \
	X(LZCNT, "lzcnt")                                                             \
	X(POPCNT, "popcnt")                                                           \
	X(BSWAP, "bswap")                                                             \
	X(RBIT, "rbit")                                                               \
	X(BZHI, "bzhi")                                                               \
	X(BLSR, "blsr")                                                               \
	X(BLSI, "blsi")                                                               \
	X(BLSMSK, "blsmsk")                                                           \
	/* Vectors, 64 bits at a time. imm: log2 of the element's size, and more. */  \
	X(COMIS, "comis") /* flags as ucomisd's of a and b; imm 1: as fcmp's */       \
	X(VCMPEQ, "vcmpeq")                                                           \
	X(VCMPGT, "vcmpgt")                                                           \
	X(VMINU, "vminu")                                                             \
	X(VMAXU, "vmaxu")                                                             \
	X(VADD, "vadd")                                                               \
	X(VSUB, "vsub")                                                               \
	X(VDUP, "vdup")         /* b in each place; of the source's size */           \
	X(VUNPACK, "vunpack")   /* a's and b's elements in turn; + 4: upper halves */ \
	X(VNARROW, "vnarrow")   /* a's and b's elements, halved: CPI_NARROW_IMM */    \
	X(VSHUF, "vshuf")       /* 4-byte parts of reg[src], [src + 1]; imm: which */ \
	X(VTERNARY, "vternary") /* imm: truth table over dst, a, b */                 \
	X(VSELECT, "vselect")   /* bytes: reg[src] >> imm ? memory : a */             \
	X(VSTORE, "vstore")     /* bytes of a, those that reg[src] >> imm has */      \
	X(VMASK, "vmask")       /* elements' signs to dst's bits: CPI_MASK_IMM */     \
	X(KCMP, "kcmp")         /* the same of compares */                            \
	X(KTEST, "ktest")       /* flags as kortest's */                              \
	X(VUPPER, "vupper")     /* lanes 2 and 3 of the first 16 are unknown now */   \
	/* The rest. */                                                               \
	X(UNFLAG, "unflag")   /* imm: flags that are unknown now */                   \
	X(FORWARD, "forward") /* strings go up, or the window ends */                 \
	X(BLUR, "blur")       /* b bytes at a are unknown now */                      \
	X(LEAD, "lead")       /* no code: a lead-in, below */

#define CPI_UOP_ENUM(name, text) CPI_UOP_##name,
enum cpi_uop_op { CPI_UOPS(CPI_UOP_ENUM) CPI_NR_UOPS };

/* x86's codes of conditions, and two of machines whose carry is "no borrow". */
#define CPI_COND_HI 16 /* carry and not zero */
#define CPI_COND_LS 17

/*
 * At the bits of x86's flags register. On AArch64 N, Z, C and V are the sign, zero,
 * carry and overflow flags.
 */
#define CPI_FLAG_C   0x0001u
#define CPI_FLAG_P   0x0004u
#define CPI_FLAG_Z   0x0040u
#define CPI_FLAG_S   0x0080u
#define CPI_FLAG_O   0x0800u
#define CPI_FLAG_ALL (CPI_FLAG_C | CPI_FLAG_P | CPI_FLAG_Z | CPI_FLAG_S | CPI_FLAG_O)

/* AArch64's flags, N Z C V from bit 3 on. */
static inline uint32_t cpi_flags_of_nzcv(uint32_t nzcv)
{
	return (nzcv & 8 ? CPI_FLAG_S : 0) | (nzcv & 4 ? CPI_FLAG_Z : 0) |
	       (nzcv & 2 ? CPI_FLAG_C : 0) | (nzcv & 1 ? CPI_FLAG_O : 0);
}

/* The comparison that KCMP makes of each pair of elements. */
enum cpi_kcmp {
	CPI_KCMP_EQ, /* AVX-512's predicates 0 to 7 */
	CPI_KCMP_LT, /* signed */
	CPI_KCMP_LE,
	CPI_KCMP_FALSE,
	CPI_KCMP_NE,
	CPI_KCMP_GE,
	CPI_KCMP_GT,
	CPI_KCMP_TRUE,
	CPI_KCMP_UNSIGNED = 8, /* with LT, LE, GE, GT */
	CPI_KCMP_TEST = 16,    /* a & b is not 0 */
	CPI_KCMP_TESTN = 17,
};

/*
 * imm of KCMP: first bit in dst, log2 of the element's size, the comparison, and the
 * mask of the bits that remain.
 */
#define CPI_MASK_IMM(first, size, what, mask) \
	((first) | (size) << 8 | (what) << 16 | (mask) << 24)

/*
 * imm of CCMP: the condition, the flags if it does not hold, and whether to add (1) or
 * subtract (0).
 */
#define CPI_CCMP_IMM(cond, flags, add) ((cond) | (add) << 5 | (flags) << 8)

/*
 * imm of NARROW: log2 of the size of the result's elements, and by how much the wider
 * elements are shifted.
 */
#define CPI_NARROW_IMM(size, shift) ((size) | (shift) << 8)

/*
 * Registers: the machine's integer registers (rax 0, rcx 1, …, r15 15; x0 to x30, sp),
 * some internal ones for translation, mask registers, and 32 vector registers in lanes
 * of 64 bits. Only registers below 64 can be part of an address.
 */
#define CPI_NR_REGS           256
#define CPI_REG_ZERO          32 /* always 0; never written */
#define CPI_REG_PC            33 /* address of the instruction */
#define CPI_REG_THREAD        34 /* fs's base, tpidr_el0 */
#define CPI_REG_UNKNOWN       35 /* never written; its value is unknown */
#define CPI_REG_NONE          36 /* never read: for results that are not needed */
#define CPI_REG_TEMP          37 /* to 39: temporary, within one instruction */
#define CPI_REG_K             40 /* k0 to k7 */
#define CPI_REG_V             64
#define CPI_REG_LANE(v, lane) (CPI_REG_V + 4 * (v) + (lane))
#define CPI_REG_X86_RSP       4
#define CPI_REG_AARCH64_LINK  30
#define CPI_REG_AARCH64_SP    31
#if defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#define CPI_REG_SP CPI_REG_AARCH64_SP
#else
#define CPI_REG_SP CPI_REG_X86_RSP
#endif

/* struct cpi_uop.flags */
#define CPI_UOP_MORE \
	0x0001u /* belongs to the same instruction as the micro-op before */
#define CPI_UOP_STORE      0x0002u /* the result goes to memory */
#define CPI_UOP_LEFT_MEM   0x0004u
#define CPI_UOP_SRC_MEM    0x0008u
#define CPI_UOP_SRC_IMM    0x0010u
#define CPI_UOP_HIGH       0x0020u /* a and the result are bits 8 to 15: ah … bh */
#define CPI_UOP_SRC_HIGH   0x0040u /* b is bits 8 to 15 */
#define CPI_UOP_FLAGS      0x0080u /* sets flags */
#define CPI_UOP_ZERO_UPPER 0x0100u /* clears lanes 2 and 3 of dst's vector register */
#define CPI_UOP_ZERO_NEXT  0x0200u /* clears the lane after dst */
/* bits 10, 11: log2 of the source's size; 12 to 15: length of the instruction - 1 */
#define CPI_UOP_SOURCE_SHIFT 10
#define CPI_UOP_LENGTH_SHIFT 12

struct cpi_uop {
	uint8_t op;
	uint8_t dst;
	uint8_t left;
	uint8_t src;
	/*
	 * Bits 0 to 5 base, 6 to 11 index, 12 and 13 scale, 14 and 15 log2 of the op's
	 * size. In direct jumps: 1 + the target's place in the page's micro-ops, or 0;
	 * in a packed page the target's cell.
	 */
	uint16_t address;
	uint16_t flags;
	int32_t disp; /* direct jumps: the target, from the instruction's address */
	int32_t imm;
};

_Static_assert(sizeof(struct cpi_uop) == 16, "four micro-ops fill a cache line");

/*
 * A page of translated code. Instructions may be translated at any offsets, even if
 * they overlap: index[offset] is the instruction that a jump to this offset executes.
 * An instruction that crosses the end of the page belongs to the page in which it
 * begins.
 */
#define CPI_CODE_PAGE     4096u
#define CPI_CODE_MORE     15u   /* bytes after the page that translation may need */
#define CPI_CODE_UOPS     1536u /* of a page, apart from lead-ins */
#define CPI_LEADS         256u
#define CPI_UOPS_PER_PAGE (CPI_CODE_UOPS + CPI_LEADS)
#define CPI_CODE_LINE     64u
#define CPI_CODE_LINES    (CPI_CODE_PAGE / CPI_CODE_LINE)

struct cpi_code_page {
	uint16_t index[CPI_CODE_PAGE]; /* by offset: 1 + place in uop; 0: none (yet) */
	/*
	 * A bit for each offset where lead-ins take vectors for 0: they are wrong if a
	 * jump from another page leads there.
	 */
	uint64_t zero[CPI_CODE_LINES];
	struct cpi_uop uop[CPI_UOPS_PER_PAGE]; /* lead-ins are behind all others */
};

_Static_assert(sizeof(struct cpi_code_page) == 37376, "36.5 KiB");

/*
 * The same page packed, as the kernel side reads it (analysis/windows/codepack.h packs
 * it): only translated code takes room. A packed page is a run of cells of 16 bytes:
 *
 *	head		one
 *	lines		one for each line of 64 bytes that has translated instructions
 *	places		of these instructions' micro-ops, eight to a cell
 *	micro-ops
 *	bytes		CPI_CODE_LINE_CELLS for each line: the code from which the
 *			micro-ops were made, and the CPI_CODE_MORE + 1 bytes after it
 *
 * Lines, instructions and lead-ins are in the order of their offsets. A place is the
 * number of a cell, counted from the head.
 */
#define CPI_CODE_LINE_CELLS 5u
#define CPI_CODE_PLACES     8u  /* of a cell */
#define CPI_CODE_LEADS      32u /* instructions of a line that may have lead-ins */

struct cpi_code_head {
	uint64_t lines;  /* a bit for each line that has translated instructions */
	uint16_t places; /* the first cell of these ... */
	uint16_t bytes;  /* ... and these */
	uint16_t nr_cells;
	uint16_t unused;
};

struct cpi_code_line {
	uint64_t
		starts; /* a bit for each byte at which an instruction was translated */
	uint16_t place; /* the index of its first instruction's place */
	uint16_t lead;  /* the cell of its first lead-in */
	uint32_t leads; /* bits: which of its first instructions have lead-ins */
};

union cpi_code_cell {
	struct cpi_code_head head;
	struct cpi_code_line line;
	uint16_t place[CPI_CODE_PLACES];
	struct cpi_uop uop;
	uint64_t word[2];
};

_Static_assert(sizeof(union cpi_code_cell) == 16, "cells of 16 bytes");

#define CPI_CODE_MAX_CELLS                                                          \
	(1 + CPI_CODE_LINES + CPI_CODE_PAGE / CPI_CODE_PLACES + CPI_UOPS_PER_PAGE + \
	 CPI_CODE_LINES * CPI_CODE_LINE_CELLS)

static inline unsigned int cpi_uop_base(const struct cpi_uop *u)
{
	return u->address & 63;
}

static inline unsigned int cpi_uop_index(const struct cpi_uop *u)
{
	return u->address >> 6 & 63;
}

static inline unsigned int cpi_uop_scale(const struct cpi_uop *u)
{
	return u->address >> 12 & 3;
}

static inline unsigned int cpi_uop_size(const struct cpi_uop *u)
{
	return u->address >> 14;
}

static inline unsigned int cpi_uop_source_size(const struct cpi_uop *u)
{
	return u->flags >> CPI_UOP_SOURCE_SHIFT & 3;
}

/*
 * A lead-in (CPI_UOP_LEAD) belongs to an offset at which windows may begin. An
 * interrupt does not read vector registers. To get them, a window first interprets the
 * instructions before the offset. The translator makes sure that the program has
 * executed exactly these instructions before it came to the offset, and that they
 * stored nothing. The fields:
 *
 *   address              the first micro-op of these instructions
 *   cpi_lead_back()      how many bytes they begin before the offset; 0: there are none
 *   disp, bits 0 to 15   which of the first 16 integer registers they write once
 *   disp, bits 16 to 31  which they write more than once
 *   imm, bits 0 to 15    in which of the first 16 vector registers lanes 0 and 1 are 0
 *                        before these instructions
 *   imm, bits 16 to 31   the same for lanes 2 and 3
 */
static inline unsigned int cpi_lead_offset(const struct cpi_uop *u)
{
	return u->dst | (u->left & 15u) << 8;
}

static inline unsigned int cpi_lead_back(const struct cpi_uop *u)
{
	return u->left >> 4 | (unsigned int)u->src << 4;
}

/* Whether this is a jump whose target is in disp and address. */
static inline int cpi_uop_is_direct(const struct cpi_uop *u)
{
	return u->op == CPI_UOP_JMP || u->op == CPI_UOP_JCC || u->op == CPI_UOP_JZ ||
	       u->op == CPI_UOP_JNZ || u->op == CPI_UOP_CALL;
}

/*
 * Whether this sets AArch64's link register to the address behind the instruction. A
 * jump that follows in the same instruction is a call: AArch64 has no other ones. No
 * register of x86-64 has this number.
 */
static inline int cpi_uop_is_link(const struct cpi_uop *u)
{
	return u->op == CPI_UOP_LEA && u->dst == CPI_REG_AARCH64_LINK &&
	       cpi_uop_base(u) == CPI_REG_PC;
}

/*
 * Whether a micro-op touches data, at its address. The stack pointer's own accesses are
 * left out, because they hit the cache: those of push, pop, call and ret, and those
 * whose address is the stack pointer and a constant. Of an instruction only the first
 * such micro-op counts.
 *
 * A MOV or NOP that has an address and reads no memory belongs to an instruction whose
 * memory operand is not followed, such as one of floating point. imm is then log2 of
 * the operand's bytes.
 */
static inline int cpi_uop_is_data(const struct cpi_uop *u)
{
	const unsigned int reads = u->flags & (CPI_UOP_LEFT_MEM | CPI_UOP_SRC_MEM);
	const unsigned int regs = u->address & 0xfffu;
	const unsigned int stack = CPI_REG_SP | CPI_REG_ZERO << 6;

	if (!reads && !(u->flags & CPI_UOP_STORE))
		return (u->op == CPI_UOP_MOV || u->op == CPI_UOP_NOP) &&
		       regs != stack && regs != (CPI_REG_ZERO | CPI_REG_ZERO << 6);
	if (!reads &&
	    (u->op == CPI_UOP_CALL || u->op == CPI_UOP_CALLI || u->op == CPI_UOP_PUSH))
		return 0;
	return regs != stack;
}

static inline unsigned int cpi_uop_length(const struct cpi_uop *u)
{
	return (u->flags >> CPI_UOP_LENGTH_SHIFT) + 1;
}

#endif
