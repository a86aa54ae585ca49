/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spin UNTIL - reads the clock as fast as it can, until it is UNTIL (ns, real time)
 *
 * Two readings that lie far apart had something between them: an interrupt, or, above
 * GAP_MAX_NS, another thread's turn. Prints how many readings there were, the time
 * that they took, how much of it interrupts have stolen, and how much was this
 * thread's turn, in ns. As daemon/collect/calibrate.c does, but for seconds, and
 * whatever samples.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define GAP_MAX_NS 200000
#define NR_STEPS   999

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The usual time between two readings. */
static int64_t measure_step(void)
{
	int64_t steps[NR_STEPS], last = now_ns(CLOCK_MONOTONIC), now;

	for (int i = 0; i < NR_STEPS; i++) {
		now = now_ns(CLOCK_MONOTONIC);
		steps[i] = now - last;
		last = now;
	}
	qsort(steps, NR_STEPS, sizeof(steps[0]), compare);
	return steps[NR_STEPS / 2];
}

int main(int argc, char **argv)
{
	int64_t step = measure_step(), gap_min = 5 * step + 200;
	int64_t begin, end, last, now, stolen = 0, nr = 0;

	if (argc != 2)
		return 2;
	begin = now_ns(CLOCK_MONOTONIC);
	end = begin + strtoll(argv[1], NULL, 10) - now_ns(CLOCK_REALTIME);
	for (last = begin; last < end; last = now) {
		now = now_ns(CLOCK_MONOTONIC);
		if (now - last > gap_min && now - last < GAP_MAX_NS)
			stolen += now - last - step;
		nr++;
	}
	printf("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", nr, last - begin,
	       stolen, now_ns(CLOCK_THREAD_CPUTIME_ID));
	return 0;
}
