/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fresh KERNEL MS - one kernel, that waits for one known thing, for MS of CPU time
 * fresh           - their names, one a line
 *
 * As t/programs/stall.c, for 't/accuracy/culprits --fresh'. The kernels were written
 * when the order of culprits was fixed, and before any of them had been profiled; those
 * from dcache_tree and from dcache_twins on later, likewise.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define KERNEL  static __attribute__((noinline, aligned(64)))
#define HIDE(v) __asm__ volatile("" : "+r"(v))
#define LOOP    for (unsigned long i = 0; i < rounds; i++)

#define MIB  (1ul << 20)
#define LINE 64ul
#define PAGE 4096ul

static uint64_t result;
static char *memory;        /* 128 MiB, huge pages */
static char *pages;         /* NR_PAGES small pages */
static uint32_t *index_of;  /* of the lines of memory, one circle */
static unsigned char *bits; /* NR_BITS, 0 or 1 at random */
#define NR_LINES (128 * MIB / LINE)
#define NR_PAGES 6000ul
#define NR_BITS  (1ul << 16)

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static char *map(size_t size, int advice)
{
	char *p = mmap(NULL, size + 2 * MIB, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	p = (char *)(((uintptr_t)p + 2 * MIB - 1) & ~(2 * MIB - 1));
	madvise(p, size, advice);
	memset(p, 1, size);
	return p;
}

/* One circle through nr places (Sattolo). */
static uint32_t *circle(size_t nr)
{
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
	return order;
}

static void prepare(void)
{
	uint64_t state = 42;
	uint32_t *order;

	memory = map(128 * MIB, MADV_HUGEPAGE);
	order = circle(NR_LINES);
	for (size_t i = 0; i < NR_LINES; i++)
		*(uint32_t *)(memory + order[i] * LINE) = order[(i + 1) % NR_LINES];
	index_of = order;
	pages = map(NR_PAGES * (PAGE + LINE), MADV_NOHUGEPAGE);
	order = circle(NR_PAGES);
	for (size_t i = 0; i < NR_PAGES; i++)
		*(char **)(pages + order[i] * (PAGE + LINE)) =
			pages + order[(i + 1) % NR_PAGES] * (PAGE + LINE);
	free(order);
	bits = (unsigned char *)map(NR_BITS, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < NR_BITS; i++)
		bits[i] = next_random(&state) >> 33 & 1;
}

/* A graph by the numbers of its nodes. */
KERNEL void stall_dcache_graph(unsigned long rounds)
{
	static uint32_t at;
	uint32_t k = at;

	LOOP k = *(uint32_t *)(memory + k * LINE);
	at = k;
	result += k;
}

KERNEL void stall_dcache_probe(unsigned long rounds)
{
	static uint64_t state = 7;
	uint64_t sum = 0;

	LOOP
	{
		state = state * 6364136223846793005u + 1;
		sum += *(uint32_t *)(memory + (state >> 43) * LINE);
	}
	result += sum;
}

/* Each address comes from a table that is read in order. */
KERNEL void stall_dcache_table(unsigned long rounds)
{
	static size_t at;
	uint64_t sum = 0;

	LOOP sum += (unsigned char)memory[index_of[at++ % NR_LINES] * LINE + 8];
	result += sum;
}

KERNEL void stall_dcache_walk(unsigned long rounds)
{
	static uint32_t at = 1;
	uint64_t sum = 0;
	uint32_t k = at;

	LOOP
	{
		const char *node = memory + k * LINE;

		sum = (sum ^ (unsigned char)node[20]) + (unsigned char)node[40] * 3;
		k = *(const uint32_t *)node;
	}
	at = k;
	result += sum;
}

KERNEL void stall_dtlb_circle(unsigned long rounds)
{
	char *p = pages;

	LOOP p = *(char **)p;
	result += (uintptr_t)p;
}

KERNEL void stall_dtlb_random(unsigned long rounds)
{
	static uint64_t state = 3;
	uint64_t sum = 0;

	LOOP
	{
		state = state * 6364136223846793005u + 1;
		sum += (unsigned char)
			pages[(state >> 33) % NR_PAGES * (PAGE + LINE) + 16];
	}
	result += sum;
}

KERNEL void stall_divide_rest(unsigned long rounds)
{
	uint32_t a = 4000000007u, b = 17;

	HIDE(b);
	LOOP a = a % (b + (uint32_t)(i & 1023)) + 4000000007u;
	result += a;
}

KERNEL void stall_divide_single(unsigned long rounds)
{
	float x = 3, y = 1.5f;

	__asm__ volatile("" : "+x"(x), "+x"(y));
	LOOP x = y / (x + 1);
	result += (uint64_t)x;
}

KERNEL void stall_divide_length(unsigned long rounds)
{
	double x = 2, r;

	LOOP
	{
		__asm__ volatile("sqrtsd %1, %0" : "=x"(r) : "x"(x));
		x = r + 2;
	}
	result += (uint64_t)x;
}

KERNEL void stall_mispredict_coin(unsigned long rounds)
{
	static uint64_t state = 99;
	uint64_t heads = 0, tails = 1;

	LOOP
	{
		if (next_random(&state) >> 40 & 1) {
			heads += 3;
			HIDE(heads);
		} else {
			tails ^= i;
			HIDE(tails);
		}
	}
	result += heads + tails;
}

KERNEL void stall_mispredict_filter(unsigned long rounds)
{
	static size_t at;
	uint64_t nr = 0;

	LOOP
	{
		if (bits[at++ % NR_BITS]) {
			nr++;
			HIDE(nr);
		}
	}
	result += nr;
}

static uint64_t one(uint64_t x)
{
	return x + 1;
}

static uint64_t two(uint64_t x)
{
	return x ^ 2;
}

static uint64_t three(uint64_t x)
{
	return x - 3;
}

static uint64_t four(uint64_t x)
{
	return x | 4;
}

KERNEL void stall_mispredict_calls(unsigned long rounds)
{
	uint64_t (*const to[])(uint64_t) = { one, two, three, four };
	uint64_t (*const *p)(uint64_t) = to;
	static uint64_t state = 5;
	uint64_t x = 0;

	HIDE(p);
	LOOP x = p[next_random(&state) >> 50 & 3](x);
	result += x;
}

KERNEL void stall_store_random(unsigned long rounds)
{
	static uint64_t state = 11;

	LOOP
	{
		state = state * 6364136223846793005u + 1;
		*(volatile char *)(memory + (state >> 43) * LINE + 24) = 1;
	}
}

KERNEL void stall_store_apart(unsigned long rounds)
{
	static size_t at;

	LOOP
	{
		*(volatile uint64_t *)(memory + at + 32) = i;
		at = (at + 5 * LINE) % (128 * MIB);
	}
}

static uint64_t word;

KERNEL void stall_atomic_or(unsigned long rounds)
{
	LOOP __atomic_fetch_or(&word, 1, __ATOMIC_SEQ_CST);
}

KERNEL void stall_atomic_ticket(unsigned long rounds)
{
	uint64_t sum = 0;

	LOOP sum += __atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST);
	result += sum;
}

