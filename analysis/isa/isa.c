/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LLVM decodes. Its tables say what an opcode reads, writes and jumps to. All other
 * properties come from the opcode's name, which is parsed once. An instruction that
 * LLVM does not know is shown as "(bad)", never guessed.
 */
#include "config.h"

#include "analysis/isa/isa.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/isa/isa_kept.h"
#include "analysis/isa/isa_machine.h"
#include "base/err.h"

#define MAX_PREFIXES 4
#define MAX_SIZE     16
#define PRINT_WIDTH  6 /* of the mnemonic's column */

static const struct isa_machine *machine_ops(enum machine machine)
{
	switch (machine) {
	case MACHINE_X86_64:
		return &isa_x86_64;
	case MACHINE_AARCH64:
		return &isa_aarch64;
	case MACHINE_UNKNOWN:
		break;
	}
	return NULL;
}

int isa_open(enum machine machine, struct isa **out)
{
	const struct isa_machine *ops = machine_ops(machine);
	struct isa *isa;

	if (!ops)
		return -CPI_EFORMAT;
	isa = calloc(1, sizeof(*isa));
	if (!isa)
		return -ENOMEM;
	isa->machine = ops;
	isa->llvm = llvm_open(machine);
	if (!isa->llvm) {
		isa_close(isa);
		return -CPI_EFORMAT;
	}
	isa->opcode = calloc(llvm_nr_opcodes(isa->llvm), sizeof(*isa->opcode));
	if (!isa->opcode) {
		isa_close(isa);
		return -ENOMEM;
	}
	isa->seen.by_code = machine == MACHINE_AARCH64;
	snprintf(isa->cpu, sizeof(isa->cpu), "%s", ops->generic);
	*out = isa;
	return 0;
}

void isa_close(struct isa *isa)
{
	if (!isa)
		return;
	isa_kept_close(isa);
	isa_seen_fini(&isa->seen);
	llvm_close(isa->llvm);
	free(isa->opcode);
	free(isa);
}

/* The prefixes that LLVM decodes as separate instructions. */
static const char *prefix_text(const struct isa *isa, uint8_t byte)
{
	if (isa->machine != &isa_x86_64)
		return NULL;
	switch (byte) {
	case 0xf0:
		return "lock ";
	case 0xf2:
		return "repne ";
	case 0xf3:
		return "rep ";
	}
	return NULL;
}

/* Decodes an instruction together with its prefixes. */
static bool decode(struct isa *isa, const uint8_t *code, size_t size, uint64_t address,
		   struct insn *out)
{
	size_t n = 0;

	for (;; n++) {
		if (n == size || n > MAX_PREFIXES ||
		    !llvm_decode(isa->llvm, code + n, size - n, address + n, out))
			return false;
		if (out->size != 1 || !prefix_text(isa, code[n]))
			break;
	}
	out->address = address;
	out->code = code;
	out->size += n;
	out->nr_prefixes = n;
	return true;
}

/* Whether code[0..size) could be the beginning of a longer instruction. */
static bool is_cut(struct isa *isa, const uint8_t *code, size_t size, uint64_t address)
{
	uint8_t more[MAX_SIZE] = { 0 };
	struct insn insn;

	if (size >= isa->machine->max_size)
		return false;
	memcpy(more, code, size);
	return decode(isa, more, isa->machine->max_size, address, &insn) &&
	       insn.size > size;
}

static const struct isa_opcode *learn(struct isa *isa, const struct insn *insn)
{
	struct isa_opcode *o = &isa->opcode[insn->opcode];

	if (!o->known) {
		isa->machine->learn(isa, insn,
				    llvm_opcode_name(isa->llvm, insn->opcode), o);
		o->known = true;
	}
	return o;
}

int isa_decode(struct isa *isa, const uint8_t *code, size_t size, uint64_t address,
	       struct insn *out)
{
	const struct isa_opcode *o;
	struct insn insn;

