/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copy UNTIL - the copy of STREAM, until it is UNTIL (ns, real time)
 *
 * c[j] = a[j] over arrays that fit no cache. Prints how many blocks of 1 MiB were
 * copied, and the time that they took, in ns.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NR_DOUBLES (64u << 20 >> 3) /* 64 MiB each */
#define NR_BLOCK   (1u << 20 >> 3)

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	double *a = malloc(NR_DOUBLES * sizeof(*a)),
	       *c = malloc(NR_DOUBLES * sizeof(*c));
	int64_t begin, end, now, nr = 0;
	double sum = 0;

	if (argc != 2 || !a || !c)
		return 2;
	for (size_t i = 0; i < NR_DOUBLES; i++) {
		a[i] = (double)i;
		c[i] = 0;
	}
	end = strtoll(argv[1], NULL, 10);
	begin = now = now_ns();
	for (size_t at = 0; now < end; at = (at + NR_BLOCK) % NR_DOUBLES) {
		for (size_t i = at; i < at + NR_BLOCK; i++)
			c[i] = a[i];
		sum += c[at];
		nr++;
		now = now_ns();
	}
	printf("%" PRId64 " %" PRId64 "\n", nr, now - begin);
	free(a);
	free(c);
	return sum < 0; /* so that nothing is optimised away */
}
