/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * divide ROUNDS - divisions by a number that is 10 in 97 of 100 executions
 *
 * With -DTEST_FOR_10 it tests for 10 first, and then divides by the constant. Prints
 * the CPU time in ms.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t number[4096], by[4096];

__attribute__((noinline)) uint64_t quotients(uint64_t all)
{
	for (unsigned int i = 0; i < 4096; i++) {
		const uint64_t n = number[i] + all % 8;

#ifdef TEST_FOR_10
		all += by[i] == 10 ? n / 10 : n / by[i];
#else
		all += n / by[i]; /* DIVIDE */
#endif
	}
	return all;
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 1;
	uint64_t state = 1, all = 0;

	for (unsigned int i = 0; i < 4096; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		number[i] = state >> 16;
		by[i] = state >> 33 < UINT64_C(97) * 0x80000000 / 100 ? 10 : 11 + i;
	}
	for (int i = 0; i < rounds; i++)
		all = quotients(all);
	printf("%.0f %llu\n", (double)clock() * 1000 / CLOCKS_PER_SEC,
	       (unsigned long long)all);
	return 0;
}
