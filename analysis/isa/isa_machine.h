/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * isa_machine.h - the parts of isa.h that depend on the machine
 */
#ifndef CPI_ANALYSIS_ISA_MACHINE_H
#define CPI_ANALYSIS_ISA_MACHINE_H

#include "analysis/isa/isa.h"
#include "analysis/isa/isa_seen.h"
#include "analysis/isa/llvm.h"

/* The properties of an opcode, determined when it is first decoded. */
struct isa_opcode {
	bool known;
	uint32_t kind;       /* bits that LLVM's tables do not have */
	uint8_t memory_size; /* of the memory operand */
	bool is_string;      /* x86: a rep prefix repeats it */
	bool is_zero_idiom;  /* with one register twice it has no dependency */
};

/* CPU numbers of x86, for virtual machines that hide the model's name. */
struct isa_cpu_number {
	unsigned int family, low, high; /* models; family 0 ends the table */
	const char *cpu;
};

/* Maps names of CPUs to LLVM's names: the first pattern that matches. */
struct isa_cpu_pattern {
	const char *pattern; /* as fnmatch() takes it; NULL ends the table */
	const char *cpu;
};

struct isa_machine {
	unsigned int step;                    /* the size of INSN_BAD */
	unsigned int max_size;                /* of an instruction */
	const char *generic;                  /* the CPU if it is not known */
	const struct isa_cpu_number *numbers; /* or NULL */
	const struct isa_cpu_pattern *cpus;
	/* Fills kind and memory_size from the opcode's name. */
	void (*learn)(struct isa *isa, const struct insn *insn, const char *name,
		      struct isa_opcode *out);
	/* Corrects insn by its operands. */
	void (*refine)(const struct isa_opcode *o, struct insn *insn);
	struct isa_effect (*effect)(struct isa *isa, const struct insn *insn);
	enum isa_condition (*condition)(const struct insn *insn);
	uint32_t clobbered; /* bits of the general registers that a call may change */
};

extern const struct isa_machine isa_x86_64, isa_aarch64;

struct isa {
	const struct isa_machine *machine;
	struct llvm_isa *llvm;
	struct isa_opcode *opcode; /* llvm_nr_opcodes() */
	char cpu[32];
	bool has_model;        /* cpu is set in llvm */
	struct isa_seen seen;  /* of that CPU */
	struct isa_kept *kept; /* where more of them are stored; or NULL */
};

#endif
