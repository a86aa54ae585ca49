/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall KERNEL MS - one kernel, that waits for one known thing, for MS of CPU time
 * stall          - their names, one a line
 *
 * The kernel NAME is the procedure stall_NAME; what is before the first _ of NAME is
 * what it waits for. More than one kernel per cause, for causes have many faces.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define KERNEL static __attribute__((noinline, aligned(64)))

/* The compiler must not know what v is. */
#define HIDE(v) __asm__ volatile("" : "+r"(v))

#define LINE        64
#define PAGE        4096
#define LARGE       (256UL << 20) /* bytes, more than any cache here holds for long */
#define NR_PAGES    8192 /* more than TLBs hold, of which one line each is cached */
#define NR_BYTES    4096
#define PAGE_STRIDE (PAGE + LINE)

struct node {
	struct node *next;
	uint64_t value[7];
};

static struct {
	struct node *node;     /* LARGE bytes of them, linked at random */
	unsigned char *memory; /* LARGE bytes */
	unsigned char *pages;  /* NR_PAGES of PAGE_STRIDE */
	unsigned char *random; /* NR_BYTES, from 0 to 255 */
	uint64_t result;
} m;

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* One circle through all nodes (Sattolo). */
static void link_nodes(void)
{
	const size_t nr = LARGE / sizeof(struct node);
	uint32_t *order = malloc(nr * sizeof(*order));
	uint64_t state = 88172645463325252;

	if (!order)
		exit(1);
	for (size_t i = 0; i < nr; i++)
		order[i] = (uint32_t)i;
	for (size_t i = nr - 1; i > 0; i--) {
		const size_t k = next_random(&state) % i;
		const uint32_t o = order[i];

		order[i] = order[k];
		order[k] = o;
	}
	for (size_t i = 0; i < nr; i++)
		m.node[order[i]].next = &m.node[order[(i + 1) % nr]];
	free(order);
}

static void *map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	madvise(p, size, MADV_NOHUGEPAGE);
	memset(p, 1, size);
	return p;
}

static void prepare(const char *cause)
{
	uint64_t state = 1234567;

	m.random = map(NR_BYTES);
	for (int i = 0; i < NR_BYTES; i++)
		m.random[i] = next_random(&state) >> 24 & 255;
	m.pages = map((size_t)NR_PAGES * PAGE_STRIDE);
	if (!strcmp(cause, "dcache") || !strcmp(cause, "store"))
		m.memory = map(LARGE);
	if (!strcmp(cause, "dcache")) {
		m.node = map(LARGE);
		link_nodes();
	}
}

KERNEL void stall_dcache_chase(unsigned long rounds)
{
	struct node *p = m.node;

	while (rounds--)
		p = p->next;
	m.result += (uintptr_t)p;
}

/* With work that the core does meanwhile. */
KERNEL void stall_dcache_list(unsigned long rounds)
{
	struct node *p = m.node;
	uint64_t sum = 0, odd = 0;

	for (; rounds--; p = p->next) {
		sum += p->value[0] * 3 + (p->value[1] ^ sum >> 3);
		odd ^= sum + rounds;
		sum -= odd << 2;
	}
	m.result += (uintptr_t)p + sum + odd;
}

KERNEL void stall_dcache_random(unsigned long rounds)
{
	uint64_t state = 1, sum = 0;

	while (rounds--) {
		state = state * 6364136223846793005 + 1442695040888963407;
		sum += *(uint64_t *)(m.memory + (state >> 30) % (LARGE / 8) * 8);
	}
	m.result += sum;
}

/* The index of the next load comes from memory, too. */
KERNEL void stall_dcache_index(unsigned long rounds)
{
	uint64_t at = 1, hash = 0;

	while (rounds--) {
		hash = hash * 31 + at + *(uint64_t *)(m.memory + at * LINE);
		at = hash % (LARGE / LINE);
	}
	m.result += at;
}

