/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moved MS - computes for MS of CPU time in code that it copied to memory of its own
 *
 * At the address where it was, as programs do that want huge pages for their text.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PAGE   4096
#define ROUNDS 100000ul

/* In pages of its own: the next is still needed while this one moves. */
__attribute__((noinline, aligned(PAGE))) static unsigned long
moved_burn(unsigned long rounds)
{
	unsigned long x = rounds;

	for (unsigned long i = 0; i < rounds; i++) {
		x = x * 3 + i;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

__attribute__((noinline, aligned(PAGE))) static void move(void *text)
{
	static char copy[PAGE];

	memcpy(copy, text, PAGE);
	if (mmap(text, PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		err(1, "mmap");
	memcpy(text, copy, PAGE);
	if (mprotect(text, PAGE, PROT_READ | PROT_EXEC))
		err(1, "mprotect");
}

int main(int argc, char **argv)
{
	const clock_t end =
		clock() + (argc > 1 ? atol(argv[1]) : 0) * (CLOCKS_PER_SEC / 1000);

	move((void *)moved_burn);
	while (clock() < end)
		moved_burn(ROUNDS);
	return 0;
}
