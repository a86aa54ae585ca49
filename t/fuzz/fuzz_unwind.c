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

#include "analysis/unwind/unwind.h"
#include "t/fuzz/fuzz.h"

static void run(struct unwinder *u, const struct elfrange *code, const uint8_t *data,
		size_t size)
{
	uint64_t regs[UNWIND_NR_REGS] = { 0 };
	static struct unwind_chain chain;
	const size_t tail = size < sizeof(regs) ? size : sizeof(regs);
	struct unwind_sample s = { .regs = regs,
				   .stack_at = 0x7ff000000000,
				   .stack = data,
				   .stack_size = size };

	memcpy(regs, data + size - tail, tail);
	for (int reg = 6; reg < 8; reg++) /* x86-64's frame and stack pointer */
		regs[reg] = s.stack_at + regs[reg] % size;
	regs[31] = regs[7];
	for (uint64_t at = 0; at < code->size && at < 4096; at += 61) {
		regs[16] = regs[32] = code->address + at;
		unwinder_run(u, &s, &chain);
		fuzz_check(chain.nr <= UNWIND_MAX_FRAMES);
		fuzz_check(chain.end < UNWIND_NR_ENDS);
		fuzz_check(chain.nr_guessed < UNWIND_MAX_FRAMES);
	}
}

static const struct unwindtables *get_tables(void *ctx, uint32_t image)
{
	return image == 1 ? ctx : NULL;
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
	if (file->nr_text && !unwinder_open(get_tables, tables, &u)) {
		mapping.start = file->text[0].address;
		mapping.end = mapping.start + file->text[0].size;
		mapping.bias = file->text[0].offset - file->text[0].address;
		mapping.image = 1;
		fuzz_check(!unwinder_map(u, &mapping, 1));
		run(u, &file->text[0], data, size);
		unwinder_close(u);
	}
	unwindtables_close(tables);
	return 0;
}
