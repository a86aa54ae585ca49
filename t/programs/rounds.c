/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rounds MS - loops whose rounds are counted, for MS of CPU time each
 *
 * Prints for each loop the name of its function, the rounds of its last call, and their
 * CPU time in ns, and the rounds of all calls.
 * rounds_chain is a chain of multiplications. rounds_inner has a loop of a hundred
 * rounds in another one, whose rounds are printed. rounds_call calls a procedure in
 * each round.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BURST 200000

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* So that the compiler neither removes nor unrolls what comes to x. */
#define KEEP(x) __asm__ volatile("" : "+r"(x))

__attribute__((noinline)) static uint64_t rounds_chain(uint64_t n)
{
	uint64_t x = n;

	for (uint64_t i = 0; i < n; i++) {
		x *= x;
		KEEP(x);
		x *= x;
		KEEP(x);
	}
	return x;
}

__attribute__((noinline)) static uint64_t rounds_inner(uint64_t n)
{
	uint64_t x = n;

	for (uint64_t i = 0; i < n / 100; i++) {
		for (uint64_t k = 0; k < 100; k++) {
			x ^= x << 7;
			KEEP(x);
		}
	}
	return x;
}

__attribute__((noinline)) static uint64_t rounds_called(uint64_t x)
{
	KEEP(x);
	x *= x;
	KEEP(x);
	return x * x;
}

__attribute__((noinline)) static uint64_t rounds_call(uint64_t n)
{
	uint64_t x = n;

	for (uint64_t i = 0; i < n; i++)
		x = rounds_called(x);
	return x;
}

static const struct {
	const char *name;
	uint64_t (*run)(uint64_t n);
	uint64_t unit; /* what counts as one round */
} loops[] = {
	{ "rounds_chain", rounds_chain, 1 },
	{ "rounds_inner", rounds_inner, 100 },
	{ "rounds_call", rounds_call, 1 },
};

/* As one call: a loop that is left and entered again is another case. */
static void run(int i, uint64_t ns)
{
	uint64_t begin = cpu_ns(), n = BURST, sum = 0;

	for (;;) {
		begin = cpu_ns();
		loops[i].run(n);
		sum += n;
		if (cpu_ns() - begin > ns / 100)
			break;
		n *= 2;
	}
	n = n * (ns / 100) / ((cpu_ns() - begin) / 100 + 1) / 100 * 100;
	begin = cpu_ns();
	loops[i].run(n);
	ns = cpu_ns() - begin;
	sum += n;
	printf("%s %llu %llu %llu\n", loops[i].name,
	       (unsigned long long)(n / loops[i].unit), (unsigned long long)ns,
	       (unsigned long long)(sum / loops[i].unit));
}

int main(int argc, char **argv)
{
	const uint64_t ns = (argc > 1 ? strtoull(argv[1], NULL, 10) : 100) * 1000000;

	for (int i = 0; i < 3; i++)
		run(i, ns);
	return 0;
}
