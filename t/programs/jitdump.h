/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitdump.h - the beginning of a jitdump, for programs that make code
 */
#ifndef CPI_T_PROGRAMS_JITDUMP_H
#define CPI_T_PROGRAMS_JITDUMP_H

#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct jitdump_header {
	uint32_t magic, version, total_size, elf_mach, pad, pid;
	uint64_t timestamp, flags;
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* ./jit-PID.dump, of code for a machine (EM_); exits where it cannot be. */
static FILE *jitdump_open(uint32_t machine)
{
	const struct jitdump_header h = { .magic = 0x4a695444,
					  .version = 1,
					  .total_size = sizeof(h),
					  .elf_mach = machine,
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

#endif
