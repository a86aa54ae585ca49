/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * isa.h - decoding machine instructions, one ops table per machine
 */
#ifndef CPI_ANALYSIS_ISA_H
#define CPI_ANALYSIS_ISA_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/image.h"

struct insn {
	uint64_t address;
	unsigned int size; /* bytes; at least 1 */
	char text[160];  /* "mov    rax, qword ptr [rdi]"; "(bad)" for no instruction */
	uint64_t target; /* of a direct jump or call; 0 when there is none */
};

struct isa;

/* Returns 0, -CPI_EFORMAT for a machine that is not built in, or -ENOMEM. */
int isa_open(enum machine machine, struct isa **out);
void isa_close(struct isa *isa); /* accepts NULL */

/*
 * Decodes the instruction at code[0..size), which stands at address. Bytes
 * that are no instruction give "(bad)" and the machine's smallest step.
 * Returns 0, or -CPI_ETRUNCATED when size is 0 or the instruction is cut off.
 */
int isa_decode(struct isa *isa, const uint8_t *code, size_t size, uint64_t address,
	       struct insn *out);

#endif
