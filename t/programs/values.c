/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * values MS - a procedure whose values have known shares, for MS of CPU time
 *
 * Of 16 calls 12 go to most, 2 to some and 2 to few. The inner loop has 3 iterations in
 * 12 of 16 rounds, and 6 in the others. Its store is aligned to 8 bytes in those 12,
 * and to 4 bytes in the others.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile unsigned int sum;
static uint64_t data[64];

__attribute__((noinline)) void most(void)
{
	sum += 1;
}

__attribute__((noinline)) void some(void)
{
	sum += 2;
}

__attribute__((noinline)) void few(void)
{
	sum += 3;
}

static void (*volatile const target[])(void) = { most, most, most, most, most, most,
						 most, most, most, most, most, most,
						 some, some, few,  few };

__attribute__((noinline)) void values(unsigned int rounds)
{
	/* An order in which no value follows from the one before. */
	for (unsigned int i = 0, at = 0; i < rounds; i++) {
		at = (at * 5 + 3) % 16;
		const unsigned int nr = at < 12 ? 3 : 6;
		char *const to = (char *)data + (at < 12 ? 0 : 4);

		for (unsigned int k = 0; k < nr; k++)
			*(volatile uint64_t *)(to + 8 * k) = k; /* STORE */
		target[at]();                                   /* CALL */
	}
}

int main(int argc, char **argv)
{
	const clock_t end = argc > 1 ? atoi(argv[1]) * (CLOCKS_PER_SEC / 1000) : 0;

	while (clock() < end)
		values(100000);
	return 0;
}
