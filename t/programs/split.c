/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * split - computes until SIGTERM, three parts in one procedure, one in another
 *
 * Then prints the CPU time that each of the two took, in ms, and the share of the first
 * by the medians of their turns: that is the truth that profiles are compared with.
 * Where the machine itself is stopped at times, CPU time has that in it, samples and
 * medians do not. "ready" comes as soon as both have run.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS   1000000 /* a part: some ms */
#define NR_TURNS 4096    /* the last ones, for medians */

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

static double median(double *ms, unsigned long nr)
{
	if (nr > NR_TURNS)
		nr = NR_TURNS;
	qsort(ms, nr, sizeof(ms[0]), compare_ms);
	return ms[nr / 2];
}

int main(void)
{
	static double three_ms[NR_TURNS], one_ms[NR_TURNS];
	double three = 0, one = 0, at[3];
	unsigned long nr = 0;
	struct sigaction sa = { .sa_handler = on_term };

	sigaction(SIGTERM, &sa, NULL);
	at[0] = cpu_ms();
	while (!stop) {
		split_three(3 * ROUNDS);
		at[1] = cpu_ms();
		split_one(ROUNDS);
		at[2] = cpu_ms();
		if (!three) {
			puts("ready");
			fflush(stdout);
		}
		three_ms[nr % NR_TURNS] = at[1] - at[0];
		one_ms[nr++ % NR_TURNS] = at[2] - at[1];
		three += at[1] - at[0];
		one += at[2] - at[1];
		at[0] = at[2];
	}
	at[1] = median(three_ms, nr);
	at[2] = median(one_ms, nr);
	printf("%.1f %.1f %.4f\n", three, one, at[1] / (at[1] + at[2]));
	return 0;
}
