/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * burn MS [PROGRAM ARGUMENT...] - computes for MS of CPU time, then becomes PROGRAM
 *
 * Built several times, with BURN naming the procedure that computes: the
 * programs are not the same, but are linked at the same addresses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BURST 100000 /* so many rounds, then a look at the clock */

unsigned long BURN(unsigned long rounds);

__attribute__((noinline)) unsigned long BURN(unsigned long rounds)
{
	unsigned long x = rounds;

	for (unsigned long i = 0; i < rounds; i++) {
		x = x * 3 + i;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	const double end = cpu_ms() + (argc > 1 ? atof(argv[1]) : 0);

	while (cpu_ms() < end)
		BURN(BURST);
	if (argc < 3)
		return 0;
	execv(argv[2], argv + 2);
	perror(argv[2]);
	return 1;
}
