/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * isa.h - decodes machine instructions, and simulates how a core executes them
 *
 * Decoding supports every instruction of the machine; timing follows one CPU model. One
 * struct isa serves one thread.
 */
#ifndef CPI_ANALYSIS_ISA_H
#define CPI_ANALYSIS_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/image/image.h"
#include "base/arena.h"

enum insn_kind {
	INSN_LOAD = 1 << 0,     /* reads memory; includes returns on x86 */
	INSN_STORE = 1 << 1,    /* writes memory; includes calls on x86 */
	INSN_JUMP = 1 << 2,     /* any jump except calls and returns */
	INSN_COND = 1 << 3,     /* a conditional jump */
	INSN_INDIRECT = 1 << 4, /* a jump or call through a register or memory */
	INSN_CALL = 1 << 5,
	INSN_RETURN = 1 << 6,
	INSN_DIVIDE = 1 << 7, /* divisions and square roots */
	INSN_ATOMIC = 1 << 8, /* read-modify-write, and exclusive accesses */
	INSN_FENCE = 1 << 9,
	INSN_PREFETCH = 1 << 10,
	INSN_NOP = 1 << 11,
	INSN_TRAP = 1 << 12,    /* the code after it does not run: ud2, hlt, brk */
	INSN_REPEAT = 1 << 13,  /* x86's rep string instructions */
	INSN_MOVE = 1 << 14,    /* only copies a register or a constant */
	INSN_SYSCALL = 1 << 15, /* enters the kernel */
	INSN_BAD = 1 << 16,     /* bytes that are not an instruction */
};

/*
 * Whole registers; a part counts as the whole: al is rax, w3 is x3, xmm1 is zmm1.
 * General and vector registers have the machine's numbers (rax 0, rcx 1, …, r15 15; x0
 * … x30, sp 31). AArch64's zero register is ISA_NONE.
 */
enum isa_register {
	ISA_NONE = 0,
	ISA_FLAGS = 1,
	ISA_PC = 2,
	ISA_X87 = 3,     /* the whole stack, and MMX */
	ISA_CONTROL = 4, /* all other registers */
	ISA_GENERAL = 32,
	ISA_VECTOR = 64,
	ISA_MASK = 96, /* k0 …, p0 … */
	ISA_NR_REGISTERS = 128,
};

/* A set of registers. */
struct isa_registers {
	uint64_t bit[ISA_NR_REGISTERS / 64];
};

static inline bool isa_has(const struct isa_registers *set, unsigned int reg)
{
	return set->bit[reg / 64] >> reg % 64 & 1;
}

/* base + index * scale + displacement; absent parts are ISA_NONE or 0. */
struct insn_memory {
	uint8_t base, index; /* registers; base may be ISA_PC */
	uint8_t scale;
	uint8_t size; /* bytes; 0 if there is no operand or its size is not known */
	int64_t displacement; /* with ISA_PC: the address itself */
};

struct insn {
	uint64_t address;
	uint64_t target;     /* of a direct jump or call; else 0 */
	const uint8_t *code; /* the bytes it was decoded from; they are the caller's */
	uint32_t kind;       /* set of enum insn_kind */
	uint16_t size;       /* bytes; at least 1 */
	uint16_t opcode;     /* the decoder's number for it */
	uint8_t nr_prefixes; /* prefix bytes that the decoder reads one by one */
	struct isa_registers reads, writes;
	struct insn_memory memory;
};

struct isa;

/* Returns 0, -CPI_EFORMAT if the machine's decoder is not built in, or -ENOMEM. */
int isa_open(enum machine machine, struct isa **out);
void isa_close(struct isa *isa); /* accepts NULL */

/*
 * Decodes the instruction at code[0..size), whose address is address. Bytes that are
 * not an instruction give INSN_BAD with the machine's smallest instruction size. A
 * prefix is part of its instruction. Returns 0, or -CPI_ETRUNCATED if size is 0 or the
 * instruction is cut off.
 */
int isa_decode(struct isa *isa, const uint8_t *code, size_t size, uint64_t address,
	       struct insn *out);

/* "mov    rax, qword ptr [rdi]"; "(bad)". Needs insn->code. Returns out. */
#define ISA_TEXT_SIZE 160
char *isa_text(struct isa *isa, const struct insn *insn, char out[ISA_TEXT_SIZE]);

/*
 * The operation of an instruction, if it is of the kinds that compute the addresses of
 * jump tables. to is the written register, in full, or ISA_NONE; a and b are registers.
 */
