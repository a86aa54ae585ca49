/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * did_you_mean.c - the smallest edit distance to a mistyped word
 *
 * A word is suggested only if at most a third of its letters, and one more, are wrong.
 * The beginning of a word counts as one mistake, however much is missing.
 */
#include "config.h"

#include "base/did_you_mean.h"

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

struct did_you_mean did_you_mean_init(const char *word)
{
	/* Up to a third of the letters may be wrong, one always. */
	return (struct did_you_mean){ word, NULL, 2 + strlen(word) / 3 };
}

void did_you_mean_try(struct did_you_mean *n, const char *candidate)
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
