/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * called MS [THREADS] - calls called_now and then, for MS of CPU time of each thread
 *
 * Prints how often all of them did so, and how often in a second of CPU time.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST_THREADS 16
#define ROUNDS       6000 /* of a call: some microseconds */
#define BURST        200

uint64_t called_now(uint64_t x);

/* Each round waits for the one before, so that a call takes its time. */
__attribute__((noinline)) uint64_t called_now(uint64_t x)
{
	for (int i = 0; i < ROUNDS; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

struct thread {
	double seconds, took;
	uint64_t calls, x;
};

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *run(void *arg)
{
	struct thread *t = arg;
	const double begun = cpu_seconds();

	while (t->took < t->seconds) {
		for (int i = 0; i < BURST; i++)
			t->x = called_now(t->x);
		t->calls += BURST;
		t->took = cpu_seconds() - begun;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const int nr = argc > 2 ? atoi(argv[2]) : 1;
	struct thread thread[MOST_THREADS] = { { 0 } };
	pthread_t id[MOST_THREADS];
	uint64_t calls = 0;
	double took = 0;

	if (argc < 2 || nr < 1 || nr > MOST_THREADS)
		return 2;
	for (int i = 0; i < nr; i++) {
		thread[i].seconds = atof(argv[1]) / 1000;
		if (pthread_create(&id[i], NULL, run, &thread[i]))
			return 1;
	}
	for (int i = 0; i < nr; i++) {
		pthread_join(id[i], NULL);
		calls += thread[i].calls;
		took += thread[i].took;
	}
	printf("%llu %.1f\n", (unsigned long long)calls, (double)calls / took);
	return thread[0].x == 1;
}
