/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * llvm.h - an interface to LLVM for C: decoding, printing, simulation
 *
 * Only the files of this room use it. LLVM aborts if memory runs out, so the callers
 * limit the size of their requests.
 */
#ifndef CPI_ANALYSIS_LLVM_H
#define CPI_ANALYSIS_LLVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/isa/isa.h"

#ifdef __cplusplus
extern "C" {
#endif

struct llvm_isa;

/* Returns NULL if LLVM was built without the machine. */
struct llvm_isa *llvm_open(enum machine machine);
void llvm_close(struct llvm_isa *l); /* accepts NULL */

/*
 * Decodes one instruction, with prefixes as LLVM sees them. Fills size, opcode, target,
 * registers, the bits of kind that LLVM's tables have, and on x86-64 the memory operand
 * without its size. False if there is no instruction.
 */
bool llvm_decode(struct llvm_isa *l, const uint8_t *code, size_t size, uint64_t address,
		 struct insn *out);

/* Prints an instruction whose size llvm_decode() has found. */
void llvm_print(struct llvm_isa *l, const uint8_t *code, size_t size, uint64_t address,
		char *out, size_t out_size);

/* "MOV64rm"; valid as long as l. Numbers end below llvm_nr_opcodes(). */
const char *llvm_opcode_name(const struct llvm_isa *l, unsigned int opcode);
unsigned int llvm_nr_opcodes(const struct llvm_isa *l);

/* An operand as LLVM numbers them: a register or a constant. */
struct llvm_operand {
	bool is_register;
	uint8_t reg;
	int64_t value;
};

/* Returns how many there are; at most max are stored. */
int llvm_operands(struct llvm_isa *l, const uint8_t *code, size_t size,
		  uint64_t address, struct llvm_operand *out, int max);

/* Sets the CPU model. Returns 0, or -EINVAL for a CPU without a model. */
int llvm_set_cpu(struct llvm_isa *l, const char *name);

/* The units of the current model. The names are never freed. */
unsigned int llvm_nr_units(const struct llvm_isa *l);
const char *llvm_unit(const struct llvm_isa *l, unsigned int i);

/* The stages of one execution of an instruction, in cycles from the start. */
struct llvm_times {
	unsigned int dispatched, ready, issued, executed, retired;
	int producer;       /* index of the execution that it waited for, or -1 */
	uint8_t reg;        /* the register through which it waited */
	const char *wanted; /* the busy unit for which it waited when ready, or NULL */
};

struct llvm_model {
	bool modelled;
	uint16_t latency, uops;
};

/*
 * Executes insn[0..nr) iterations times. Fills model[nr] and times[nr * iterations];
 * instructions that are not modelled are left out and stay zero.
 */
void llvm_simulate(struct llvm_isa *l, const struct insn *const *insn, int nr,
		   int iterations, struct llvm_model *model, struct llvm_times *times);

#ifdef __cplusplus
}
#endif

#endif
