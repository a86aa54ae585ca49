/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_program.c - loops that are known to miss, or not: data_program KERNEL
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252ull;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Sums arrays of 4 MB, 256 KB and 16 KB, again and again. */
static uint64_t stream(void)
{
	static const size_t bytes[] = { 4u << 20, 256u << 10, 16u << 10 };
	uint64_t sum = 0;

	for (int k = 0; k < 3; k++) {
		uint64_t *a = calloc(bytes[k], 1);

		for (size_t done = 0; done < 1 << 20; done += bytes[k] / 8)
			for (size_t i = 0; i < bytes[k] / 8; i++)
				sum += a[i];
	}
	return sum;
}

struct node {
	struct node *next;
	uint64_t pad[7];
};

/* Follows pointers in a random circle of nr nodes. */
static uint64_t follow(size_t nr, size_t steps)
{
	struct node *node = calloc(nr, sizeof(*node));
	size_t *order = calloc(nr, sizeof(*order));
	struct node *at = node;

	for (size_t i = 0; i < nr; i++)
		order[i] = i;
	for (size_t i = nr - 1; i > 0; i--) {
		const size_t k = next_random() % i, swapped = order[k];

		order[k] = order[i];
		order[i] = swapped;
	}
	for (size_t i = 0; i < nr; i++)
		node[order[i]].next = &node[order[(i + 1) % nr]];
	for (size_t i = 0; i < steps; i++)
		at = at->next;
	return (uint64_t)(at - node);
}

static uint64_t chase(void)
{
	return follow(1u << 16, 512u << 10) + follow(2000, 1u << 18) +
	       follow(300, 1u << 18);
}

/* Random words of tables of 16 MB, 1 MB, 128 KB and 8 KB. */
static uint64_t table(void)
{
	static const size_t words[] = { 1u << 21, 1u << 17, 1u << 14, 1u << 10 };
	uint64_t sum = 0, *a[4];

	for (int k = 0; k < 4; k++)
		a[k] = calloc(words[k], 8);
	for (int i = 0; i < 250000; i++) {
		sum += a[0][next_random() % words[0]];
		sum += a[1][next_random() % words[1]];
		sum += a[2][next_random() % words[2]];
		sum += a[3][next_random() % words[3]];
	}
	return sum;
}

#define N     128
#define BLOCK 16

/* Multiplies matrices, by rows and then by blocks. */
static uint64_t matrix(void)
{
	static double a[N][N], b[N][N], c[N][N];

	for (int i = 0; i < N * N; i++)
		a[i / N][i % N] = b[i % N][i / N] = i;
	for (int i = 0; i < N / 4; i++)
		for (int j = 0; j < N; j++)
			for (int k = 0; k < N; k++)
				c[i][j] += a[i][k] * b[k][j];
	for (int ib = 0; ib < N; ib += BLOCK)
		for (int jb = 0; jb < N; jb += BLOCK)
			for (int kb = 0; kb < N / 4; kb += BLOCK)
				for (int i = ib; i < ib + BLOCK; i++)
					for (int j = jb; j < jb + BLOCK; j++)
						for (int k = kb; k < kb + BLOCK; k++)
							c[i][j] += a[i][k] * b[k][j];
	return (uint64_t)c[3][4];
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		uint64_t (*run)(void);
	} kernel[] = { { "stream", stream },
		       { "chase", chase },
		       { "table", table },
		       { "matrix", matrix } };

	for (int i = 0; argc == 2 && i < 4; i++)
		if (!strcmp(argv[1], kernel[i].name)) {
			printf("%llu\n", (unsigned long long)kernel[i].run());
			return 0;
		}
	fprintf(stderr, "usage: data_program stream|chase|table|matrix\n");
	return 2;
}
