/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * isa_machine.h - what differs from machine to machine, behind isa.h
 */
#ifndef CPI_ANALYSIS_ISA_MACHINE_H
#define CPI_ANALYSIS_ISA_MACHINE_H

#include "analysis/isa/isa.h"
#include "analysis/isa/isa_seen.h"
#include "analysis/isa/llvm.h"

/* What is found out about an opcode when it first comes by. */
struct isa_opcode {
	bool known;
	uint32_t kind;       /* beyond what LLVM's tables say */
	uint8_t memory_size; /* of its operand */
	bool is_string;      /* x86: rep repeats it */
	bool is_zero_idiom;  /* of a register with itself, waits for nothing */
};

/* x86's own numbers, which name a CPU where its text does not: in clouds. */
struct isa_cpu_number {
	unsigned int family, low, high; /* models; family 0 ends the table */
	const char *cpu;
};

/* Which CPUs have which model: the first pattern that fits. */
struct isa_cpu_pattern {
	const char *pattern; /* as fnmatch() takes it; NULL ends the table */
	const char *cpu;
};

struct isa_machine {
	unsigned int step;                    /* what INSN_BAD is long */
	unsigned int max_size;                /* of an instruction */
	const char *generic;                  /* CPU when none is known */
	const struct isa_cpu_number *numbers; /* NULL: there are none */
	const struct isa_cpu_pattern *cpus;
	/* Fills kind and memory_size from the opcode's name. */
	void (*learn)(struct isa *isa, const struct insn *insn, const char *name,
		      struct isa_opcode *out);
	/* What depends on operands. */
	void (*refine)(const struct isa_opcode *o, struct insn *insn);
	struct isa_effect (*effect)(struct isa *isa, const struct insn *insn);
	enum isa_condition (*condition)(const struct insn *insn);
	uint32_t clobbered; /* general registers that a call may change, a bit each */
};

extern const struct isa_machine isa_x86_64, isa_aarch64;

struct isa {
	const struct isa_machine *machine;
	struct llvm_isa *llvm;
	struct isa_opcode *opcode; /* llvm_nr_opcodes() */
	char cpu[32];
	bool has_model;       /* cpu is set in llvm */
	struct isa_seen seen; /* of that CPU */
};

#endif
