/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a listing asks a file for: jump tables, calls through the PLT, static functions,
 * inlined ones, and a library's (when built with LIBRARY). Runs for so many ms.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef LIBRARY

int replaced_library(int x);
int replaced_library(int x)
{
	for (int i = 0; i < 500; i++)
		x = x * 1103515245 + 12345;
	return x;
}

#else

int replaced_library(int x);

static inline int mix(int x)
{
	return x ^ (int)((unsigned int)x >> 7);
}

__attribute__((noinline)) static int replaced_table(int x)
{
	switch (x & 15) {
	case 0:
		return x * 3;
	case 1:
		return x / 7;
	case 2:
		return mix(x);
	case 3:
		return x % 11;
	case 4:
		return x + 9;
	case 5:
		return x << 2;
	case 6:
		return abs(x);
	case 7:
		return (int)strlen("seven") + x;
	case 8:
		return ~x;
	case 9:
		return x * x;
	}
	return x - 1;
}

static double cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	const double end_ms = argc > 1 ? atof(argv[1]) : 0;
	unsigned int sum = 0;

	while (cpu_ms() < end_ms) {
		for (int i = 0; i < 1000; i++)
			sum += (unsigned int)replaced_table((int)sum + i);
		sum += (unsigned int)replaced_library((int)sum);
	}
	printf("%u\n", sum);
	return 0;
}

#endif