KERNEL void stall_chain_generator(unsigned long rounds)
{
	uint64_t x = 1;

	LOOP x = x * 6364136223846793005u + 1442695040888963407u;
	result += x;
}

KERNEL void stall_chain_horner(unsigned long rounds)
{
	double y = 0, x = 0.5, c = 1;

	__asm__ volatile("" : "+x"(x), "+x"(c));
	LOOP y = y * x + c;
	result += (uint64_t)y;
}

KERNEL void stall_chain_sub(unsigned long rounds)
{
	double y = 1e9, c = 1;

	__asm__ volatile("" : "+x"(c));
	LOOP y = c - y;
	result += (uint64_t)y;
}

#if defined(__x86_64__)
KERNEL void stall_unit_tangent(unsigned long rounds)
{
	double x = 0.3;

	LOOP __asm__ volatile("fldl %0; fptan; fstp %%st(0); fstpl %0"
			      : "+m"(x)
			      :
			      : "st", "st(1)");
	result += (uint64_t)x;
}

KERNEL void stall_port_crc(unsigned long rounds)
{
	uint64_t a = 1, b = 2, c = 3, d = 4;

	LOOP __asm__ volatile(
		"crc32q %4, %0; crc32q %4, %1; crc32q %4, %2; crc32q %4, %3"
		: "+r"(a), "+r"(b), "+r"(c), "+r"(d)
		: "r"(i));
	result += a + b + c + d;
}

