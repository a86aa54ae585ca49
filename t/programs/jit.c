/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit [-d] [-l] [-m] [-n] [-t] [-u] MS NAME... - computes for MS of CPU time in each
 * procedure
 *
 * The procedures are made at run time, one after the other, all at one address. Each
 * is 256 bytes long; the loop of the first is at its beginning, that of the second 64
 * bytes further on, and so on round. They are told of in /tmp/perf-PID.map.
 *
 *	-d	told of in ./jit-PID.dump instead
 *	-l	told late, when all is done
 *	-m	the memory is a memfd's, mapped twice
 *	-n	not told at all
 *	-t	without frame pointers; the dump tells how to unwind their frames
 *	-u	the same, and the dump says that this is not known
 */
#define _GNU_SOURCE
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "t/programs/jitdump.h"

#define CODE_SIZE 256
#define STEP      64
#define ROUNDS    100000ul

/* "nop" again and again; "while (--x) ;", "return". */
#if defined(__x86_64__)
#define MACHINE EM_X86_64
static const uint8_t nop[] = { 0x90 };
static const uint8_t loop[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
/* push rbp; sub rsp, 64; xor ebp, ebp; the loop; add rsp, 64; pop rbp; ret */
static const uint8_t framed[] = {
	0x55, 0x48, 0x83, 0xec, 0x40, 0x31, 0xed, 0x48, 0xff,
	0xcf, 0x75, 0xfb, 0x48, 0x83, 0xc4, 0x40, 0x5d, 0xc3
};
#define RETURN_REG 16
#define CIE_START  0x0c, 7, 8, 0x90, 1 /* the CFA is rsp + 8, rip before it */
/* rbp is 16 before it; it is rsp + 16 after 1 byte, and rsp + 80 after 4 more */
#define FDE_CODE 0x41, 0x0e, 16, 0x86, 2, 0x44, 0x0e, 80
#elif defined(__aarch64__)
#define MACHINE    EM_AARCH64
static const uint8_t nop[] = { 0x1f, 0x20, 0x03, 0xd5 };
static const uint8_t loop[] = { 0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff,
				0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6 };
/* stp x29, x30, [sp, -80]!; mov x29, 0; the loop; ldp x29, x30, [sp], 80; ret */
static const uint8_t framed[] = { 0xfd, 0x7b, 0xbb, 0xa9, 0x1d, 0x00, 0x80, 0xd2,
				  0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff, 0xff, 0x54,
				  0xfd, 0x7b, 0xc5, 0xa8, 0xc0, 0x03, 0x5f, 0xd6 };
#define RETURN_REG 30
#define CIE_START  0x0c, 31, 0, 0, 0 /* the CFA is sp */
/* it is sp + 80 after 4 bytes, and x29 and x30 are there */
#define FDE_CODE   0x44, 0x0e, 80, 0x9d, 10, 0x9e, 9, 0
#else
#error "no code for this machine"
#endif

struct dump_load {
	uint32_t id, total_size;
	uint64_t timestamp;
	uint32_t pid, tid;
	uint64_t vma, code_addr, code_size, code_index;
};

/* .eh_frame, which perf has behind the code, and .eh_frame_hdr. */
static const struct dump_unwinding {
	uint32_t id, total_size;
	uint64_t timestamp, size, header_size, mapped_size;
	struct {
		uint32_t cie_size, cie_id;
		uint8_t cie[16];
		uint32_t fde_size, cie_back;
		int32_t code;
		uint32_t code_size;
		uint8_t fde[12];
		uint32_t end;
	} tables;
	struct {
		uint8_t version[4];
		int32_t tables, nr, code, fde;
	} header;
	uint32_t padding;
} unwinding = {
	.id = 4,
	.total_size = sizeof(unwinding),
	.size = sizeof(unwinding.tables) + sizeof(unwinding.header),
	.header_size = sizeof(unwinding.header),
	.mapped_size = sizeof(unwinding.tables) + sizeof(unwinding.header),
	.tables = { .cie_size = 20,
		    .cie = { 1, 'z', 'R', 0, 1, 0x78, RETURN_REG, 1, 0x1b, CIE_START },
		    .fde_size = 24,
		    .cie_back = 28,
		    .code = -(CODE_SIZE + 32),
		    .code_size = CODE_SIZE,
		    .fde = { 0, FDE_CODE } },
	.header = { { 1, 0x1b, 3, 0x3b }, -60, 1, -(CODE_SIZE + 56), -32 },
};

struct area {
	uint8_t *write, *run; /* the same memory */
};

static struct area make_area(bool in_memfd)
{
	const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
	const long size = sysconf(_SC_PAGESIZE);
	struct area a;
	int fd = -1;

	if (in_memfd) {
		fd = memfd_create("jit", MFD_CLOEXEC);
		if (fd < 0 || ftruncate(fd, size))
			err(1, "memfd_create");
		a.write = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		a.run = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	} else {
		a.run = mmap(NULL, size, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		a.write = a.run;
	}
	if (a.run == MAP_FAILED || a.write == MAP_FAILED)
		err(1, "mmap");
	return a;
}

static void compile_framed(const struct area *a)
{
	memcpy(a->write, framed, sizeof(framed));
	__builtin___clear_cache((char *)a->run, (char *)a->run + CODE_SIZE);
}

static void compile(const struct area *a, int number)
{
	const size_t at = number * STEP % CODE_SIZE;

	for (size_t i = 0; i < at; i += sizeof(nop))
		memcpy(a->write + i, nop, sizeof(nop));
	memcpy(a->write + at, loop, sizeof(loop));
	__builtin___clear_cache((char *)a->run, (char *)a->run + CODE_SIZE);
}

static FILE *open_map(void)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "we");
	if (!f)
		err(1, "%s", path);
	return f;
}