KERNEL void stall_dtlb_stride(unsigned long rounds)
{
	uint64_t sum = 0;
	unsigned long at = 0;

	while (rounds--) {
		sum += m.pages[at];
		at += PAGE_STRIDE;
		if (at >= (unsigned long)NR_PAGES * PAGE_STRIDE)
			at = 0;
	}
	m.result += sum;
}

/* Down the columns of a matrix. */
KERNEL void stall_dtlb_column(unsigned long rounds)
{
	uint64_t sum = 0;

	for (unsigned long column = 0; rounds; column = (column + 1) % LINE) {
		unsigned char *p = m.pages + column;

		for (int row = 0; row < NR_PAGES && rounds; row++, rounds--)
			sum += p[(size_t)row * PAGE_STRIDE];
	}
	m.result += sum;
}

KERNEL void stall_divide_integer(unsigned long rounds)
{
	uint64_t x = UINT64_MAX, y = 3, sum = 0;

	HIDE(y);
	while (rounds--) {
		sum += (x - rounds) / (y + (rounds & 7));
		sum ^= rounds;
	}
	m.result += sum;
}

KERNEL void stall_divide_modulo(unsigned long rounds)
{
	uint64_t x = 12345, y = 1000003;

	HIDE(y);
	while (rounds--)
		x = (x * 7 + 5) % y + (x << 20);
	m.result += x;
}

KERNEL void stall_divide_float(unsigned long rounds)
{
	double x = 3, y = 1;

	__asm__ volatile("" : "+m"(y));
	while (rounds--)
		x = y / (x + y);
	m.result += (uint64_t)(x * 100);
}

KERNEL void stall_mispredict_data(unsigned long rounds)
{
	uint64_t state = 1, odd = 0, even = 0;

	while (rounds--) {
		state = state * 6364136223846793005 + 1442695040888963407;
		if (m.random[state >> 40 & (NR_BYTES - 1)] & 1)
			HIDE(odd);
		else
			HIDE(even);
		odd += 1;
	}
	m.result += odd + even;
}

/* A new random bit each round. */
KERNEL void stall_mispredict_bits(unsigned long rounds)
{
	uint64_t state = 88172645463325252, x = 0, count = 0;

	while (rounds--) {
		if (!(rounds & 31))
			x = next_random(&state);
		if (x & 4) {
			HIDE(count);
			count += 5;
		}
		x >>= 1;
	}
	m.result += count;
}

KERNEL void stall_mispredict_switch(unsigned long rounds)
{
	uint64_t x = 88172645463325252, a = 0;

	while (rounds--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		switch (x >> 20 & 7) {
#define CASE(n, text)                             \
	case n:                                   \
		__asm__ volatile(text : "+r"(a)); \
		break
			CASE(0, "# 0");
			CASE(1, "# 1");
			CASE(2, "# 2");
			CASE(3, "# 3");
			CASE(4, "# 4");
			CASE(5, "# 5");
			CASE(6, "# 6");
			CASE(7, "# 7");
#undef CASE
		}
		a++;
	}
	m.result += a;
}

KERNEL void stall_store_lines(unsigned long rounds)
{
	unsigned char *p = m.memory;

	for (; rounds--; p += LINE) {
		if (p == m.memory + LARGE)
			p = m.memory;
		*(volatile uint64_t *)p = rounds;
	}
}

KERNEL void stall_store_scatter(unsigned long rounds)
{
	uint64_t state = 1;

	while (rounds--) {
		state = state * 6364136223846793005 + 1442695040888963407;
		*(volatile uint64_t *)(m.memory + (state >> 30) % (LARGE / 8) * 8) =
			rounds;
	}
}

KERNEL void stall_atomic_add(unsigned long rounds)
{
	while (rounds--)
		__atomic_fetch_add(&m.result, 1, __ATOMIC_SEQ_CST);
}