/* 160 KiB of code without a jump. */
KERNEL void stall_icache_long(unsigned long rounds)
{
	uint64_t x = 1;

	for (unsigned long i = 0; i < rounds; i += 10000)
		__asm__ volatile(".rept 10000\n lea 1(%0), %0\n"
				 ".byte 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
				 "nopl (%%rax)\n .endr"
				 : "+r"(x));
	result += x;
}
#endif

/* A tree of 2^21 - 1 nodes, a line each, whose children are at random places. */
KERNEL void stall_dcache_tree(unsigned long rounds)
{
	static uint64_t state = 21;
	uint64_t sum = 0;

	LOOP
	{
		const uint64_t key = next_random(&state);
		size_t at = 1;

		for (int level = 0; level < 20; level++) {
			at = 2 * at + (key >> level & 1);
			sum += (unsigned char)memory[index_of[at] * LINE + 12];
		}
	}
	result += sum;
}

/* Two fields of objects, by a table of pointers to them. */
KERNEL void stall_dcache_objects(unsigned long rounds)
{
	static const char **object;
	static size_t at;
	uint64_t sum = 0;

	if (!object) {
		object = malloc(NR_LINES / 2 * sizeof(*object));
		if (!object)
			exit(1);
		for (size_t i = 0; i < NR_LINES / 2; i++)
			object[i] = memory + index_of[i] * LINE;
	}
	LOOP
	{
		const char *o = object[at++ % (NR_LINES / 2)];

		sum += (unsigned char)o[16] * (uint64_t)(unsigned char)o[48];
	}
	result += sum;
}

/* A column of a matrix: a line of each page, all of which fit into the second cache. */
KERNEL void stall_dtlb_matrix(unsigned long rounds)
{
	static size_t row;
	uint64_t sum = 0;

	LOOP
	{
		sum += (unsigned char)pages[row * (PAGE + LINE) + 32];
		row = row + 1 < NR_PAGES ? row + 1 : 0;
	}
	result += sum;
}

KERNEL void stall_divide_power(unsigned long rounds)
{
	uint64_t x = 3, modulus = 4294967291u;

	HIDE(modulus);
	LOOP x = x * x % modulus + 2;
	result += x;
}

KERNEL void stall_mispredict_cases(unsigned long rounds)
{
	static uint64_t state = 77;
	uint64_t x = 0;

	LOOP
	{
		switch (next_random(&state) >> 30 & 7) {
		case 0:
			x += 5;
			break;
		case 1:
			x ^= i;
			break;
		case 2:
			x -= 9;
			break;
		case 3:
			x |= 64;
			break;
		case 4:
			x = ~x;
			break;
		case 5:
			x <<= 1;
			break;
		case 6:
			x &= 0xffff;
			break;
		default:
			x = i;
		}
		HIDE(x);
	}
	result += x;
}

/* Words of 1 to 8 letters. */
KERNEL void stall_mispredict_lengths(unsigned long rounds)
{
	static uint64_t state = 31;
	uint64_t sum = 0;

	LOOP
	{
		unsigned int left = (next_random(&state) >> 20 & 7) + 1;

		do {
			sum += left;
			HIDE(sum);
		} while (--left);
	}
	result += sum;
}

KERNEL void stall_store_table(unsigned long rounds)
{
	static size_t at;

	LOOP *(volatile uint32_t *)(memory + index_of[at++ % NR_LINES] * LINE + 40) = 1;
}

KERNEL void stall_atomic_exchange(unsigned long rounds)
{
	static uint64_t words[16];

	LOOP __atomic_exchange_n(&words[i % 16], i, __ATOMIC_SEQ_CST);
}

/* The scalar product of two vectors of 2 KiB. */
KERNEL void stall_chain_dot(unsigned long rounds)
{
	static float a[512], b[512];
	float sum = 0;

	LOOP
	{
		sum += a[i % 512] * b[i % 512];
		__asm__ volatile("" : "+x"(sum));
	}
	result += (uint64_t)sum;
}

#if defined(__x86_64__)
/* 270 KiB of code without a jump, whose instructions do nothing. */
KERNEL void stall_icache_nops(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i += 30000)
		__asm__ volatile(".rept 30000\n"
				 ".byte 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n .endr");
}

