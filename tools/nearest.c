/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/nearest.h"

#include <string.h>

#define MAX_WORD 32

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Levenshtein's distance; MAX_WORD for words that are longer than that. */
static unsigned int edit_distance(const char *a, const char *b)
{
	unsigned int row[MAX_WORD + 1], corner, above;
	size_t na = strlen(a), nb = strlen(b);

	if (na > MAX_WORD || nb > MAX_WORD)
		return MAX_WORD;
	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		corner = row[0];
		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			above = row[j];
			row[j] = min3(above + 1, row[j - 1] + 1,
				      corner + (a[i - 1] != b[j - 1]));
			corner = above;
		}
	}
	return row[nb];
}

struct nearest nearest_init(const char *word)
{
	/* Up to a third of the letters may be wrong, one always. */
	return (struct nearest){ word, NULL, 2 + strlen(word) / 3 };
}

void nearest_try(struct nearest *n, const char *candidate)
{
	unsigned int d = edit_distance(n->word, candidate);
	size_t len = strlen(n->word);

	if (len >= 2 && !strncmp(n->word, candidate, len))
		d = 1; /* the beginning of a word */
	if (d >= n->distance)
		return;
	n->distance = d;
	n->best = candidate;
}