KERNEL void stall_atomic_swap(unsigned long rounds)
{
	uint64_t mine = 5, sum = 0;

	while (rounds--) {
		mine = __atomic_exchange_n(&m.result, mine + rounds, __ATOMIC_SEQ_CST);
		sum = sum * 3 + (mine ^ rounds);
	}
	m.result += sum;
}

KERNEL void stall_atomic_fence(unsigned long rounds)
{
	uint64_t sum = 0;

	while (rounds--) {
		*(volatile uint64_t *)m.random = rounds;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		sum += rounds ^ sum << 1;
	}
	m.result += sum;
}

KERNEL void stall_chain_multiply(unsigned long rounds)
{
	uint64_t x = 3;

	while (rounds--) {
		x *= 6364136223846793005;
		x *= 1442695040888963407;
		x *= 6364136223846793005;
		HIDE(x);
	}
	m.result += x;
}

KERNEL void stall_chain_float(unsigned long rounds)
{
	double x = 1.5, y = 1.0000001;

	__asm__ volatile("" : "+m"(y));
	while (rounds--)
		x = x * y + y;
	m.result += (uint64_t)x;
}

/* Through two blocks. */
KERNEL void stall_chain_blocks(unsigned long rounds)
{
	uint64_t x = 3;

	while (rounds--) {
		x *= 6364136223846793005;
		HIDE(x);
		if (!(rounds & 1023))
			m.result++;
		x *= 1442695040888963407;
		HIDE(x);
	}
	m.result += x;
}

/* Code that no first-level cache holds: 160 KiB in one go, or a jump a line. */
#ifdef __x86_64__
#define STEP "movabs $0x123456789abcdef, %0\n\t"
#define JUMP "jmp 1f\n\t.p2align 6\n1:\n\t"
#else
#define STEP "movz %0, #1\n\tmovk %0, #2, lsl #16\n\t"
#define JUMP "b 1f\n\t.p2align 6\n1:\n\t"
#endif

KERNEL void stall_icache_straight(unsigned long rounds)
{
	uint64_t x = 1;

	for (unsigned long i = 0; i <= rounds >> 14; i++)
		__asm__ volatile(".rept 16384\n\t" STEP ".endr\n\t" : "+r"(x));
	m.result += x;
}

KERNEL void stall_icache_jumps(unsigned long rounds)
{
	uint64_t x = 1;

	for (unsigned long i = 0; i <= rounds >> 13; i++)
		__asm__ volatile(".rept 8192\n\t" STEP JUMP ".endr\n\t" : "+r"(x));
	m.result += x;
}

static const struct {
	const char *name;
	void (*run)(unsigned long rounds);
} kernels[] = {
#define X(name)                     \
	{                           \
#name, stall_##name \
	}
	X(dcache_chase),    X(dcache_list),     X(dcache_random),
	X(dcache_index),    X(dtlb_stride),     X(dtlb_column),
	X(divide_integer),  X(divide_modulo),   X(divide_float),
	X(mispredict_data), X(mispredict_bits), X(mispredict_switch),
	X(store_lines),     X(store_scatter),   X(atomic_add),
	X(atomic_swap),     X(atomic_fence),    X(chain_multiply),
	X(chain_float),     X(chain_blocks),    X(icache_straight),
	X(icache_jumps),
#undef X
};

#define NR_KERNELS (sizeof(kernels) / sizeof(kernels[0]))

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	char cause[32] = "";
	double end;

	for (size_t i = 0; i < NR_KERNELS; i++) {
		if (argc < 3) {
			puts(kernels[i].name);
			continue;
		}
		if (strcmp(kernels[i].name, argv[1]))
			continue;
		strncat(cause, argv[1], strcspn(argv[1], "_"));
		prepare(cause);
		for (end = cpu_ms() + atof(argv[2]); cpu_ms() < end;)
			kernels[i].run(1 << 20);
		return 0;
	}
	return argc >= 3;
}