enum isa_op {
	ISA_OP_OTHER,
	ISA_OP_SET,     /* to = value */
	ISA_OP_COPY,    /* to = a's low size bytes, extended */
	ISA_OP_ADDRESS, /* to = insn->memory's address */
	ISA_OP_LOAD,    /* to = the memory at insn->memory, extended */
	ISA_OP_ADD,     /* to = a + (b's low size bytes, extended) << shift + value */
	ISA_OP_SHIFT,   /* to = a << shift */
	ISA_OP_AND,     /* to = a & value */
	ISA_OP_STORE,   /* insn->memory = a's low size bytes */
	ISA_OP_COMPARE, /* compares a (ISA_NONE: insn->memory) with value;
			   to = a - value */
};

struct isa_effect {
	enum isa_op op;
	uint8_t to, a, b;
	uint8_t size; /* bytes that are copied, loaded, stored, compared or added */
	uint8_t shift;
	bool is_signed; /* extension copies the sign */
	int64_t value;
};

struct isa_effect isa_effect(struct isa *isa, const struct insn *insn);

/* The condition of a conditional jump, as after a comparison; above is unsigned. */
enum isa_condition {
	ISA_IF_OTHER,
	ISA_IF_EQUAL,
	ISA_IF_NOT_EQUAL,
	ISA_IF_ABOVE,
	ISA_IF_NOT_ABOVE,
	ISA_IF_BELOW,
	ISA_IF_NOT_BELOW,
	ISA_IF_GREATER, /* signed */
	ISA_IF_NOT_GREATER,
	ISA_IF_LESS,
	ISA_IF_NOT_LESS,
};

enum isa_condition isa_condition(const struct isa *isa, const struct insn *insn);

/* Whether a call may change a register, by the usual calling convention. */
bool isa_is_clobbered(const struct isa *isa, unsigned int reg);

/*
 * Sets the CPU whose timing is used, by LLVM's name ("znver4", "neoverse-n1"). Returns
 * 0, or -EINVAL if there is no model of that name; then the old model stays.
 */
int isa_set_cpu(struct isa *isa, const char *name);
const char *isa_cpu(const struct isa *isa);

/*
 * LLVM's name for a CPU model as epochs record it: the name in /proc/cpuinfo, on x86
 * with its numbers ("Intel(R) Xeon(R) Processor (family 6, model 143)"), on AArch64 the
 * part. NULL if it is not known; then the generic model of isa_open() is used.
 */
const char *isa_cpu_of_model(enum machine machine, const char *model);

/*
 * Instruction i's time at the head of the reorder buffer, M_i = retire(i) −
 * max(retire(i−1), dispatch(i)), and its parts: M_i = dependency + unit + execute. All
 * in cycles, means over the iterations.
 */
struct isa_timing {
	bool modelled;    /* false: the CPU model lacks this instruction; all is 0 */
	float head;       /* M_i */
	float front_end;  /* the buffer was empty before it came; not in M_i */
	float dependency; /* waiting for an operand */
	float unit;       /* ready, waiting for a functional unit */
	float execute;    /* executing, and waiting to retire */
	int culprit;      /* the instruction it waited for longest, or ISA_NO_CULPRIT */
	uint8_t reg;      /* the register with that result; ISA_NONE: memory */
	bool carried;     /* the culprit is in an earlier iteration */
	const char *wanted; /* the unit it waited for longest, or NULL */
	uint16_t latency, uops;
};

/* Culprits count from 0 in the run; in the code before it from ISA_BEFORE downwards. */
#define ISA_NO_CULPRIT (-1)
#define ISA_BEFORE     (-2)

/* A straight run of instructions in the order of execution. */
struct isa_run {
	const struct insn *insn;
	int nr;
	const struct insn *before; /* instructions executed just before it, or NULL */
	int nr_before;
	bool loops; /* repeat before and the run until the steady state */
	bool rough; /* stop near the steady state; takes a third of the time */
};

struct isa_schedule {
	struct isa_timing *insn; /* by instruction of the run; in the arena */
	float cycles;            /* one execution of the run: Σ head + Σ front_end */
};

/*
 * Simulates the best case of a run: every load hits the L1 cache, and every jump is
 * predicted. Needs insn->code. Returns 0 or -ENOMEM.
 */
int isa_schedule(struct isa *isa, const struct isa_run *run, struct arena *arena,
		 struct isa_schedule *out);

#endif
