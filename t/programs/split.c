/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * split - computes until SIGTERM, three parts in one procedure, one in another
 *
 * Then prints the CPU time that each of the two took, in ms, and the share of the first
 * by the median times of their calls: that is the truth that profiles are compared
 * with. Where the machine itself is stopped at times, CPU time has that in it, samples
 * and medians do not. All calls do the same amount of work, so that a stop meets those
 * of either procedure as often. "ready" comes as soon as both have run.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS  250000 /* of a call: about a millisecond */
#define CALLS   4      /* of split_one in a turn; three times as many of split_three */
#define NR_KEPT 4096   /* times of the last calls, for medians */

unsigned long split_three(unsigned long rounds);
unsigned long split_one(unsigned long rounds);

static volatile sig_atomic_t stop;

static void on_term(int number)
{
	stop = 1;
}

__attribute__((noinline)) unsigned long split_three(unsigned long rounds)
{
	unsigned long x = 3;

	while (rounds--) {
		x = x * 3 + rounds;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

__attribute__((noinline)) unsigned long split_one(unsigned long rounds)
{
	unsigned long x = 1;

	while (rounds--) {
		x = x * 5 + rounds;
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

static int compare_ms(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The times of a procedure's calls. */
struct calls {
	unsigned long (*procedure)(unsigned long rounds);
	double kept[NR_KEPT]; /* of the last calls, a ring; ms */
	unsigned long nr;
	double sum; /* of all calls, ms */
};

static void call(struct calls *c, int times)
{
	double before = cpu_ms();

	while (times--) {
		double after;

		c->procedure(ROUNDS);
		after = cpu_ms();
		c->kept[c->nr++ % NR_KEPT] = after - before;
		c->sum += after - before;
		before = after;
	}
}

static double median(struct calls *c)
{
	unsigned long nr = c->nr < NR_KEPT ? c->nr : NR_KEPT;

	qsort(c->kept, nr, sizeof(c->kept[0]), compare_ms);
	return c->kept[nr / 2];
}

int main(void)
{
	static struct calls three = { .procedure = split_three };
	static struct calls one = { .procedure = split_one };
	struct sigaction sa = { .sa_handler = on_term };
	double a, b;

	sigaction(SIGTERM, &sa, NULL);
	for (unsigned long turn = 0; !stop; turn++) {
		call(&three, 3 * CALLS);
		call(&one, CALLS);
		if (!turn) {
			puts("ready");
			fflush(stdout);
		}
	}
	a = 3 * median(&three);
	b = median(&one);
	printf("%.1f %.1f %.4f\n", three.sum, one.sum, a / (a + b));
	return 0;
}
