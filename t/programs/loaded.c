/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loaded.so - what the loader of loader.c loads
 */
#include <time.h>

double loaded_burn(double ms);

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* Computes for ms of CPU time, nearly all of it here. */
__attribute__((noinline)) double loaded_burn(double ms)
{
	const double end = cpu_ms() + ms;
	unsigned long x = 1;

	while (cpu_ms() < end) {
		for (unsigned long i = 0; i < 100000; i++) {
			x = x * 3 + i;
			__asm__ volatile("" : "+r"(x));
		}
	}
	return (double)x;
}