KERNEL void stall_port_popcnt(unsigned long rounds)
{
	uint64_t a, b, c, d, e, f;

	LOOP __asm__ volatile("popcntq %6, %0; popcntq %6, %1; popcntq %6, %2;"
			      "popcntq %6, %3; popcntq %6, %4; popcntq %6, %5"
			      : "=&r"(a), "=&r"(b), "=&r"(c), "=&r"(d), "=&r"(e),
				"=&r"(f)
			      : "r"(i));
	result += rounds ? a : 0;
}

KERNEL void stall_unit_arctan(unsigned long rounds)
{
	double x = 0.7;

	LOOP __asm__ volatile("fldl %0; fld1; fpatan; fstpl %0"
			      : "+m"(x)
			      :
			      : "st", "st(1)");
	result += (uint64_t)x;
}
#endif

/* Two circles at a time: the core waits for two lines at once. */
KERNEL void stall_dcache_twins(unsigned long rounds)
{
	static uint32_t first, second = NR_LINES / 2;
	uint32_t a = first, b = second;

	LOOP
	{
		a = *(uint32_t *)(memory + a * LINE);
		b = *(uint32_t *)(memory + b * LINE);
	}
	first = a;
	second = b;
	result += a + b;
}

/* A binary search in 4 KiB for numbers at random. */
KERNEL void stall_mispredict_tree(unsigned long rounds)
{
	static uint64_t state = 41;
	static uint32_t sorted[1024];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < 1024; i++)
		sorted[i] = i << 22;
	LOOP
	{
		const uint32_t key = (uint32_t)(next_random(&state) >> 32);
		size_t low = 0, high = 1024;

		while (high - low > 1) {
			const size_t middle = (low + high) / 2;

			if (sorted[middle] <= key) {
				low = middle;
				HIDE(low);
			} else {
				high = middle;
				HIDE(high);
			}
		}
		sum += low;
	}
	result += sum;
}

/* Four words of each line. */
KERNEL void stall_store_words(unsigned long rounds)
{
	static size_t at;

	LOOP
	{
		volatile uint64_t *const line = (volatile uint64_t *)(memory + at);

		line[0] = line[2] = line[4] = line[6] = i;
		at = (at + LINE) % (128 * MIB);
	}
}

KERNEL void stall_chain_mean(unsigned long rounds)
{
	double x = 1, c = 3, half = 0.5;

	__asm__ volatile("" : "+x"(c), "+x"(half));
	LOOP x = (x + c) * half;
	result += (uint64_t)x;
}

KERNEL void stall_chain_fold(unsigned long rounds)
{
	uint64_t x = 1;

	LOOP
	{
		x *= 0x9e3779b97f4a7c15;
		x ^= x >> 32;
	}
	result += x;
}

#if defined(__x86_64__)
/* The sum is copied there and back. */
KERNEL void stall_chain_copies(unsigned long rounds)
{
	double x = 0, other = 0, c = 1;

	LOOP __asm__ volatile("movapd %0, %1\n addsd %2, %1\n movapd %1, %0"
			      : "+x"(x), "+x"(other)
			      : "x"(c));
	result += (uint64_t)x;
}

KERNEL void stall_port_pext(unsigned long rounds)
{
	uint64_t a, b, c, d;

	LOOP __asm__ volatile("pextq %4, %4, %0; pextq %4, %4, %1;"
			      "pextq %4, %4, %2; pextq %4, %4, %3"
			      : "=&r"(a), "=&r"(b), "=&r"(c), "=&r"(d)
			      : "r"(i));
	result += rounds ? a : 0;
}