/* As V8 does: without a mapped size there is a header alone. */
static void tell_unwinding(FILE *f, bool known)
{
	struct dump_unwinding u = unwinding;

	if (!known)
		u.mapped_size = 0;
	fwrite(&u, sizeof(u), 1, f);
}

static void tell_dump(FILE *f, const struct area *a, const char *name)
{
	const struct dump_load l = {
		.total_size = sizeof(l) + strlen(name) + 1 + CODE_SIZE,
		.timestamp = now_ns(CLOCK_MONOTONIC),
		.pid = getpid(),
		.tid = getpid(),
		.vma = (uintptr_t)a->run,
		.code_addr = (uintptr_t)a->run,
		.code_size = CODE_SIZE,
	};

	fwrite(&l, sizeof(l), 1, f);
	fwrite(name, strlen(name) + 1, 1, f);
	fwrite(a->write, CODE_SIZE, 1, f);
}

static void run(const struct area *a, long ms)
{
	void (*code)(unsigned long) = (void (*)(unsigned long))(uintptr_t)a->run;
	const uint64_t end = now_ns(CLOCK_PROCESS_CPUTIME_ID) + ms * 1000000ull;

	while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
		code(ROUNDS);
}

int main(int argc, char **argv)
{
	bool dump = false, late = false, memfd = false, tell = true, frame = false,
	     known = false;
	struct area area;
	FILE *f = NULL;
	int c;

	while ((c = getopt(argc, argv, "dlmntu")) != -1) {
		dump |= c == 'd';
		late |= c == 'l';
		memfd |= c == 'm';
		tell &= c != 'n';
		frame |= c == 't' || c == 'u';
		known |= c == 't';
	}
	if (argc - optind < 2)
		errx(1, "usage: jit [-d] [-l] [-m] [-n] [-t] [-u] MS NAME...");
	area = make_area(memfd);
	if (tell && !late)
		f = dump ? jitdump_open(MACHINE) : open_map();
	for (int i = 0; optind + 1 + i < argc; i++) {
		const char *name = argv[optind + 1 + i];

		if (frame)
			compile_framed(&area);
		else
			compile(&area, i);
		if (f && dump && frame)
			tell_unwinding(f, known);
		if (f && dump)
			tell_dump(f, &area, name);
		else if (f)
			fprintf(f, "%lx %x %s\n", (unsigned long)area.run, CODE_SIZE,
				name);
		if (f && fflush(f))
			err(1, "cannot tell");
		run(&area, atol(argv[optind]));
	}
	if (late) {
		f = open_map();
		fprintf(f, "%lx %x %s\n", (unsigned long)area.run, CODE_SIZE,
			argv[argc - 1]);
	}
	return f && fclose(f) ? 1 : 0;
}
