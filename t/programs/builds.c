/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * builds - a program of which two builds are compared, LATER being the second
 *
 * between them  blend was renamed; count was renamed, and got a statement more; chain
 * was split in two; old is gone, fresh is new, and nothing is like these. keep is the
 * same, but stands elsewhere.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define HOT  __attribute__((noinline))
#define SIZE 4096

static uint32_t data[SIZE];

#ifdef LATER
#define blend mix_colours
#define count tally_bits
#else
/* Sorts a part of the data by insertion. */
static HOT uint32_t old(uint32_t from)
{
	uint32_t part[48];
	int i, k;

	for (i = 0; i < 48; i++)
		part[i] = data[(from + 7 * i) % SIZE];
	for (i = 1; i < 48; i++) {
		const uint32_t x = part[i];

		for (k = i; k > 0 && part[k - 1] > x; k--)
			part[k] = part[k - 1];
		part[k] = x;
	}
	return part[24];
}
#endif

static HOT uint32_t keep(uint32_t x)
{
	for (int i = 0; i < 1500; i++)
		x = (x >> 1) ^ (-(x & 1) & 0xedb88320) ^ data[x % SIZE];
	return x;
}

static HOT uint32_t blend(uint32_t alpha)
{
	uint32_t sum = 0;

	for (int i = 0; i + 1 < SIZE; i += 3) {
		const uint32_t a = data[i], b = data[i + 1];

		sum += ((a & 0xff) * alpha + (b & 0xff) * (255 - alpha)) / 255;
		sum ^= ((a >> 8 & 0xff) * alpha + (b >> 8 & 0xff) * (255 - alpha)) << 3;
		if (sum & 0x800)
			sum -= a;
	}
	return sum;
}

static HOT uint32_t count(uint32_t mask)
{
	uint32_t bits = 0, runs = 0, last = 0;

	for (int i = 0; i < SIZE; i += 4) {
		for (uint32_t x = data[i] & mask; x; x &= x - 1)
			bits++;
		runs += (data[i] & 1) != last;
		last = data[i] & 1;
#ifdef LATER
		if (bits > 1u << 30)
			bits -= runs;
#endif
	}
	return bits * 31 + runs;
}

#ifdef LATER
static HOT uint32_t walk(uint32_t at)
{
	for (int i = 0; i < 300; i++) {
		at = data[at % SIZE] + 17 * i;
		if (at % 5 == 0)
			at += data[(at + 1) % SIZE] % 13;
		else if (at % 7 == 0)
			at ^= at >> 3;
	}
	return at;
}
#endif

static HOT uint32_t chain(uint32_t at)
{
	uint32_t hash = 5381;

#ifdef LATER
	at = walk(at);
#else
	for (int i = 0; i < 300; i++) {
		at = data[at % SIZE] + 17 * i;
		if (at % 5 == 0)
			at += data[(at + 1) % SIZE] % 13;
		else if (at % 7 == 0)
			at ^= at >> 3;
	}
#endif
	for (int i = 0; i < 900; i++) {
		hash = hash * 33 + (data[(at + i) % SIZE] & 0x7f);
		if (hash & 0x10000)
			hash = hash << 5 | hash >> 27;
		hash += (hash >> 11) * (i & 3);
		if (hash % 11 == 3)
			hash -= at;
	}
	return hash;
}

#ifdef LATER
/* A small matrix, squared again and again. */
static HOT uint32_t fresh(uint32_t x)
{
	double a[4][4], b[4][4];

	for (int i = 0; i < 16; i++)
		a[i / 4][i % 4] = (x + i) % 5 / 7.0;
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 16; i++) {
			b[i / 4][i % 4] = 0;
			for (int k = 0; k < 4; k++)
				b[i / 4][i % 4] += a[i / 4][k] * a[k][i % 4];
		}
		for (int i = 0; i < 16; i++)
			a[i / 4][i % 4] = b[i / 4][i % 4] / (1 + b[0][0]);
	}
	return (uint32_t)(1000 * a[1][2]);
}
#endif

int main(int argc, char **argv)
{
	uint32_t x = 12345;

	for (int i = 0; i < SIZE; i++)
		data[i] = x = x * 1103515245 + 12345;
	for (long n = argc > 1 ? atol(argv[1]) : 1000; n > 0; n--) {
		x += keep(x) + blend(x & 0xff) + count(x | 0xff00) + chain(x);
#ifdef LATER
		x += fresh(x);
#else
		x += old(x);
#endif
	}
	printf("%u\n", x);
	return 0;
}
