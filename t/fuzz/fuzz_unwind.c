/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_unwind.c - chains end, whatever the tables, the registers and the stack say
 *
 * The input is an ELF file, whose tables are asked, and the stack as well; the
 * registers are taken from its end. Its code is where the file's is, so a word of the
 * file that looks like an address of it goes on to a caller.
 */
#include "config.h"

#include <string.h>

#include "analysis/unwind.h"
#include "t/fuzz/fuzz.h"

static void run(struct unwinder *u, const struct elfrange *code, const uint8_t *data,
		size_t size)
{
	uint64_t regs[UNWIND_NR_REGS] = { 0 }, pc[UNWIND_MAX_FRAMES];
	const size_t tail = size < sizeof(regs) ? size : sizeof(regs);
	struct unwind_sample s = { .regs = regs,
				   .stack_at = 0x7ff000000000,
				   .stack = data,
				   .stack_size = size };
	enum unwind_end end = UNWIND_NR_ENDS;
	size_t nr;

	memcpy(regs, data + size - tail, tail);
	for (int reg = 6; reg < 8; reg++) /* x86-64's frame and stack pointer */
		regs[reg] = s.stack_at + regs[reg] % size;
	regs[31] = regs[7];
	for (uint64_t at = 0; at < code->size && at < 4096; at += 61) {
		regs[16] = regs[32] = code->address + at;
		nr = unwinder_run(u, &s, pc, &end);
		fuzz_check(nr <= UNWIND_MAX_FRAMES && end < UNWIND_NR_ENDS);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_mapping mapping = { 0 };
	struct unwindtables *tables;
	struct elffile *file;
	struct unwinder *u;
	uint8_t *copy = malloc(size + 1);

	fuzz_check(copy);
	memcpy(copy, data, size);
	if (elffile_open_memory(copy, size, &file)) {
		free(copy);
		return 0;
	}
	if (unwindtables_open(file, &tables)) {
		elffile_close(file);
		return 0;
	}
	if (file->nr_text && !unwinder_open(&u)) {
		mapping.start = file->text[0].address;
		mapping.end = mapping.start + file->text[0].size;
		mapping.bias = file->text[0].offset - file->text[0].address;
		mapping.tables = tables;
		fuzz_check(!unwinder_map(u, &mapping, 1));
		run(u, &file->text[0], data, size);
		unwinder_close(u);
	}
	unwindtables_close(tables);
	return 0;
}
