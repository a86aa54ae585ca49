/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * micro_kernels.c - small loops whose executions are known
 *
 * micro_kernels KERNEL MS: runs a loop for about MS milliseconds of its CPU's time, and
 * prints the rounds and the seconds that they took. micro_kernels: prints the names.
 *
 * The kernels take from 0.2 to some 600 cycles for an instruction, each for a reason of
 * its own: chains of operands, divisions, atomics, walks and chases through memory of
 * all sizes, jumps, calls, copies. The most frequent block of k_NAME runs once a round.
 *
 * Built with -DKERNELS='"FILE"' it has the kernels of that file in place of these, as
 * those of held_kernels.inc; t/accuracy/drawn makes such files.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if __has_attribute(noclone) /* gcc alone makes clones */
#define NOINLINE __attribute__((noinline, noclone, aligned(64)))
#else
#define NOINLINE __attribute__((noinline, aligned(64)))
#endif

/* Keeps the compiler from computing, moving or merging a value. */
#define OPAQUE(x) __asm__ volatile("" : "+r"(x))
#define USED(x)   __asm__ volatile("" : : "r"(x) : "memory")

#define KIB  1024ul
#define MIB  (1024ul * KIB)
#define LINE 64ul

/* What a kernel works on: memory of its size, and a chase through it. */
struct arena {
	char *memory;
	size_t size;
	uint64_t state; /* kept from one call to the next */
};

typedef void kernel_fn(struct arena *a, uint64_t rounds);

struct kernel {
	const char *name;
	kernel_fn *run;
	size_t size;    /* of memory; 0: a page */
	size_t granule; /* of a chase; 0: no chase */
};

#define LOOP for (uint64_t i = 0; i < n; i++)

#ifdef KERNELS
#include KERNELS
#else

/* One cycle a round, and several instructions. */
static NOINLINE void k_wide(struct arena *a, uint64_t n)
{
	uint64_t p = a->state, q = 1, r = 2, s = 3;

	LOOP
	{
		p += 3;
		q ^= 5;
		r += 7;
		s ^= 9;
		OPAQUE(p);
		OPAQUE(q);
		OPAQUE(r);
		OPAQUE(s);
	}
	USED(p + q + r + s);
}

static NOINLINE void k_add_chain(struct arena *a, uint64_t n)
{
	uint64_t x = a->state;

	LOOP
	{
		x += 3;
		OPAQUE(x);
		x ^= 1;
		OPAQUE(x);
		x += 5;
		OPAQUE(x);
		x ^= 7;
		OPAQUE(x);
	}
	USED(x);
}

static NOINLINE void k_mul_chain(struct arena *a, uint64_t n)
{
	uint64_t x = a->state | 1;

	LOOP
	{
		x *= 0x9e3779b97f4a7c15u;
		OPAQUE(x);
		x *= x;
		OPAQUE(x);
	}
	USED(x);
}

static NOINLINE void k_div64(struct arena *a, uint64_t n)
{
	uint64_t x = a->state + UINT64_MAX / 2, d = 3;

	OPAQUE(d);
	LOOP
	{
		x = x / d + UINT64_MAX / 2;
		OPAQUE(x);
	}
	USED(x);
}

static NOINLINE void k_div32(struct arena *a, uint64_t n)
{
	uint32_t x = (uint32_t)a->state + 0x7fffffffu, d = 7;

	OPAQUE(d);
	LOOP
	{
		x = x / d + 0x7fffffffu;
		OPAQUE(x);
	}
	USED(x);
}

static NOINLINE void k_div_free(struct arena *a, uint64_t n)
{
	uint64_t x = a->state + 12345, d = 13;

	OPAQUE(d);
	LOOP
	{
		uint64_t q = (x + i) / d;

		USED(q);
	}
}

static NOINLINE void k_fp_add(struct arena *a, uint64_t n)
{
	double x = (double)a->state;

	LOOP
	{
		x += 1.5;
		__asm__ volatile("" : "+x"(x));
	}
	__asm__ volatile("" : : "x"(x));
}

static NOINLINE void k_fp_div(struct arena *a, uint64_t n)
{
	double x = (double)a->state + 3.0, d = 1.0001;

	__asm__ volatile("" : "+x"(d));
	LOOP
	{
		x = x / d + 1.0;
		__asm__ volatile("" : "+x"(x));
	}
	__asm__ volatile("" : : "x"(x));
}

static NOINLINE void k_fp_sqrt(struct arena *a, uint64_t n)
{
	double x = (double)a->state + 3.0;

	LOOP
	{
		__asm__ volatile("sqrtsd %0, %0" : "+x"(x));
		x += 2.0;
	}
	__asm__ volatile("" : : "x"(x));
}

