/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strings.c - what programs do with text, for ever or so
 *
 * usage: strings [rounds]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NR_WORDS 3000
#define BUCKETS  512

struct entry {
	struct entry *next;
	unsigned int count;
	char word[];
};

struct text {
	unsigned long long random;
	char bytes[NR_WORDS * 24];
	char *word[NR_WORDS];
	struct entry *bucket[BUCKETS];
	double weight[NR_WORDS];
};

static unsigned int below(struct text *t, unsigned int limit)
{
	t->random = t->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned int)(t->random >> 33) % limit;
}

/* Lines of words and numbers. */
static void make(struct text *t)
{
	char *at = t->bytes;

	for (unsigned int i = 0; i < NR_WORDS; i++) {
		const unsigned int length = 1 + below(t, below(t, 8) ? 6 : 18);

		if (!below(t, 5))
			at += sprintf(at, "%u", below(t, 1000000));
		else
			for (unsigned int j = 0; j < length; j++)
				*at++ = (char)('a' + below(t, 1 + below(t, 26)));
		*at++ = below(t, 12) ? ' ' : '\n';
	}
	*at = 0;
}

static unsigned int split(struct text *t)
{
	unsigned int nr = 0;
	char *line = t->bytes, *end;

	for (; (end = memchr(line, '\n', strlen(line))); line = end + 1) {
		*end = 0;
		for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
			t->word[nr++] = word;
	}
	return nr;
}

static struct entry **find(struct text *t, const char *word)
{
	unsigned int hash = 5381;
	struct entry **e;

	for (const char *c = word; *c; c++)
		hash = hash * 33 ^ (unsigned char)*c;
	e = &t->bucket[hash % BUCKETS];
	while (*e && strcmp((*e)->word, word))
		e = &(*e)->next;
	return e;
}

static void count(struct text *t, const char *word)
{
	const size_t size = strlen(word) + 1;
	struct entry **e = find(t, word);

	if (!*e) {
		*e = calloc(1, sizeof(**e) + size);
		if (!*e)
			abort();
		memcpy((*e)->word, word, size);
	}
	(*e)->count++;
}

static void forget(struct text *t)
{
	for (unsigned int i = 0; i < BUCKETS; i++) {
		struct entry *e;

		while ((e = t->bucket[i])) {
			t->bucket[i] = e->next;
			free(e);
		}
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int by_weight(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* A word's kind decides what is done: a number, a long one, others. */
static unsigned long weigh(struct text *t, unsigned int i)
{
	char *word = t->word[i], copy[64], *end;
	const unsigned long number = strtoul(word, &end, 10);

	t->weight[i] = (double)number / (i + 1);
	if (!*end)
		return number % (i + 7);
	switch (word[0]) {
	case 'a':
		return strchr(word, 'c') ? 3 : 5;
	case 'b':
		return strrchr(word, 'a') ? 7 : 11;
	case 'c':
		memmove(copy, word, strlen(word) + 1);
		memset(copy, 'x', strlen(copy) / 2);
		return strspn(copy, "x");
	case 'd':
		return (unsigned long)snprintf(copy, sizeof(copy), "%s-%u", word, i);
	default:
		return (unsigned long)memcmp(word, "hello", strnlen(word, 5)) & 15;
	}
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : 1;
	struct text *t = calloc(1, sizeof(*t));
	unsigned long sum = 0;

	if (!t)
		return 1;
	t->random = 42;
	while (rounds--) {
		unsigned int nr;

		make(t);
		nr = split(t);
		for (unsigned int i = 0; i < nr; i++)
			count(t, t->word[i]);
		for (unsigned int i = 0; i < nr; i++)
			sum += weigh(t, i) + (*find(t, t->word[i]))->count;
		qsort(t->word, nr, sizeof(*t->word), by_text);
		qsort(t->weight, nr, sizeof(*t->weight), by_weight);
		forget(t);
	}
	printf("%lu\n", sum);
	free(t);
	return 0;
}
