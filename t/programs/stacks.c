/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks MS - computes for MS of CPU time each in stacks that one knows
 *
 *	main, run_recursion, recurse six times, spin
 *	a thread: thread_main, thread_work, spin
 *	main, run_sort, the C library's qsort(), compare, spin
 *
 * Built with frame pointers and without calls that become jumps.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define DEPTH 5
#define BURST 20000 /* so many rounds, then a look at the clock */

static double end_ms;

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* Its counter is in memory: a leaf that needs no frame has none, whatever was asked. */
__attribute__((noinline)) static void spin(void)
{
	for (volatile unsigned long i = 0; i < BURST; i++)
		;
}

__attribute__((noinline)) static void recurse(int depth)
{
	if (depth)
		recurse(depth - 1);
	else
		while (cpu_ms() < end_ms)
			spin();
}

__attribute__((noinline)) static void run_recursion(double ms)
{
	end_ms = cpu_ms() + ms;
	recurse(DEPTH);
}

__attribute__((noinline)) static void thread_work(void)
{
	while (cpu_ms() < end_ms)
		spin();
}

__attribute__((noinline)) static void *thread_main(void *ms)
{
	end_ms = cpu_ms() + *(double *)ms;
	thread_work();
	return NULL;
}

__attribute__((noinline)) static int compare(const void *a, const void *b)
{
	spin();
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void run_sort(double ms)
{
	int numbers[16];

	end_ms = cpu_ms() + ms;
	while (cpu_ms() < end_ms) {
		for (int i = 0; i < 16; i++)
			numbers[i] = i * 7 % 16;
		qsort(numbers, 16, sizeof(numbers[0]), compare);
	}
}

int main(int argc, char **argv)
{
	double ms = argc > 1 ? atof(argv[1]) : 0;
	pthread_t thread;

	run_recursion(ms);
	if (pthread_create(&thread, NULL, thread_main, &ms))
		return 1;
	pthread_join(thread, NULL);
	run_sort(ms);
	return 0;
}
