/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_program.c - code that waits: event_program table|hash|chase|search|tree|sparse
 *
 * Each reads memory that no cache holds, in one block, and goes on in others, as often
 * as a random number says.
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NR     (1 << 19)
#define ROUNDS 12000

static uint32_t big[NR];
static uint32_t state = 1;
static uint64_t sum;

static uint32_t draw(void)
{
	state = state * 1664525 + 1013904223;
	return state >> 12;
}

/* Figure 2 of CGO'10. */
static void run_table(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t x = big[draw() % NR];

		if (x & 1)
			sum = (sum ^ x) * 5 + 1;
		else if (x % 5 == 2)
			sum += x / 3;
		for (uint32_t k = x & 3; k; k--)
			sum = sum << 1 ^ k;
	}
}

static void run_hash(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t key = draw() & 0xffff, at = key * 2654435761U % NR;

		for (int n = 0; n < 4 && big[at] != key; n++) {
			if (!(big[at] & 0x30)) {
				big[at] = key;
				break;
			}
			at = (at + 4099) % NR;
		}
		sum += at ^ i;
	}
}

static void run_chase(void)
{
	uint32_t at = 1;

	for (int i = 0; i < ROUNDS; i++) {
		at = big[at % NR] ^ i;
		switch (at & 7) {
		case 0:
			sum += at;
			break;
		case 1:
		case 2:
			sum ^= at << 3;
			break;
		default:
			sum += sum >> 7;
		}
	}
}

static void run_search(void)
{
	for (int i = 0; i < NR; i += 64)
		big[i] = i;
	for (int i = 0; i < ROUNDS / 8; i++) {
		uint32_t low = 0, high = NR / 64, key = draw() % NR;

		while (low < high) {
			uint32_t middle = (low + high) / 2;

			if (big[middle * 64] < key)
				low = middle + 1;
			else
				high = middle;
		}
		if (low & 1)
			sum += low;
	}
}

struct node {
	struct node *kid[2];
	uint32_t key;
	char room[100];
};

static void run_tree(void)
{
	struct node *root = NULL;

	for (int i = 0; i < ROUNDS / 6; i++) {
		const uint32_t key = draw();
		struct node **at = &root;

		while (*at && (*at)->key != key)
			at = &(*at)->kid[(*at)->key < key];
		if (*at)
			sum++;
		else if ((*at = calloc(1, sizeof(**at))))
			(*at)->key = key;
	}
}

static void run_sparse(void)
{
	double all = 0;

	for (int row = 0; row < ROUNDS / 8; row++) {
		const uint32_t nr = draw() % 9;
		double one = 0;

		for (uint32_t k = 0; k < nr; k++)
			one += big[draw() % NR] * 0.5;
		if (one > 1e9)
			all += one / (nr + 1);
		else
			all -= row;
	}
	sum += (uint64_t)all;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} runs[] = {
		{ "table", run_table }, { "hash", run_hash },
		{ "chase", run_chase }, { "search", run_search },
		{ "tree", run_tree },   { "sparse", run_sparse },
	};

	for (size_t i = 0; argc == 2 && i < sizeof(runs) / sizeof(runs[0]); i++) {
		if (strcmp(argv[1], runs[i].name) != 0)
			continue;
		for (int k = 0; k < NR; k += 7)
			big[k] = draw();
		runs[i].run();
		printf("%llu\n", (unsigned long long)sum);
		return EXIT_SUCCESS;
	}
	errx(EXIT_FAILURE, "usage: event_program table|hash|chase|search|tree|sparse");
}
