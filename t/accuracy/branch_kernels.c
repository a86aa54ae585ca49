/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branch_kernels.c - loops whose branches are known to be predictable, or not
 *
 * usage: branch_kernels [NAME [ROUNDS]]: that kernel, or all of them, in turn
 *
 * The kernel NAME is the procedure predict_NAME.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL static __attribute__((noinline, aligned(64)))

/* The compiler must not know what v is, and must not turn branches into moves. */
#define HIDE(v) __asm__ volatile("nop" : "+r"(v))

#define NR_SORTED  4096
#define NR_PATTERN 300
#define NR_CODE    24

static uint64_t result;
static uint32_t sorted[NR_SORTED];
static unsigned char pattern[NR_PATTERN], code[NR_CODE];

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Half of the time, at random. */
KERNEL void predict_random(unsigned long rounds)
{
	uint64_t state = 88172645463325252, odd = 0;

	while (rounds--) {
		if (next_random(&state) & 0x10000)
			HIDE(odd);
		odd++;
	}
	result += odd;
}

/* One time in ten, at random. */
KERNEL void predict_seldom(unsigned long rounds)
{
	uint64_t state = 88172645463325251, odd = 0;

	while (rounds--) {
		if ((next_random(&state) >> 20) % 10 == 0)
			HIDE(odd);
		odd++;
	}
	result += odd;
}

/* The same comparison, of values that ascend. */
KERNEL void predict_sorted(unsigned long rounds)
{
	uint64_t odd = 0;

	for (unsigned long i = 0; i < rounds; i++) {
		if (sorted[i % NR_SORTED] >= 1U << 31)
			HIDE(odd);
		odd++;
	}
	result += odd;
}

/* An inner loop of seven rounds. */
KERNEL void predict_seven(unsigned long rounds)
{
	uint64_t sum = 0;

	while (rounds--) {
		for (int i = 0; i < 7; i++) {
			sum += rounds;
			HIDE(sum);
		}
		sum ^= 5;
	}
	result += sum;
}

/* An inner loop of one to eight rounds, at random. */
KERNEL void predict_trips(unsigned long rounds)
{
	uint64_t state = 88172645463325253, sum = 0;

	while (rounds--) {
		int trips = 1 + (int)(next_random(&state) >> 20 & 7);

		do {
			sum += rounds;
			HIDE(sum);
		} while (--trips);
	}
	result += sum;
}

/* Every second time. */
KERNEL void predict_alternating(unsigned long rounds)
{
	uint64_t odd = 0;

	while (rounds--) {
		if (rounds & 1)
			HIDE(odd);
		odd++;
	}
	result += odd;
}

/* The second branch goes where the first, random one went. */
KERNEL void predict_correlated(unsigned long rounds)
{
	uint64_t state = 88172645463325254, a = 0, b = 0;

	while (rounds--) {
		const uint64_t x = next_random(&state) & 0x10000;

		if (x)
			HIDE(a);
		a++;
		__asm__ volatile("" : : : "memory");
		if (!x)
			HIDE(b);
		b += 3;
	}
	result += a + b;
}

/* A random pattern that a predictor learns, since it comes again and again. */
KERNEL void predict_pattern(unsigned long rounds)
{
	uint64_t odd = 0;
	unsigned int at = 0;

	while (rounds--) {
		if (pattern[at] & 1)
			HIDE(odd);
		odd++;
		if (++at == NR_PATTERN)
			at = 0;
	}
	result += odd;
}

#define DISPATCH(op)                    \
	do {                            \
		switch (op) {           \
			CASE(0, "# 0"); \
			CASE(1, "# 1"); \
			CASE(2, "# 2"); \
			CASE(3, "# 3"); \
			CASE(4, "# 4"); \
			CASE(5, "# 5"); \
			CASE(6, "# 6"); \
			CASE(7, "# 7"); \
		}                       \
	} while (0)
#define CASE(n, text)                             \
	case n:                                   \
		__asm__ volatile(text : "+r"(a)); \
		break

/* An interpreter: the same short program again and again. */
KERNEL void predict_interpreter(unsigned long rounds)
{
	uint64_t a = 0;
	unsigned int at = 0;

	while (rounds--) {
		DISPATCH(code[at] & 7);
		a++;
		if (++at == NR_CODE)
			at = 0;
	}
	result += a;
}

/* One of eight targets, at random. */
KERNEL void predict_switch(unsigned long rounds)
{
	uint64_t state = 88172645463325255, a = 0;

	while (rounds--) {
		DISPATCH(next_random(&state) >> 20 & 7);
		a++;
	}
	result += a;
}

static const struct {
	const char *name;
	void (*run)(unsigned long rounds);
} kernels[] = {
#define X(name)                       \
	{                             \
#name, predict_##name \
	}
	X(random),      X(seldom),     X(sorted),  X(seven),       X(trips),
	X(alternating), X(correlated), X(pattern), X(interpreter), X(switch)
};

int main(int argc, char **argv)
{
	const unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 0) : 100000;
	uint64_t state = 1234567;

	for (int i = 0; i < NR_SORTED; i++)
		sorted[i] = (uint32_t)(UINT64_C(0xffffffff) * i / NR_SORTED);
	for (int i = 0; i < NR_PATTERN; i++)
		pattern[i] = next_random(&state) >> 24 & 255;
	for (int i = 0; i < NR_CODE; i++)
		code[i] = next_random(&state) >> 24 & 255;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		if (argc < 2 || !strcmp(argv[1], "all") ||
		    !strcmp(argv[1], kernels[i].name))
			kernels[i].run(rounds);
	}
	return result == 42;
}
