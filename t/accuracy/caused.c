/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * caused.c - loops that wait for one known thing, each with that cause and without it
 *
 * caused              - their names, one a line
 * caused NAME MS      - runs the loop with its cause for MS of CPU time
 * caused NAME MS N    - runs both N times for MS each, in an order that is drawn, and
 *                       prints nanoseconds of a round: with the cause, and without it
 *
 * The loop with the cause is the procedure stall_NAME. The part of NAME before the
 * first _ is its cause; loop_… are loops as programs have them, some in the C library,
 * so link it statically. The cause is removed by other data, or by mend_NAME, which
 * does the same work. No constant of CPI was chosen with them but MOST_CYCLES
 * (blame_data.c). For x86-64.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#if __has_attribute(noclone) /* gcc alone makes clones */
#define KERNEL static __attribute__((noinline, noclone, aligned(64)))
#else
#define KERNEL static __attribute__((noinline, aligned(64)))
#endif

/* Keeps the compiler from computing, moving or merging a value. */
#define HIDE(v) __asm__ volatile("" : "+r"(v))
#define USED(v) __asm__ volatile("" : : "r"(v) : "memory")
#define LOOP    for (unsigned long i = 0; i < rounds; i++)

#define KIB  1024ul
#define MIB  (1024ul * KIB)
#define LINE 64ul
#define PAGE 4096ul

