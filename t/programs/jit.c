/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit [-d] [-l] [-m] [-n] MS NAME... - computes for MS of CPU time in each procedure
 *
 * The procedures are made at run time, one after the other, all at one address. Each
 * is 256 bytes long; the loop of the first is at its beginning, that of the second 64
 * bytes further on, and so on round. They are told of in /tmp/perf-PID.map.
 *
 *	-d	told of in ./jit-PID.dump instead
 *	-l	told late, when all is done
 *	-m	the memory is a memfd's, mapped twice
 *	-n	not told at all
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

#define CODE_SIZE 256
#define STEP      64
#define ROUNDS    100000ul

/* "nop" again and again; "while (--x) ;", "return". */
#if defined(__x86_64__)
#define MACHINE EM_X86_64
static const uint8_t nop[] = { 0x90 };
static const uint8_t loop[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
static const uint8_t nop[] = { 0x1f, 0x20, 0x03, 0xd5 };
static const uint8_t loop[] = { 0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff,
				0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6 };
#else
#error "no code for this machine"
#endif

struct dump_header {
	uint32_t magic, version, total_size, elf_mach, pad, pid;
	uint64_t timestamp, flags;
};

struct dump_load {
	uint32_t id, total_size;
	uint64_t timestamp;
	uint32_t pid, tid;
	uint64_t vma, code_addr, code_size, code_index;
};

struct area {
	uint8_t *write, *run; /* the same memory */
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

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

static FILE *open_dump(void)
{
	const struct dump_header h = { .magic = 0x4a695444,
				       .version = 1,
				       .total_size = sizeof(h),
				       .elf_mach = MACHINE,
				       .pid = getpid(),
				       .timestamp = now_ns(CLOCK_MONOTONIC) };
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	f = fopen(path, "w+e");
	if (!f || fwrite(&h, sizeof(h), 1, f) != 1 || fflush(f))
		err(1, "%s", path);
	/* The mapping is what profilers know it by. */
	if (mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE,
		 fileno(f), 0) == MAP_FAILED)
		err(1, "%s", path);
	return f;
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
	bool dump = false, late = false, memfd = false, tell = true;
	struct area area;
	FILE *f = NULL;
	int c;

	while ((c = getopt(argc, argv, "dlmn")) != -1) {
		dump |= c == 'd';
		late |= c == 'l';
		memfd |= c == 'm';
		tell &= c != 'n';
	}
	if (argc - optind < 2)
		errx(1, "usage: jit [-d] [-l] [-m] [-n] MS NAME...");
	area = make_area(memfd);
	if (tell && !late)
		f = dump ? open_dump() : open_map();
	for (int i = 0; optind + 1 + i < argc; i++) {
		const char *name = argv[optind + 1 + i];

		compile(&area, i);
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
