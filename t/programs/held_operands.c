/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * held_operands MS - other operands of known shares, for MS of CPU time
 *
 * Nothing of CPI was made with this program. By a generator of pseudo-random numbers:
 * of 100 divisors of 64 bits 97 are 10, of 100 shift counts 60 are 5, of 100 factors 85
 * are 31, of 100 sizes of copies 45 are 16, and the rest is spread.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sum;
static char from[256], to[256];

struct item {
	uint64_t number, by;
	uint32_t count, factor;
	uint64_t size;
};

static struct item items[4096];

static uint32_t draw(void)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(state >> 33);
}

static void fill(void)
{
	for (unsigned int i = 0; i < 4096; i++) {
		items[i].number = (uint64_t)draw() << (draw() % 30);
		items[i].by = draw() % 100 < 97 ? 10 : 11 + draw() % 1000;
		items[i].count = draw() % 100 < 60 ? 5 : 6 + draw() % 20;
		items[i].factor = draw() % 100 < 85 ? 31 : 100 + draw() % 500;
		items[i].size = draw() % 100 < 45 ? 16 : 17 + draw() % 40;
	}
}

__attribute__((noinline)) uint64_t work(const struct item *it, unsigned int nr)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < nr; i++, it++) {
		uint64_t size = it->size;
		char *a = from, *b = to;

		all += it->number / it->by;
		all ^= all >> it->count;
		all += (uint32_t)it->number * it->factor;
		if (i & 1)
			__asm__ volatile("rep movsb"
					 : "+S"(a), "+D"(b), "+c"(size)
					 :
					 : "memory");
	}
	return all;
}

int main(int argc, char **argv)
{
	const clock_t end = argc > 1 ? atoi(argv[1]) * (CLOCKS_PER_SEC / 1000) : 0;

	fill();
	while (clock() < end)
		sum += work(items, 4096);
	return 0;
}
