/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mix ROUNDS [NAME=VALUE...] - procedures of different kinds, each a known amount of
 * work
 *
 * The values, and what a larger one plants: hash (iterations: a longer loop), calls
 * (of mix_short by mix_caller: more of them), bytes (that mix_chase walks through, in
 * as many steps: longer stalls of the same instructions).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCEDURE static __attribute__((noinline, aligned(64)))

/* The compiler must not know what v is. */
#define HIDE(v) __asm__ volatile("" : "+r"(v))

#define NR_SORTED 48
#define NR_COPIED 4096
#define MAX_NODES (1u << 20)

struct node {
	struct node *next;
	uint64_t value[7];
};

static struct {
	const char *name;
	unsigned long value;
} settings[] = {
	{ "hash", 80000 },
	{ "calls", 10000 },
	{ "bytes", 16384 },
	{ "steps", 25000 },
};

enum { HASH, CALLS, BYTES, STEPS, NR_SETTINGS };

static struct node nodes[MAX_NODES];
static uint64_t from[NR_COPIED], to[NR_COPIED];
static uint64_t result;

PROCEDURE uint64_t mix_hash(unsigned long n)
{
	uint64_t h = n;

	for (unsigned long i = 0; i < n; i++) {
		h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9;
		HIDE(h);
	}
	return h;
}

/* One circle through the first nr nodes, a power of two, that no prefetcher follows. */
static void link_nodes(unsigned long nr)
{
	const unsigned long stride = nr * 5 / 8 | 1;
	unsigned long at = 0;

	for (unsigned long i = 0; i < nr; i++) {
		unsigned long next = (at + stride) % nr;

		nodes[at].next = &nodes[next];
		at = next;
	}
}

PROCEDURE uint64_t mix_chase(unsigned long steps)
{
	static const struct node *n = nodes; /* goes on where the last call ended */
	uint64_t a = 1;

	HIDE(steps);
	for (unsigned long i = 0; i < steps; i++) {
		n = n->next;
		a = (a ^ (uintptr_t)n) / 3;
		HIDE(a);
		a = (a + (uintptr_t)n) * 0xbf58476d1ce4e5b9;
		HIDE(a);
		a = (a ^ a >> 27) * 0x94d049bb133111eb;
		HIDE(a);
	}
	return a + n->value[0];
}

PROCEDURE uint64_t mix_sort(uint64_t seed)
{
	uint64_t v[NR_SORTED];

	for (int i = 0; i < NR_SORTED; i++) {
		int k = i;

		seed = seed * 6364136223846793005 + 1442695040888963407;
		for (; k && v[k - 1] > seed; k--)
			v[k] = v[k - 1];
		v[k] = seed;
	}
	return v[0] ^ seed;
}

PROCEDURE void mix_copy(void)
{
	for (int i = 0; i < NR_COPIED; i++) {
		uint64_t v = from[i];

		HIDE(v);
		to[i] = v + 1;
	}
}

PROCEDURE uint64_t mix_short(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	x = x * 0x2545f4914f6cdd1d ^ x >> 32;
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

PROCEDURE uint64_t mix_caller(unsigned long calls)
{
	uint64_t x = 1;

	for (unsigned long i = 0; i < calls; i++)
		x += mix_short(x + i);
	return x;
}

static void do_round(void)
{
	result += mix_hash(settings[HASH].value);
	result += mix_chase(settings[STEPS].value);
	for (int i = 0; i < 500; i++)
		result += mix_sort(result);
	for (int i = 0; i < 150; i++)
		mix_copy();
	for (int i = 0; i < 20; i++)
		result += mix_caller(settings[CALLS].value);
}

static int set(const char *text)
{
	const size_t len = strcspn(text, "=");

	for (int i = 0; i < NR_SETTINGS; i++) {
		if (strlen(settings[i].name) != len ||
		    strncmp(settings[i].name, text, len) != 0 || !text[len])
			continue;
		settings[i].value = strtoul(text + len + 1, NULL, 10);
		return 0;
	}
	return -1;
}

int main(int argc, char **argv)
{
	const unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	unsigned long nr;

	for (int i = 2; i < argc; i++) {
		if (set(argv[i]) < 0) {
			fprintf(stderr,
				"mix: %s: say hash=, calls=, bytes= or steps=\n",
				argv[i]);
			return EXIT_FAILURE;
		}
	}
	nr = settings[BYTES].value / sizeof(struct node);
	link_nodes(nr < 1 ? 1 : nr > MAX_NODES ? MAX_NODES : nr);
	for (unsigned long i = 0; i < rounds; i++)
		do_round();
	return result == 42;
}