static NOINLINE void k_atomic(struct arena *a, uint64_t n)
{
	uint64_t *p = (uint64_t *)a->memory;

	LOOP __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST);
}

static NOINLINE void k_fence(struct arena *a, uint64_t n)
{
	uint64_t *p = (uint64_t *)a->memory;

	LOOP
	{
		__atomic_store_n(p, i, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	}
}

/* A counter in memory: each round loads what the round before stored. */
static NOINLINE void k_stack(struct arena *a, uint64_t n)
{
	volatile uint64_t i = 0, sum = a->state;

	while (i < n) {
		sum = sum + i;
		i = i + 1;
	}
}

/* Follows pointers; each one's address is what the one before loaded. */
#define CHASE(name)                                                \
	static NOINLINE void k_##name(struct arena *a, uint64_t n) \
	{                                                          \
		void **p = (void **)(a->memory + a->state);        \
                                                                   \
		LOOP p = *p;                                       \
		a->state = (uint64_t)((char *)p - a->memory);      \
	}

CHASE(chase_l1)
CHASE(chase_l2)
CHASE(chase_l3)
CHASE(chase_memory)

/* The same with work in the shadow of the miss. */
static NOINLINE void k_chase_work(struct arena *a, uint64_t n)
{
	void **p = (void **)(a->memory + a->state);
	uint64_t x = 1;

	LOOP
	{
		p = *p;
		x = x * 3 + i;
		OPAQUE(x);
	}
	a->state = (uint64_t)((char *)p - a->memory);
}

#define WALK(name, type, bytes)                                    \
	static NOINLINE void k_##name(struct arena *a, uint64_t n) \
	{                                                          \
		const char *p = a->memory, *end = p + a->size;     \
		uint64_t sum = 0;                                  \
                                                                   \
		LOOP                                               \
		{                                                  \
			sum += *(const volatile type *)p;          \
			p += (bytes);                              \
			p = p >= end ? a->memory : p;              \
		}                                                  \
		USED(sum);                                         \
	}

WALK(walk_l1, uint64_t, 8)
WALK(walk_memory, uint64_t, 8)
WALK(stride_line, uint64_t, 64)
WALK(stride_page, uint64_t, 4096 + 64)

/* Independent loads anywhere in memory. */
static NOINLINE void k_gather(struct arena *a, uint64_t n)
{
	const uint64_t mask = a->size / 8 - 1;
	uint64_t x = a->state + 1, sum = 0;

	LOOP
	{
		x = x * 6364136223846793005u + 1442695040888963407u;
		sum += ((volatile uint64_t *)a->memory)[(x >> 20) & mask];
	}
	a->state = x;
	USED(sum);
}

static NOINLINE void k_scatter(struct arena *a, uint64_t n)
{
	const uint64_t mask = a->size / 8 - 1;
	uint64_t x = a->state + 1;

	LOOP
	{
		x = x * 6364136223846793005u + 1442695040888963407u;
		((volatile uint64_t *)a->memory)[(x >> 20) & mask] = i;
	}
	a->state = x;
}

static NOINLINE void k_fill(struct arena *a, uint64_t n)
{
	char *p = a->memory, *end = p + a->size;

	LOOP
	{
		*(volatile uint64_t *)p = i;
		p += 8;
		p = p >= end ? a->memory : p;
	}
}

static NOINLINE void k_copy(struct arena *a, uint64_t n)
{
	const size_t half = a->size / 2 / 8;
	volatile uint64_t *from = (uint64_t *)a->memory, *to = from + half;
	size_t at = 0;

	LOOP
	{
		to[at] = from[at];
		at = at + 1 == half ? 0 : at + 1;
	}
}

/* A jump that nobody can predict, and the round that it is in. */
static NOINLINE void k_branch_random(struct arena *a, uint64_t n)
{
	uint64_t x = a->state + 88172645463325252u, sum = 0;

	LOOP
	{
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		if (x & 1)
			__asm__ volatile("add $3, %0" : "+r"(sum));
	}
	a->state = x;
	USED(sum);
}

static NOINLINE void k_branch_known(struct arena *a, uint64_t n)
{
	uint64_t sum = a->state;

	LOOP
	{
		if (i & 4)
			__asm__ volatile("add $3, %0" : "+r"(sum));
	}
	USED(sum);
}

static NOINLINE uint64_t callee(uint64_t x)
{
	return x * 5 + 1;
}

static NOINLINE void k_call(struct arena *a, uint64_t n)
{
	uint64_t x = a->state;

	LOOP x = callee(x);
	USED(x);
}

/* Short loops inside: the inner one's block runs eight times a round. */
static NOINLINE void k_nested(struct arena *a, uint64_t n)
{
	uint64_t x = a->state;

	for (uint64_t i = 0; i < n / 8; i++) {
		for (uint64_t k = 0; k < 8; k++) {
			x = x * 3 + k;
			OPAQUE(x);
		}
	}
	USED(x);
}

/* Searches a short array for what is in the middle of it. */
static NOINLINE void k_scan(struct arena *a, uint64_t n)
{
	const uint32_t *p = (const uint32_t *)a->memory;
	const size_t last = a->size / 4 - 1;
	size_t at = 0;
	uint64_t hits = 0;

	LOOP
	{
		hits += ((volatile const uint32_t *)p)[at] == 77;
		at = at == last ? 0 : at + 1;
	}
	USED(hits);
}

static NOINLINE void k_pause(struct arena *a, uint64_t n)
{
	(void)a;
	LOOP
#if defined(__x86_64__)
		__asm__ volatile("pause");
#else
		__asm__ volatile("yield");
#endif
}

static const struct kernel kernels[] = {
	{ "wide", k_wide, 0, 0 },
	{ "add_chain", k_add_chain, 0, 0 },
	{ "mul_chain", k_mul_chain, 0, 0 },
	{ "div64", k_div64, 0, 0 },
	{ "div32", k_div32, 0, 0 },
	{ "div_free", k_div_free, 0, 0 },
	{ "fp_add", k_fp_add, 0, 0 },
	{ "fp_div", k_fp_div, 0, 0 },
	{ "fp_sqrt", k_fp_sqrt, 0, 0 },
	{ "atomic", k_atomic, 0, 0 },
	{ "fence", k_fence, 0, 0 },
	{ "stack", k_stack, 0, 0 },
	{ "chase_l1", k_chase_l1, 16 * KIB, 64 },
	{ "chase_l2", k_chase_l2, 256 * KIB, 64 },
	{ "chase_l3", k_chase_l3, 6 * MIB, 64 },
	{ "chase_memory", k_chase_memory, 256 * MIB, 128 },
	{ "chase_work", k_chase_work, 64 * MIB, 128 },
	{ "walk_l1", k_walk_l1, 16 * KIB, 0 },
	{ "walk_memory", k_walk_memory, 128 * MIB, 0 },
	{ "stride_line", k_stride_line, 128 * MIB, 0 },
	{ "stride_page", k_stride_page, 128 * MIB, 0 },
	{ "gather", k_gather, 128 * MIB, 0 },
	{ "scatter", k_scatter, 128 * MIB, 0 },
	{ "fill", k_fill, 64 * MIB, 0 },
	{ "copy", k_copy, 64 * MIB, 0 },
	{ "branch_random", k_branch_random, 0, 0 },
	{ "branch_known", k_branch_known, 0, 0 },
	{ "call", k_call, 0, 0 },
	{ "nested", k_nested, 0, 0 },
	{ "scan", k_scan, 4 * KIB, 0 },
	{ "pause", k_pause, 0, 0 },
};
#endif

#define NR (sizeof(kernels) / sizeof(kernels[0]))

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* One cycle through all granules, in a random order (Sattolo). */
static int make_chase(struct arena *a, size_t granule)
{
	const size_t nr = a->size / granule;
	uint32_t *order = malloc(nr * sizeof(*order));
	uint64_t x = 88172645463325252u;

	if (!order)
		return -1;
	for (size_t i = 0; i < nr; i++)
		order[i] = (uint32_t)i;
	for (size_t i = nr - 1; i > 0; i--) {
		const size_t k = next_random(&x) % i;
		const uint32_t other = order[k];

		order[k] = order[i];
		order[i] = other;
	}
	for (size_t i = 0; i < nr; i++)
		*(void **)(a->memory + order[i] * granule) =
			a->memory + order[(i + 1) % nr] * granule;
	free(order);
	return 0;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int run(size_t k, double seconds)
{
	struct arena a = { .size = kernels[k].size ? kernels[k].size : 4096 };
	uint64_t rounds = 0, n = 1024;
	double begin, now;

	a.memory = aligned_alloc(4096, a.size);
	if (!a.memory)
		return 1;
	memset(a.memory, 1, a.size);
	if (kernels[k].granule && make_chase(&a, kernels[k].granule))
		return 1;
	begin = now = cpu_seconds();
	while (now - begin < seconds) {
		const double before = now;

		kernels[k].run(&a, n);
		rounds += n;
		now = cpu_seconds();
		if (now - before < 0.05)
			n *= 2;
	}
	printf("%llu %.6f\n", (unsigned long long)rounds, now - begin);
	free(a.memory);
	return 0;
}

int main(int argc, char **argv)
{
	for (size_t k = 0; k < NR; k++) {
		if (argc < 3)
			puts(kernels[k].name);
		else if (!strcmp(argv[1], kernels[k].name))
			return run(k, atof(argv[2]) / 1000);
	}
	return argc >= 3;
}
