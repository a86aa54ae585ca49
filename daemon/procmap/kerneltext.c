/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kerneltext.c - a small BPF program that copies kernel memory
 *
 * The program's few instructions are written here, so it needs no compiler and no
 * relocation. It copies 64 KiB at a time into a BPF map that is mapped into the daemon.
 * bpf_prog_test_run_opts() runs it; it is never attached.
 */
#include "config.h"

#include "daemon/procmap/kerneltext.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WINDOW_SIZE (64u << 10) /* bytes copied by one run */

struct kerneltext {
	int window_fd; /* a map with one element, into which the program copies */
	int prog_fd;
	const void *window;
};

/*
 * Loads a program that passes its two arguments, address and size, to
 * bpf_probe_read_kernel().
 */
static int load_reader(struct kerneltext *t)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_LDX | BPF_MEM | BPF_DW,
		  .dst_reg = BPF_REG_3,
		  .src_reg = BPF_REG_1,
		  .off = 0 },
		{ .code = BPF_LDX | BPF_MEM | BPF_DW,
		  .dst_reg = BPF_REG_2,
		  .src_reg = BPF_REG_1,
		  .off = sizeof(uint64_t) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K,
		  .dst_reg = BPF_REG_0,
		  .imm = -E2BIG },
		{ .code = BPF_JMP | BPF_JGT | BPF_K,
		  .dst_reg = BPF_REG_2,
		  .off = 3,
		  .imm = WINDOW_SIZE },
		{ .code = BPF_LD | BPF_IMM | BPF_DW,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_VALUE,
		  .imm = t->window_fd },
		{ 0 }, /* second half of the previous instruction */
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	t->prog_fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "cpi_text", "GPL",
				   code, sizeof(code) / sizeof(code[0]), NULL);
	return t->prog_fd < 0 ? t->prog_fd : 0;
}

static int map_window(struct kerneltext *t)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	void *window;

	t->window_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "cpi_window",
				      sizeof(uint32_t), WINDOW_SIZE, 1, &opts);
	if (t->window_fd < 0)
		return t->window_fd;
	window = mmap(NULL, WINDOW_SIZE, PROT_READ, MAP_SHARED, t->window_fd, 0);
	if (window == MAP_FAILED)
		return -errno;
	t->window = window;
	return 0;
}

int kerneltext_open(struct kerneltext **out)
{
	struct kerneltext *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->window_fd = t->prog_fd = -1;
	err = map_window(t);
	if (!err)
		err = load_reader(t);
	if (err) {
		kerneltext_close(t);
		return err;
	}
	*out = t;
	return 0;
}

void kerneltext_close(struct kerneltext *t)
{
	if (!t)
		return;
	if (t->window)
		munmap((void *)t->window, WINDOW_SIZE);
	if (t->window_fd >= 0)
		close(t->window_fd);
	if (t->prog_fd >= 0)
		close(t->prog_fd);
	free(t);
}

static int fill_window(struct kerneltext *t, uint64_t address, size_t size)
{
	const uint64_t args[] = { address, size };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args,
		    .ctx_size_in = sizeof(args));
	int err = bpf_prog_test_run_opts(t->prog_fd, &opts);

	return err ? err : (int)opts.retval;
}

int kerneltext_read(struct kerneltext *t, uint64_t address, void *to, size_t size)
{
	for (size_t at = 0; at < size; at += WINDOW_SIZE) {
		const size_t part = size - at < WINDOW_SIZE ? size - at : WINDOW_SIZE;
		int err = fill_window(t, address + at, part);

		if (err)
			return err;
		memcpy((char *)to + at, t->window, part);
	}
	return 0;
}
