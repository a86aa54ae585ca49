/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * operands MS KEY - operands of known shares, for MS of CPU time
 *
 * Of 16 divisors 12 are 10, and 4 are others; of 16 shift counts 12 are 3; of 16
 * factors 12 are 7; of 16 copies 12 have 24 bytes; of 16 calls of memcpy() 12 copy 40
 * bytes, to addresses that are multiples of 8. One compare is true once in 64 times.
 * The KEY, a hexadecimal number of 64 bits, is loaded, compared, multiplied and used as
 * divisor all the time, and as the third argument of a procedure of its own.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile uint64_t key, sum;
static volatile unsigned int constant = 42;
static char from[64], to[64];
static _Alignas(64) char first[64], second[64];

/* Only x86-64 has an instruction that copies. */
static inline __attribute__((always_inline)) void copy(unsigned long size)
{
#ifdef __x86_64__
	char *a = from, *b = to;

	__asm__ volatile("rep movsb" /* COPY */
			 : "+S"(a), "+D"(b), "+c"(size)
			 :
			 : "memory");
#else
	(void)from, (void)to, (void)size;
#endif
}

__attribute__((noinline)) uint64_t operands(unsigned int rounds)
{
	uint64_t all = 1;

	/* An order in which no value follows from the one before. */
	for (unsigned int i = 0, at = 0; i < rounds; i++) {
		at = (at * 5 + 3) % 16;
		unsigned int by = at < 12 ? 10 : 11 + at, count = at < 12 ? 3 : at;
		unsigned int factor = at < 12 ? 7 : 1000 + at;
		unsigned long size = at < 12 ? 24 : 2 * at;
		unsigned int odd = i % 64;

		__asm__ volatile("" : "+r"(by), "+r"(count), "+r"(factor), "+r"(odd));
		all += (i + 1000000) / by;   /* DIVIDE */
		all += all >> count;         /* SHIFT */
		all += (uint32_t)i * factor; /* MULTIPLY */
		all += constant;             /* LOAD */
		if (odd == 17)               /* COMPARE */
			sum += 1;
		copy(size);
	}
	return all;
}

__attribute__((noinline)) void calls(unsigned int rounds)
{
	for (unsigned int i = 0, at = 0; i < rounds; i++) {
		at = (at * 5 + 3) % 16;
		unsigned long size = at < 12 ? 40 : 2 * at;

		__asm__ volatile("" : "+r"(size));
		memcpy(first + 8, second + 4, size);
	}
}

/* Takes no size, though its third argument is in the same register. */
__attribute__((noinline)) uint64_t no_size(char *a, char *b, uint64_t number)
{
	__asm__ volatile("" : : "r"(a), "r"(b) : "memory");
	return number >> 1;
}

/* The key is an operand of everything that may be marked. */
__attribute__((noinline)) uint64_t secret(unsigned int rounds)
{
	uint64_t all = 1;

	for (unsigned int i = 0; i < rounds; i++) {
		uint64_t guess = i;

		__asm__ volatile("" : "+r"(guess));
		if (guess == key)
			sum += 2;
		if (key == all)
			sum += 3;
		all += (all * key) ^ (~guess / key);
		all += no_size(first, second, key) + no_size(first, second, 99);
	}
	return all;
}

int main(int argc, char **argv)
{
	const clock_t end = argc > 1 ? atoi(argv[1]) * (CLOCKS_PER_SEC / 1000) : 0;

	key = argc > 2 ? strtoull(argv[2], NULL, 16) : UINT64_C(0x9b1d3f57c2e4a683);
	while (clock() < end) {
		sum += operands(20000);
		sum += secret(20000);
		calls(20000);
	}
	return 0;
}
