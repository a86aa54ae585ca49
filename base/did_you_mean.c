/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * did_you_mean.c - finds the known word with the smallest edit distance
 *
 * A word is suggested only if at most a third of its letters, plus one, are wrong. A
 * typed prefix of a word counts as one mistake, however long the rest of the word is.
 */
#include "config.h"

#include "base/did_you_mean.h"

#include <limits.h>
#include <string.h>

#define MAX_WORD 32

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* The Levenshtein distance; UINT_MAX if a word is longer than MAX_WORD. */
static unsigned int edit_distance(const char *a, const char *b)
{
	unsigned int row[MAX_WORD + 1], corner, above;
	size_t na = strlen(a), nb = strlen(b);

	if (na > MAX_WORD || nb > MAX_WORD)
		return UINT_MAX;
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
	/* Only a smaller distance is near enough. */
	return (struct did_you_mean){ word, NULL, 2 + strlen(word) / 3 };
}

void did_you_mean_try(struct did_you_mean *n, const char *candidate)
{
	unsigned int d = edit_distance(n->word, candidate);
	size_t len = strlen(n->word);

	if (len >= 2 && !strncmp(n->word, candidate, len))
		d = 1; /* word is a prefix of the candidate */
	if (d >= n->distance)
		return;
	n->distance = d;
	n->best = candidate;
}
