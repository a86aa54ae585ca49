/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steps MS - a procedure whose paths are taken in known shares, for MS of CPU time
 *
 * Three of four calls of step come from one place, and all of these are odd or two; of
 * the others each second one is a multiple of eight. The loop has three rounds in each
 * call; one call in four goes the longer way through them.
 */
#include <stdlib.h>
#include <time.h>

static volatile unsigned int sum;

void step(unsigned int i)
{
	if (i % 8 == 0)
		sum += 1; /* EIGHT */
	else
		sum ^= i; /* OTHER */
	for (unsigned int k = 0; k < 3; k++)
		if (i % 4 == 3)
			sum += k; /* LONGER */
}

int main(int argc, char **argv)
{
	const clock_t end = argc > 1 ? atoi(argv[1]) * (CLOCKS_PER_SEC / 1000) : 0;

	while (clock() < end) {
		for (unsigned int i = 0; i < 100000; i++) {
			if (i % 4)
				step(i);
			else
				step(i);
		}
	}
	return 0;
}
