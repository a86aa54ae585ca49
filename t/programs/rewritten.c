/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rewritten [-n] MS ROUNDS - runs code that it writes anew, ROUNDS times, MS each
 *
 * All of it at one address, and none as what was there: other jumps are taken, and what
 * follows them lies elsewhere. ./jit-PID.dump has it, as it was loaded; each third one
 * was loaded somewhere else and has moved there. Each eighth is told of by nobody. With
 * -n none is. Prints the address first. Between two rounds it is written 1000 times and
 * run at once, so that a window meets code that it has itself written.
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

#define CODE_SIZE 128
#define ELSEWHERE 8192

struct dump_record {
	uint32_t id, total_size;
	uint64_t timestamp;
	uint32_t pid, tid;
	uint64_t vma, code_addr;
	uint64_t more[3]; /* code_size, code_index; of a move old_code_addr first */
};

static uint8_t *put(uint8_t *at, const void *code, size_t size)
{
	memcpy(at, code, size);
	return at + size;
}

/*
 * n nops; test edi, mask; jz over n nops; dec rdi; jnz to the beginning; ret. Returns
 * its size.
 */
static size_t compile(uint8_t *to, int number)
{
	static const uint8_t nops[16] = "\x90\x90\x90\x90\x90\x90\x90\x90"
					"\x90\x90\x90\x90\x90\x90\x90\x90";
	const uint8_t before = number % 5, over = 1 + number % 7;
	const uint8_t test[] = { 0xf7, 0xc7, 1 << number % 6, 0, 0, 0, 0x74, over };
	const uint8_t end[] = {
		0x48, 0xff, 0xcf, 0x75, (uint8_t) - (before + 8 + over + 5), 0xc3
	};
	uint8_t code[CODE_SIZE], *at = code;

	memset(code, 0xcc, sizeof(code));
	at = put(at, nops, before);
	at = put(at, test, sizeof(test));
	at = put(at, nops, over);
	at = put(at, end, sizeof(end));
	memcpy(to, code, sizeof(code));
	return at - code;
}

static void tell(FILE *f, const uint8_t *code, size_t size, int number, bool moves)
{
	const uint64_t first = (uintptr_t)code + (moves ? ELSEWHERE : 0);
	char name[16];
	const size_t name_size =
		1 + (size_t)snprintf(name, sizeof(name), "v%d", number);
	struct dump_record r = { .total_size = sizeof(r) - 8 + name_size + size,
				 .timestamp = now_ns(CLOCK_MONOTONIC),
				 .pid = getpid(),
				 .tid = getpid(),
				 .vma = first,
				 .code_addr = first,
				 .more = { size, number } };

	fwrite(&r, sizeof(r) - 8, 1, f);
	fwrite(name, name_size, 1, f);
	fwrite(code, size, 1, f);
	if (moves) {
		r = (struct dump_record){ .id = 1,
					  .total_size = sizeof(r),
					  .timestamp = now_ns(CLOCK_MONOTONIC),
					  .pid = getpid(),
					  .tid = getpid(),
					  .vma = (uintptr_t)code,
					  .code_addr = first,
					  .more = { (uintptr_t)code, size, number } };
		fwrite(&r, sizeof(r), 1, f);
	}
	if (fflush(f))
		err(1, "cannot tell");
}

int main(int argc, char **argv)
{
	const bool silent = argc > 1 && !strcmp(argv[1], "-n");
	const long ms = argc > 2 + silent ? atol(argv[1 + silent]) : 0;
	const int rounds = argc > 2 + silent ? atoi(argv[2 + silent]) : 0;
	uint8_t *area = mmap(NULL, 4 * ELSEWHERE, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*run)(unsigned long) = (void (*)(unsigned long))(uintptr_t)area;
	FILE *f;

	if (area == MAP_FAILED || !rounds)
		errx(1, "usage: rewritten [-n] MS ROUNDS");
	printf("area: %p\n", (void *)area);
	fflush(stdout);
	f = silent ? NULL : jitdump_open(EM_X86_64);
	for (int i = 0; i < rounds; i++) {
		uint64_t end;
		size_t size = 0;

		for (int k = 0; k < 1000; k++) {
			size = compile(area, i + k);
			run(3);
		}
		size = compile(area, i);
		if (f && i % 8 != 7)
			tell(f, area, size, i, i % 3 == 2);
		end = now_ns(CLOCK_PROCESS_CPUTIME_ID) + ms * 1000000ull;
		while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
			run(2000);
	}
	return 0;
}
