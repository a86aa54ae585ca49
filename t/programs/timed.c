/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timed MS [locked|sleepy] - work that timers start, for MS of wall time
 *
 * locked  wakes up each 4 ms and works 1 ms: half of it in timed_early, then half in
 *         timed_late. Begins 1.5 ms after a multiple of 4 ms of the monotonic clock.
 * sleepy  works for 0 to 100 us, sleeps as long, and so on: in sleepy_even and
 *         sleepy_odd in turns.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_SEC 1000000000ULL
#define PERIOD_NS  4000000
#define PHASE_NS   1500000
#define WORK_NS    500000
#define SLEEPY_NS  100000

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_SEC + t.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	const struct timespec t = { ns / NS_PER_SEC, ns % NS_PER_SEC };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* The operand keeps the compiler from making one of what looks the same. */
#define WORK(name)                                                    \
	static __attribute__((noinline)) void name(uint64_t ns)       \
	{                                                             \
		do {                                                  \
			for (unsigned int i = 0; i < 2000; i++)       \
				__asm__ volatile("" ::"i"(__LINE__)); \
		} while (now_ns() < ns);                              \
	}

WORK(timed_early)
WORK(timed_late)
WORK(sleepy_even)
WORK(sleepy_odd)

static void locked(uint64_t end)
{
	uint64_t at = now_ns() / PERIOD_NS * PERIOD_NS + PHASE_NS;

	while (at < end) {
		at += PERIOD_NS;
		sleep_until(at);
		timed_early(at + WORK_NS);
		timed_late(at + 2 * WORK_NS);
	}
}

static void sleepy(uint64_t end)
{
	unsigned int seed = 1;
	uint64_t now;

	while ((now = now_ns()) < end) {
		uint64_t work = rand_r(&seed) % SLEEPY_NS;

		(seed & 0x10000 ? sleepy_odd : sleepy_even)(now + work);
		sleep_until(now_ns() + rand_r(&seed) % SLEEPY_NS);
	}
}

int main(int argc, char **argv)
{
	uint64_t ns = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000 : 0;

	if (argc > 2 && !strcmp(argv[2], "sleepy"))
		sleepy(now_ns() + ns);
	else
		locked(now_ns() + ns);
	return 0;
}
