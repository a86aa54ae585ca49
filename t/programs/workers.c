/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workers - a process that is told when its threads and a child compute
 *
 * It begins with a thread beside the first one, and says "ready". A line of its input
 * begins a round: another thread and a child process are started, and these two, the
 * thread of the beginning and the first thread compute for 300 ms of CPU time each.
 * Both threads have names of their own, "early" and "late". Then it says "done". The
 * end of its input ends it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CPU_NS 300000000LL

static sem_t begin, end;

static long long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Each has a function of its own, whose code is not that of another. */
#define COMPUTE(name, odd)                                         \
	static __attribute__((noinline)) void name(void)           \
	{                                                          \
		const long long until = cpu_ns() + CPU_NS;         \
		volatile unsigned int x = 1;                       \
                                                                   \
		do {                                               \
			for (unsigned int i = 0; i < 1000000; i++) \
				x = x * 1664525 + (odd);           \
		} while (cpu_ns() < until);                        \
	}

COMPUTE(first_hot, 1)
COMPUTE(early_hot, 3)
COMPUTE(late_hot, 5)
COMPUTE(child_hot, 7)

static void *early(void *unused)
{
	prctl(PR_SET_NAME, "early");
	for (;;) {
		sem_wait(&begin);
		early_hot();
		sem_post(&end);
	}
	return unused;
}

static void *late(void *unused)
{
	prctl(PR_SET_NAME, "late");
	late_hot();
	return unused;
}

static void say(const char *what)
{
	puts(what);
	fflush(stdout);
}

static void run_round(void)
{
	pthread_t thread;
	pid_t child;

	sem_post(&begin);
	if (pthread_create(&thread, NULL, late, NULL))
		abort();
	child = fork();
	if (child < 0)
		abort();
	if (!child) {
		child_hot();
		_exit(0);
	}
	first_hot();
	pthread_join(thread, NULL);
	waitpid(child, NULL, 0);
	sem_wait(&end);
}

int main(void)
{
	pthread_t thread;
	char line[16];

	sem_init(&begin, 0, 0);
	sem_init(&end, 0, 0);
	if (pthread_create(&thread, NULL, early, NULL))
		return 1;
	say("ready");
	while (fgets(line, sizeof(line), stdin)) {
		run_round();
		say("done");
	}
	return 0;
}