/* What a loop works on. There are two: with the cause, and without it. */
struct set {
	bool mended;
	char *memory;
	uint32_t *index;
	uint64_t mask;
	uint64_t state; /* kept from one call to the next */
};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void *map(size_t size, bool huge)
{
	const size_t whole = 2 * MIB;
	char *p = mmap(NULL, size + whole, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	p += -(uintptr_t)p % whole;
	if (madvise(p, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) && errno != EINVAL)
		exit(1);
	memset(p, 1, size);
	return p;
}

static uint32_t *numbers(size_t nr, bool shuffled)
{
	uint32_t *order = map(nr * sizeof(*order), false);
	uint64_t state = 88172645463325252;

	for (size_t i = 0; i < nr; i++)
		order[i] = (uint32_t)i;
	for (size_t i = nr - 1; i > 0 && shuffled; i--) {
		const size_t k = next_random(&state) % (i + 1);
		const uint32_t o = order[i];

		order[i] = order[k];
		order[k] = o;
	}
	return order;
}

/* One circle through nr places, at random or one after the other. */
static void link_places(char *memory, size_t nr, size_t stride, size_t at,
			bool shuffled)
{
	uint32_t *order = numbers(nr, shuffled);

	for (size_t i = 0; i < nr; i++)
		memcpy(memory + order[i] * stride + at,
		       &(void *){ memory + order[(i + 1) % nr] * stride + at },
		       sizeof(void *));
	munmap(order, nr * sizeof(*order));
}

static int by_byte(const void *a, const void *b)
{
	return *(const unsigned char *)a - *(const unsigned char *)b;
}

/* Random bytes below limit; the same bytes in order where it is mended. */
static void set_bytes(struct set *s, size_t nr, int limit)
{
	uint64_t state = 1234567;

	s->memory = map(nr, false);
	s->mask = nr - 1;
	for (size_t i = 0; i < nr; i++)
		s->memory[i] =
			(char)((next_random(&state) >> 24) % (unsigned int)limit);
	if (s->mended)
		qsort(s->memory, nr, 1, by_byte);
}

/* Loads. */

struct node {
	struct node *next[2];
	uint64_t value[6];
};

#define DEPTH 19 /* of a trie, of which the lower levels fill 64 MiB */

static void set_trie(struct set *s)
{
	const size_t nr = 1ul << (DEPTH + 1);
	uint32_t *order = numbers(nr, true);
	struct node *n;

	s->memory = map(nr * sizeof(*n), false);
	n = (struct node *)s->memory;
	for (size_t i = 1; i < nr; i++)
		for (int k = 0; k < 2; k++)
			n[order[i]].next[k] =
				&n[order[2 * i + (size_t)k < nr ? 2 * i + (size_t)k
								: 1]];
	s->state = order[1];
	s->mask = s->mended ? 3 : UINT64_MAX;
	munmap(order, nr * sizeof(*order));
}

/* Looks up keys in a trie; without the cause always the same four. */
KERNEL void stall_dcache_trie(struct set *s, unsigned long rounds)
{
	const struct node *root = (struct node *)s->memory + s->state, *p;
	uint64_t sum = 0;

	LOOP
	{
		uint64_t key = i * 0x9e3779b97f4a7c15u >> 20 & s->mask;

		p = root;
		for (int k = 0; k < DEPTH; k++, key >>= 1)
			p = p->next[key & 1];
		sum += p->value[0];
	}
	USED(sum);
}

#define NR_BUCKETS (1ul << 20)

static void set_buckets(struct set *s)
{
	uint32_t *order = numbers(NR_BUCKETS, true);
	struct node *n, **head;

	s->memory = map(NR_BUCKETS * (sizeof(*head) + sizeof(*n)), false);
	head = (struct node **)s->memory;
	n = (struct node *)(head + NR_BUCKETS);
	for (size_t i = 0; i < NR_BUCKETS; i++)
		head[i] = &n[order[i]];
	s->mask = s->mended ? 63 : NR_BUCKETS - 1;
	munmap(order, NR_BUCKETS * sizeof(*order));
}

/* The first node of a bucket; without the cause of 64 buckets. */
KERNEL void stall_dcache_buckets(struct set *s, unsigned long rounds)
{
	struct node *const *head = (struct node **)s->memory;
	uint64_t sum = 0;

	LOOP sum += head[i * 0x9e3779b97f4a7c15u >> 20 & s->mask]->value[0];
	USED(sum);
}

static void set_gather(struct set *s)
{
	s->mask = 16 * MIB - 1;
	s->index = numbers(s->mask + 1, !s->mended);
	s->memory = map((s->mask + 1) * sizeof(uint32_t), true);
}

/* Numbers by an index, which is in order without the cause. */
KERNEL void stall_dcache_gather(struct set *s, unsigned long rounds)
{
	const volatile uint32_t *value = (uint32_t *)s->memory;
	uint64_t sum = 0, at = s->state;

	LOOP sum += value[s->index[at++ & s->mask]];
	s->state = at;
	USED(sum);
}

static void set_second(struct set *s)
{
	const size_t size = s->mended ? 16 * KIB : 256 * KIB;

	s->memory = map(size, false);
	link_places(s->memory, size / LINE, LINE, 0, true);
}

static void set_split(struct set *s)
{
	s->memory = map(64 * KIB, false);
	link_places(s->memory, 4, 2 * PAGE, s->mended ? 64 : PAGE - 4, true);
	s->state = s->mended ? 64 : PAGE - 4;
}

static void set_list(struct set *s)
{
	s->memory = map(64 * MIB, false);
	link_places(s->memory, MIB, LINE, 0, !s->mended);
}

/* Follows pointers: in 256 KiB, without the cause in 16 KiB. */
KERNEL void stall_dcache_second(struct set *s, unsigned long rounds)
{
	char *p = s->memory;

	LOOP p = *(char **)p;
	USED(p);
}

/* Pointers across a page's end; without the cause they are aligned. */
KERNEL void stall_split_pages(struct set *s, unsigned long rounds)
{
	char *p = s->memory + s->state;

	LOOP p = *(char **)p;
	USED(p);
}

#define NR_PAGES \
	5000ul /* more than TLBs hold; a line of each fits into the second cache */

static void set_pages(struct set *s)
{
	s->memory = map(NR_PAGES * (PAGE + LINE), s->mended);
	link_places(s->memory, NR_PAGES, PAGE + LINE, 0, true);
}

/* A pointer a page; without the cause pages are huge. */
KERNEL void stall_dtlb_pointers(struct set *s, unsigned long rounds)
{
	char *p = s->memory;

	LOOP p = *(char **)p;
	USED(p);
}

/* A byte of a page that a hash selects; without the cause pages are huge. */
KERNEL void stall_dtlb_hash(struct set *s, unsigned long rounds)
{
	const volatile char *p = s->memory;
	uint64_t sum = 0;

	LOOP sum += (uint64_t)p[(i * 2654435761u & 4095) * (PAGE + LINE)];
	USED(sum);
}

/* Divisions. */

static void set_nothing(struct set *s)
{
	s->memory = map(16 * KIB, false);
	memset(s->memory, 0, 16 * KIB);
	s->state = 1;
}

/* The last 16 digits of numbers to a base that is in memory; without the cause it
 * is 10. */
KERNEL void stall_divide_digits(struct set *s, unsigned long rounds)
{
	uint64_t sum = 0, base = 10;

	HIDE(base);
	LOOP
	{
		uint64_t v = UINT64_MAX - i * 0x9e3779b97f4au;

		for (int k = 0; k < 16; k++, v /= base)
			sum += v % base;
	}
	s->state = sum;
}

KERNEL void mend_divide_digits(struct set *s, unsigned long rounds)
{
	uint64_t sum = 0;

	LOOP
	{
		uint64_t v = UINT64_MAX - i * 0x9e3779b97f4au;

		for (int k = 0; k < 16; k++, v /= 10)
			sum += v % 10;
	}
	s->state = sum;
}

/* The place in a table whose size is a prime; without the cause by a multiplication. */
KERNEL void stall_divide_places(struct set *s, unsigned long rounds)
{
	uint64_t sum = 0, prime = 1000003;

	HIDE(prime);
	LOOP sum += (i * 0x9e3779b97f4a7c15u) % prime;
	s->state = sum;
}

KERNEL void mend_divide_places(struct set *s, unsigned long rounds)
{
	uint64_t sum = 0, prime = 1000003;

	HIDE(prime);
	LOOP sum +=
		(uint64_t)((__extension__(unsigned __int128)(i * 0x9e3779b97f4a7c15u) *
			    prime) >>
			   64);
	s->state = sum;
}

/* A square root of the one before; without the cause half of it. */
KERNEL void stall_divide_root(struct set *s, unsigned long rounds)
{
	double x = 2, y = 3;

	__asm__ volatile("" : "+x"(y));
	LOOP
	{
		x += y;
		__asm__ volatile("sqrtsd %0, %0" : "+x"(x));
	}
	s->state = (uint64_t)x;
}

KERNEL void mend_divide_root(struct set *s, unsigned long rounds)
{
	double x = 2, y = 3, half = 0.5;

	__asm__ volatile("" : "+x"(y), "+x"(half));
	LOOP
	{
		x += y;
		__asm__ volatile("mulsd %1, %0" : "+x"(x) : "x"(half));
	}
	s->state = (uint64_t)x;
}

/* Jumps. */

static void set_keys(struct set *s)
{
	uint64_t *value;

	s->memory = map(8 * KIB, false);
	value = (uint64_t *)s->memory;
	for (uint64_t i = 0; i < KIB; i++)
		value[i] = i << 32;
	s->mask = s->mended ? 0 : UINT64_MAX;
	s->state = 88172645463325252;
}

/* Binary searches; without the cause always for the same key. */
KERNEL void stall_mispredict_search(struct set *s, unsigned long rounds)
{
	const volatile uint64_t *value = (uint64_t *)s->memory;
	uint64_t sum = 0;

	LOOP
	{
		const uint64_t key = (next_random(&s->state) & s->mask) >> 22;
		size_t at = 0;

		for (size_t half = KIB / 2; half; half /= 2)
			if (value[at + half] <= key) {
				at += half;
				HIDE(at);
			}
		sum += at;
	}
	USED(sum);
}

static void set_sorted(struct set *s)
{
	set_bytes(s, 64 * KIB, 256);
}

/* Counts large bytes; without the cause they are sorted. */
KERNEL void stall_mispredict_sorted(struct set *s, unsigned long rounds)
{
	const volatile signed char *p = (signed char *)s->memory;
	uint64_t large = 0;

	LOOP if (p[i & s->mask] < 0)
	{
		HIDE(large);
		large++;
	}
	USED(large);
}

static void set_codes(struct set *s)
{
	set_bytes(s, 64 * KIB, 6);
}

/* An interpreter of six operations; without the cause equal ones follow each other. */
KERNEL void stall_mispredict_codes(struct set *s, unsigned long rounds)
{
	static const void *const to[] = { &&add, &&sub, &&xor, && or, &&rol, &&neg };
	const volatile char *code = s->memory;
	uint64_t x = s->state;
	unsigned long i = 0;

#define NEXT               \
	if (i++ >= rounds) \
		goto end;  \
	goto *to[(size_t)code[i & s->mask]]
	NEXT;
add:
	__asm__ volatile("add $7, %0" : "+r"(x));
	NEXT;
sub:
	__asm__ volatile("sub $5, %0" : "+r"(x));
	NEXT;
	xor : __asm__ volatile("xor $3, %0" : "+r"(x));
	NEXT;
	or : __asm__ volatile("or $1, %0" : "+r"(x));
	NEXT;
rol:
	__asm__ volatile("rol $9, %0" : "+r"(x));
	NEXT;
neg:
	__asm__ volatile("neg %0" : "+r"(x));
	NEXT;
end:
	s->state = x;
}

static void set_runs(struct set *s)
{
	set_bytes(s, 64 * KIB, 8);
}

/* Short loops of 1 to 8 rounds; without the cause equal lengths follow each other. */
KERNEL void stall_mispredict_runs(struct set *s, unsigned long rounds)
{
	const volatile char *p = s->memory;
	uint64_t x = 0;

	LOOP
	{
		int n = p[i & s->mask];

		do {
			x += 3;
			HIDE(x);
		} while (n--);
	}
	s->state = x;
}

/* Stores. */

static void set_streams(struct set *s)
{
	s->mask = s->mended ? 2 * KIB - 1 : 16 * MIB - 1;
	s->memory = map(4 * (s->mask + 1), true);
}

/* Four streams of stores, a line a round; without the cause they fit into the cache. */
KERNEL void stall_store_streams(struct set *s, unsigned long rounds)
{
	const size_t step = s->mask + 1;
	uint64_t at = s->state;

	LOOP
	{
		char *p = s->memory + (at & s->mask);

		*(volatile uint64_t *)p = i;
		*(volatile uint64_t *)(p + step) = i;
		*(volatile uint64_t *)(p + 2 * step) = i;
		*(volatile uint64_t *)(p + 3 * step) = i;
		at += LINE;
	}
	s->state = at;
}

static void set_records(struct set *s)
{
	s->mask = s->mended ? 255 : MIB - 1;
	s->memory = map(64 * MIB, true);
}

/* Two words of a record that a hash selects; without the cause of 256 records. */
KERNEL void stall_store_records(struct set *s, unsigned long rounds)
{
	LOOP
	{
		volatile uint64_t *p =
			(uint64_t *)(s->memory +
				     (i * 0x9e3779b97f4a7c15u >> 20 & s->mask) * LINE);

		p[0] = i;
		p[3] = i;
	}
}

/* Atomics. */

/* A compare and swap; without the cause a compare and a store. */
KERNEL void stall_atomic_compare(struct set *s, unsigned long rounds)
{
	uint64_t *p = (uint64_t *)s->memory, old = *p;

	LOOP while (!__atomic_compare_exchange_n(p, &old, old + 1, false,
						 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
}

KERNEL void mend_atomic_compare(struct set *s, unsigned long rounds)
{
	volatile uint64_t *p = (uint64_t *)s->memory;
	uint64_t old = *p;

	LOOP
	{
		while (*p != old)
			old = *p;
		*p = old + 1;
		old++;
	}
}

/* Counts references of 64 objects; without the cause the counts are not atomic. */
KERNEL void stall_atomic_references(struct set *s, unsigned long rounds)
{
	uint32_t *count = (uint32_t *)s->memory;

	LOOP
	{
		__atomic_fetch_add(&count[(i & 63) * 16], 1, __ATOMIC_RELAXED);
		__atomic_fetch_sub(&count[(i * 7 & 63) * 16], 1, __ATOMIC_RELAXED);
	}
}

KERNEL void mend_atomic_references(struct set *s, unsigned long rounds)
{
	volatile uint32_t *count = (uint32_t *)s->memory;

	LOOP
	{
		count[(i & 63) * 16]++;
		count[(i * 7 & 63) * 16]--;
	}
}

/* Stores that all threads see in order; without the cause ordinary stores. */
KERNEL void stall_atomic_publish(struct set *s, unsigned long rounds)
{
	uint64_t *p = (uint64_t *)s->memory, x = 0;

	LOOP
	{
		x = (x << 3) + i;
		__atomic_store_n(&p[i & 15], x, __ATOMIC_SEQ_CST);
	}
}

KERNEL void mend_atomic_publish(struct set *s, unsigned long rounds)
{
	uint64_t *p = (uint64_t *)s->memory, x = 0;

	LOOP
	{
		x = (x << 3) + i;
		__atomic_store_n(&p[i & 15], x, __ATOMIC_RELEASE);
		__asm__ volatile("" : : : "memory");
	}
}

/* Chains. */

#define FACTOR 0x9e3779b1u

/* A hash of 8 KiB; without the cause in four parts. */
KERNEL void stall_chain_hash(struct set *s, unsigned long rounds)
{
	const volatile unsigned char *p = (unsigned char *)s->memory;
	uint32_t h = 1;

	LOOP h = h * FACTOR + p[i & 8191];
	s->state = h;
}

KERNEL void mend_chain_hash(struct set *s, unsigned long rounds)
{
	const volatile unsigned char *p = (unsigned char *)s->memory;
	uint32_t h[4] = { 1, 1, 1, 1 };

	for (unsigned long i = 0; i < rounds; i += 4) {
		h[0] = h[0] * FACTOR + p[i & 8191];
		h[1] = h[1] * FACTOR + p[(i + 1) & 8191];
		h[2] = h[2] * FACTOR + p[(i + 2) & 8191];
		h[3] = h[3] * FACTOR + p[(i + 3) & 8191];
	}
	s->state = h[0] ^ h[1] ^ h[2] ^ h[3];
}

/* A sum of 1024 numbers; without the cause in four parts. */
KERNEL void stall_chain_sum(struct set *s, unsigned long rounds)
{
	const volatile double *p = (double *)s->memory;
	double sum = 0;

	LOOP sum += p[i & 1023];
	s->state = (uint64_t)sum;
}

KERNEL void mend_chain_sum(struct set *s, unsigned long rounds)
{
	const volatile double *p = (double *)s->memory;
	double sum[4] = { 0 };

	for (unsigned long i = 0; i < rounds; i += 4) {
		sum[0] += p[i & 1023];
		sum[1] += p[(i + 1) & 1023];
		sum[2] += p[(i + 2) & 1023];
		sum[3] += p[(i + 3) & 1023];
	}
	s->state = (uint64_t)(sum[0] + sum[1] + sum[2] + sum[3]);
}

/* A moving average of 1024 numbers; without the cause of four series in turn. */
KERNEL void stall_chain_average(struct set *s, unsigned long rounds)
{
	const volatile double *p = (double *)s->memory;
	double x = 0, part = 0.1;

	__asm__ volatile("" : "+x"(part));
	LOOP x += (p[i & 1023] - x) * part;
	s->state = (uint64_t)x;
}

KERNEL void mend_chain_average(struct set *s, unsigned long rounds)
{
	const volatile double *p = (double *)s->memory;
	double x[4] = { 0 }, part = 0.1;

	__asm__ volatile("" : "+x"(part));
	for (unsigned long i = 0; i < rounds; i += 4) {
		x[0] += (p[i & 1023] - x[0]) * part;
		x[1] += (p[(i + 1) & 1023] - x[1]) * part;
		x[2] += (p[(i + 2) & 1023] - x[2]) * part;
		x[3] += (p[(i + 3) & 1023] - x[3]) * part;
	}
	s->state = (uint64_t)(x[0] + x[1] + x[2] + x[3]);
}

/* Other units. */

/* Sines by the old instruction; without the cause a multiplication. */
KERNEL void stall_unit_sine(struct set *s, unsigned long rounds)
{
	uint64_t sum = s->state;

	LOOP
	{
		sum += i;
		__asm__ volatile("fldpi\n\tfsin\n\tfstp %%st(0)" : "+r"(sum));
	}
	s->state = sum;
}

KERNEL void mend_unit_sine(struct set *s, unsigned long rounds)
{
	uint64_t sum = s->state;

	LOOP
	{
		sum += i;
		__asm__ volatile("fldpi\n\tfmul %%st(0)\n\tfstp %%st(0)" : "+r"(sum));
	}
	s->state = sum;
}

/* Time stamps; without the cause a number. */
KERNEL void stall_unit_clock(struct set *s, unsigned long rounds)
{
	uint64_t sum = s->state;
	uint32_t low = 0;

	LOOP
	{
		__asm__ volatile("rdtsc" : "=a"(low) : : "rdx");
		sum += low ^ i;
	}
	s->state = sum;
}

KERNEL void mend_unit_clock(struct set *s, unsigned long rounds)
{
	uint64_t sum = s->state;
	uint32_t low = 0;

	LOOP
	{
		__asm__ volatile("mov %k1, %0" : "=a"(low) : "r"(i) : "rdx");
		sum += low ^ i;
	}
	s->state = sum;
}

/* Six multiplications that do not wait for each other; without the cause additions. */
#define SIX(first, second)                                                      \
	LOOP __asm__ volatile(first ", %0\n\t" first ", %1\n\t" first           \
				    ", %2\n\t" second ", %3\n\t" second         \
				    ", %4\n\t" second ", %5"                    \
			      : "+r"(x[0]), "+r"(x[1]), "+r"(x[2]), "+r"(x[3]), \
				"+r"(x[4]), "+r"(x[5])                          \
			      : "r"(y))

KERNEL void stall_port_multiply(struct set *s, unsigned long rounds)
{
	uint64_t x[6] = { 1, 3, 5, 7, 9, 11 }, y = 0x9e3779b97f4a7c15u;

	SIX("imul %6", "imul %6");
	s->state = x[0] + x[1] + x[2] + x[3] + x[4] + x[5];
}

KERNEL void mend_port_multiply(struct set *s, unsigned long rounds)
{
	uint64_t x[6] = { 1, 3, 5, 7, 9, 11 }, y = 0x9e3779b97f4a7c15u;

	SIX("add %6", "add %6");
	s->state = x[0] + x[1] + x[2] + x[3] + x[4] + x[5];
}

/* Code. */

#define JUMPS(nr, skip)                                                        \
	__asm__ volatile(".rept " nr "\n\tadd $3, %0\n\tjmp 1f\n\t.skip " skip \
			 "\n1:\n\t.endr"                                       \
			 : "+r"(x))

#define JUMP_LOOP(name, nr, skip)                                \
	KERNEL void name(struct set *s, unsigned long rounds)    \
	{                                                        \
		uint64_t x = s->state;                           \
                                                                 \
		for (unsigned long i = 0; i <= rounds / nr; i++) \
			JUMPS(#nr, skip);                        \
		s->state = x;                                    \
	}

/* 1500 jumps, five lines each; without the cause 300, which fit into the first cache.
 */
JUMP_LOOP(stall_icache_scattered, 1500, "5 * 64 - 9")
JUMP_LOOP(mend_icache_scattered, 300, "5 * 64 - 9")

/* A jump a page, with a line of each; without the cause a jump a line. */
JUMP_LOOP(stall_itlb_jumps, 400, "4096 + 64 - 9")
JUMP_LOOP(mend_itlb_jumps, 400, "64 - 6")

/* Loops as programs have them. */

/* A list of 64 MiB; without the cause its nodes are in order. */
KERNEL void stall_loop_list(struct set *s, unsigned long rounds)
{
	const struct node *p = (struct node *)s->memory;
	uint64_t most = 0, sum = 0;

	LOOP
	{
		sum += p->value[0] ^ i;
		if (p->value[1] > most)
			most = p->value[1];
		p = p->next[0];
	}
	USED(sum + most);
}

#define SIDE 2048ul

static void set_matrix(struct set *s)
{
	s->memory = map(2 * SIDE * SIDE * sizeof(float), false);
}

/* Transposes a matrix; without the cause in blocks. */
KERNEL void stall_loop_transpose(struct set *s, unsigned long rounds)
{
	float *from = (float *)s->memory, *to = from + SIDE * SIDE;

	for (unsigned long i = 0; i < rounds; i += SIDE)
		for (unsigned long k = 0; k < SIDE; k++)
			to[k * SIDE + i / SIDE % SIDE] = from[i % (SIDE * SIDE) + k];
}

#define BLOCK 16ul

KERNEL void mend_loop_transpose(struct set *s, unsigned long rounds)
{
	float *from = (float *)s->memory, *to = from + SIDE * SIDE;

	for (unsigned long i = 0; i < rounds; i += BLOCK * SIDE)
		for (unsigned long b = 0; b < SIDE; b += BLOCK)
			for (unsigned long r = 0; r < BLOCK; r++) {
				const unsigned long row = (i / SIDE + r) % SIDE;

				for (unsigned long k = b; k < b + BLOCK; k++)
					to[k * SIDE + row] = from[row * SIDE + k];
			}
}

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* bsearch() of the C library; without the cause always for the same key. */
KERNEL void stall_loop_bsearch(struct set *s, unsigned long rounds)
{
	void *(*volatile search)(const void *, const void *, size_t, size_t,
				 int (*)(const void *, const void *)) = bsearch;
	uint64_t sum = 0;

	LOOP
	{
		const uint64_t key = (next_random(&s->state) & s->mask) >> 22;

		sum += (uintptr_t)search(&key, s->memory, KIB, 8, by_number);
	}
	USED(sum);
}

static void *do_nothing(void *nothing)
{
	return nothing;
}

/* Once there was a thread, the C library locks files. */
static void set_file(struct set *s)
{
	FILE *f = fopen("/dev/zero", "r");
	pthread_t thread;

	if (!f || pthread_create(&thread, NULL, do_nothing, NULL))
		exit(1);
	pthread_join(thread, NULL);
	__fsetlocking(f, s->mended ? FSETLOCKING_BYCALLER : FSETLOCKING_INTERNAL);
	s->memory = (char *)f;
}

/* getc() of the C library; without the cause it does not lock the file. */
KERNEL void stall_loop_getc(struct set *s, unsigned long rounds)
{
	FILE *f = (FILE *)s->memory;
	uint64_t sum = 0;

	LOOP sum += (uint64_t)getc(f);
	USED(sum);
}

static void set_copies(struct set *s)
{
	s->memory = map(64 * KIB, false);
	s->state = s->mended ? 0 : 33;
}

/* memmove() of the C library, 2 KiB; without the cause it is aligned. */
KERNEL void stall_loop_copy(struct set *s, unsigned long rounds)
{
	void *(*volatile copy)(void *, const void *, size_t) = memmove;

	LOOP copy(s->memory + s->state, s->memory + 16 * KIB + 2 * s->state, 2 * KIB);
}

#define NR_JOINED (4 * MIB)

static void set_join(struct set *s)
{
	uint64_t *table;

	s->memory = map(2 * NR_JOINED * sizeof(*table), s->mended);
	table = (uint64_t *)s->memory;
	memset(table, 0, 2 * NR_JOINED * sizeof(*table));
	for (uint64_t i = 1; i < NR_JOINED / 2; i++) {
		uint64_t at = i * 0x9e3779b97f4a7c15u >> 20;

		while (table[2 * (at % NR_JOINED)])
			at++;
		table[2 * (at % NR_JOINED)] = i;
		table[2 * (at % NR_JOINED) + 1] = i + 7;
	}
}

/* The probes of a hash join, 64 MiB; without the cause with huge pages. */
KERNEL void stall_loop_join(struct set *s, unsigned long rounds)
{
	const uint64_t *table = (uint64_t *)s->memory;
	uint64_t sum = 0, x = s->state | 1;

	LOOP
	{
		uint64_t key, at;

		x = x * 6364136223846793005u + 1442695040888963407u;
		key = x >> 33 & (NR_JOINED - 1);
		at = key * 0x9e3779b97f4a7c15u >> 20;
		while (table[2 * (at % NR_JOINED)] != key &&
		       table[2 * (at % NR_JOINED)])
			at++;
		sum += table[2 * (at % NR_JOINED) + 1];
	}
	s->state = x;
	USED(sum);
}

/* The same; without the cause it prefetches eight probes ahead. */
KERNEL void stall_loop_ahead(struct set *s, unsigned long rounds)
{
	const uint64_t *table = (uint64_t *)s->memory;
	uint64_t sum = 0;

	LOOP
	{
		const uint64_t key = i * 0x9e3779b97f4a7c15u >> 44;
		const uint64_t at = (key * 0x9e3779b97f4a7c15u >> 20) % NR_JOINED;
		uint64_t next = table[2 * at + 1];

		/* What it finds is used at once. */
		for (int k = 0; k < 12; k++)
			next = next * 3 ^ next >> 7;
		sum ^= next + sum * 5;
	}
	USED(sum);
}

KERNEL void mend_loop_ahead(struct set *s, unsigned long rounds)
{
	const uint64_t *table = (uint64_t *)s->memory;
	uint64_t sum = 0;

	LOOP
	{
		const uint64_t key = i * 0x9e3779b97f4a7c15u >> 44;
		const uint64_t at = (key * 0x9e3779b97f4a7c15u >> 20) % NR_JOINED;
		const uint64_t ahead = (i + 24) * 0x9e3779b97f4a7c15u >> 44;
		uint64_t next = table[2 * at + 1];

		__builtin_prefetch(
			&table[2 * ((ahead * 0x9e3779b97f4a7c15u >> 20) % NR_JOINED) +
			       1]);
		for (int k = 0; k < 12; k++)
			next = next * 3 ^ next >> 7;
		sum ^= next + sum * 5;
	}
	USED(sum);
}

static void set_ahead(struct set *s)
{
	s->memory = map(2 * NR_JOINED * sizeof(uint64_t), true);
}

typedef void run_fn(struct set *s, unsigned long rounds);

static const struct kernel {
	const char *name;
	void (*set)(struct set *s);
	run_fn *run, *mended;
} kernels[] = {
#define DATA(name, set)                                \
	{                                              \
#name, set, stall_##name, stall_##name \
	}
#define CODE(name, set)                               \
	{                                             \
#name, set, stall_##name, mend_##name \
	}
	DATA(dcache_trie, set_trie),
	DATA(dcache_buckets, set_buckets),
	DATA(dcache_gather, set_gather),
	DATA(dcache_second, set_second),
	DATA(dtlb_pointers, set_pages),
	DATA(dtlb_hash, set_pages),
	CODE(divide_digits, set_nothing),
	CODE(divide_places, set_nothing),
	CODE(divide_root, set_nothing),
	DATA(mispredict_search, set_keys),
	DATA(mispredict_sorted, set_sorted),
	DATA(mispredict_codes, set_codes),
	DATA(mispredict_runs, set_runs),
	DATA(store_streams, set_streams),
	DATA(store_records, set_records),
	CODE(atomic_compare, set_nothing),
	CODE(atomic_references, set_nothing),
	CODE(atomic_publish, set_nothing),
	CODE(chain_hash, set_nothing),
	CODE(chain_sum, set_nothing),
	CODE(chain_average, set_nothing),
	CODE(unit_sine, set_nothing),
	CODE(unit_clock, set_nothing),
	CODE(port_multiply, set_nothing),
	CODE(icache_scattered, set_nothing),
	CODE(itlb_jumps, set_nothing),
	DATA(split_pages, set_split),
	DATA(loop_list, set_list),
	CODE(loop_transpose, set_matrix),
	DATA(loop_bsearch, set_keys),
	DATA(loop_getc, set_file),
	DATA(loop_copy, set_copies),
	DATA(loop_join, set_join),
	CODE(loop_ahead, set_ahead),
};

#define NR_KERNELS (sizeof(kernels) / sizeof(kernels[0]))

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Nanoseconds of a round. */
static double run_for(run_fn *run, struct set *s, double ns)
{
	const unsigned long at_once = 1 << 16;
	const double begin = cpu_ns();
	unsigned long rounds = 0;
	double now;

	do {
		run(s, at_once);
		rounds += at_once;
		now = cpu_ns();
	} while (now - begin < ns);
	return (now - begin) / (double)rounds;
}

static void compare(const struct kernel *k, double ns, int turns)
{
	struct set s[2] = { { .mended = false }, { .mended = true } };
	run_fn *const run[] = { k->run, k->mended };
	uint64_t state = (uint64_t)time(NULL) | 1;
	double took[2];

	for (int i = 0; i < 2; i++) {
		k->set(&s[i]);
		run_for(run[i], &s[i], ns); /* warms up */
	}
	for (int t = 0; t < turns; t++) {
		const int first = next_random(&state) >> 20 & 1;

		for (int i = 0; i < 2; i++)
			took[first ^ i] = run_for(run[first ^ i], &s[first ^ i], ns);
		printf("%.4f %.4f\n", took[0], took[1]);
	}
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < NR_KERNELS; i++) {
		struct set s = { .mended = false };

		if (argc < 3) {
			puts(kernels[i].name);
			continue;
		}
		if (strcmp(kernels[i].name, argv[1]))
			continue;
		if (argc > 3) {
			compare(&kernels[i], atof(argv[2]) * 1e6, atoi(argv[3]));
			return 0;
		}
		kernels[i].set(&s);
		run_for(kernels[i].run, &s, atof(argv[2]) * 1e6);
		return 0;
	}
	return argc >= 3;
}