KERNEL void stall_port_permute(unsigned long rounds)
{
	LOOP __asm__ volatile("vpermq $27, %%ymm0, %%ymm1; vpermq $27, %%ymm0, %%ymm2;"
			      "vpermq $27, %%ymm0, %%ymm3; vpermq $27, %%ymm0, %%ymm4;"
			      "vpermq $27, %%ymm0, %%ymm5"
			      :
			      :
			      : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5");
	__asm__ volatile("vzeroupper");
}

/* Twelve sums: two additions a cycle are the limit, not the time of one. */
KERNEL void stall_port_sums(unsigned long rounds)
{
	double c = 1;

	LOOP __asm__ volatile("addsd %0, %%xmm1; addsd %0, %%xmm2; addsd %0, %%xmm3;"
			      "addsd %0, %%xmm4; addsd %0, %%xmm5; addsd %0, %%xmm6;"
			      "addsd %0, %%xmm7; addsd %0, %%xmm8; addsd %0, %%xmm9;"
			      "addsd %0, %%xmm10; addsd %0, %%xmm11; addsd %0, %%xmm12"
			      :
			      : "x"(c)
			      : "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
				"xmm8", "xmm9", "xmm10", "xmm11", "xmm12");
}

/* 330 KiB of code without a jump: four sums. */
KERNEL void stall_icache_sums(unsigned long rounds)
{
	uint64_t a = 1, b = 2, c = 3, d = 4;

	for (unsigned long i = 0; i < rounds; i += 48000)
		__asm__ volatile(".rept 12000\n addq $0x12345678, %0\n"
				 "addq $0x12345678, %1\n addq $0x12345678, %2\n"
				 "addq $0x12345678, %3\n .endr"
				 : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
	result += a + b + c + d;
}

/* 2500 jumps, each three lines behind the last one. */
KERNEL void stall_icache_hops(unsigned long rounds)
{
	uint64_t x = 1;

	for (unsigned long i = 0; i < rounds; i += 2500)
		__asm__ volatile(".rept 2500\n incq %0\n jmp 1f\n .skip 184, 0x90\n"
				 "1:\n .endr"
				 : "+r"(x));
	result += x;
}

/* 400 pages, the last one first; their lines fit into the first cache. */
KERNEL void stall_itlb_back(unsigned long rounds)
{
	uint64_t x = 1;

	for (unsigned long i = 0; i < rounds; i += 400)
		__asm__ volatile("jmp 3f - 4160\n leaq 1(%0), %0\n jmp 3f\n"
				 ".skip 4151, 0x90\n"
				 ".rept 400\n leaq 1(%0), %0\n jmp . - 4164\n"
				 ".skip 4151, 0x90\n .endr\n 3:"
				 : "+a"(x));
	result += x;
}

KERNEL void stall_unit_both(unsigned long rounds)
{
	double x = 0.4;

	LOOP __asm__ volatile("fldl %0; fsincos; faddp; fstpl %0"
			      : "+m"(x)
			      :
			      : "st", "st(1)");
	result += (uint64_t)x;
}
#endif

KERNEL void stall_atomic_bit(unsigned long rounds)
{
	uint64_t set = 0;

	LOOP set += __atomic_fetch_xor(&word, 1ul << 9, __ATOMIC_SEQ_CST) >> 9 & 1;
	result += set;
}

static const struct {
	const char *name;
	void (*run)(unsigned long);
} kernels[] = {
#define X(name)                     \
	{                           \
#name, stall_##name \
	}
	X(dcache_graph),    X(dcache_probe),      X(dcache_table),
	X(dcache_walk),     X(dtlb_circle),       X(dtlb_random),
	X(divide_rest),     X(divide_single),     X(divide_length),
	X(mispredict_coin), X(mispredict_filter), X(mispredict_calls),
	X(store_random),    X(store_apart),       X(atomic_or),
	X(atomic_ticket),   X(chain_generator),   X(chain_horner),
	X(chain_sub),
#if defined(__x86_64__)
	X(unit_tangent),    X(port_crc),          X(icache_long),
#endif
	X(dcache_tree),     X(dcache_objects),    X(dtlb_matrix),
	X(divide_power),    X(mispredict_cases),  X(mispredict_lengths),
	X(store_table),     X(atomic_exchange),   X(chain_dot),
#if defined(__x86_64__)
	X(icache_nops),     X(port_popcnt),       X(unit_arctan),
#endif
	X(dcache_twins),    X(mispredict_tree),   X(store_words),
	X(chain_mean),      X(chain_fold),        X(atomic_bit),
#if defined(__x86_64__)
	X(chain_copies),    X(port_pext),         X(port_permute),
	X(port_sums),       X(icache_sums),       X(icache_hops),
	X(itlb_back),       X(unit_both),
#endif
#undef X
};

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	double end;

	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		if (argc < 3) {
			puts(kernels[i].name);
			continue;
		}
		if (strcmp(kernels[i].name, argv[1]))
			continue;
		prepare();
		for (end = cpu_ms() + atof(argv[2]); cpu_ms() < end;)
			kernels[i].run(1 << 16);
		return 0;
	}
	return argc >= 3;
}