	if (!size)
		return -CPI_ETRUNCATED;
	if (decode(isa, code, size, address, &insn)) {
		*out = insn;
		o = learn(isa, out);
		out->kind |= o->kind;
		out->memory.size = o->memory_size;
		isa->machine->refine(o, out);
		return 0;
	}
	if (size < isa->machine->step || is_cut(isa, code, size, address))
		return -CPI_ETRUNCATED;
	*out = (struct insn){ .address = address,
			      .size = isa->machine->step,
			      .code = code,
			      .kind = INSN_BAD };
	return 0;
}

/* LLVM's "\trep\t\tmovsb\tal, ..." with blanks; operands stand in a column. */
static void tidy(const char *from, const char *prefix, char out[ISA_TEXT_SIZE])
{
	size_t at = (size_t)snprintf(out, ISA_TEXT_SIZE, "%s", prefix);
	const char *last;

	from += strspn(from, "\t ");
	last = strrchr(from, '\t');
	for (; *from && at + 1 < ISA_TEXT_SIZE; from++) {
		if (*from != '\t') {
			out[at++] = *from;
			continue;
		}
		while (from == last && at < PRINT_WIDTH)
			out[at++] = ' ';
		if (out[at - 1] != ' ' || from == last)
			out[at++] = ' ';
	}
	while (at && out[at - 1] == ' ')
		at--;
	out[at] = '\0';
}

char *isa_text(struct isa *isa, const struct insn *insn, char out[ISA_TEXT_SIZE])
{
	const unsigned int n = insn->nr_prefixes;
	char text[ISA_TEXT_SIZE], prefix[32] = "";

	if (insn->kind & INSN_BAD) {
		strcpy(out, "(bad)");
		return out;
	}
	for (unsigned int i = 0; i < n; i++)
		strcat(prefix, prefix_text(isa, insn->code[i]));
	llvm_print(isa->llvm, insn->code + n, insn->size - n, insn->address + n, text,
		   sizeof(text));
	tidy(text, prefix, out);
	return out;
}

struct isa_effect isa_effect(struct isa *isa, const struct insn *insn)
{
	if (insn->kind & (INSN_BAD | INSN_ATOMIC))
		return (struct isa_effect){ .op = ISA_OP_OTHER };
	return isa->machine->effect(isa, insn);
}

enum isa_condition isa_condition(const struct isa *isa, const struct insn *insn)
{
	return insn->kind & INSN_COND ? isa->machine->condition(insn) : ISA_IF_OTHER;
}

bool isa_is_clobbered(const struct isa *isa, unsigned int reg)
{
	if (reg < ISA_GENERAL || reg >= ISA_GENERAL + 32)
		return true;
	return isa->machine->clobbered >> (reg - ISA_GENERAL) & 1;
}

int isa_set_cpu(struct isa *isa, const char *name)
{
	int err;

	if (strlen(name) >= sizeof(isa->cpu))
		return -EINVAL;
	err = llvm_set_cpu(isa->llvm, name);
	if (err)
		return err;
	isa_kept_close(isa);
	isa_seen_fini(&isa->seen);
	if (name != isa->cpu)
		strcpy(isa->cpu, name);
	isa->has_model = true;
	return 0;
}

const char *isa_cpu(const struct isa *isa)
{
	return isa->cpu;
}

static const char *cpu_of_number(const struct isa_cpu_number *n, const char *model)
{
	const char *at = strstr(model, "(family ");
	unsigned int family, number;

	if (!at || sscanf(at, "(family %u, model %u)", &family, &number) != 2)
		return NULL;
	for (; n && n->family; n++)
		if (n->family == family && n->low <= number && number <= n->high)
			return n->cpu;
	return NULL;
}

const char *isa_cpu_of_model(enum machine machine, const char *model)
{
	const struct isa_machine *ops = machine_ops(machine);
	const char *cpu = ops ? cpu_of_number(ops->numbers, model) : NULL;

	if (cpu)
		return cpu;
	for (const struct isa_cpu_pattern *p = ops ? ops->cpus : NULL; p && p->pattern;
	     p++)
		if (fnmatch(p->pattern, model, 0) == 0)
			return p->cpu;
	return NULL;
}
