/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * entries.c - sorts entries by process and address
 *
 * If entries are sorted by process, each process's mappings are looked up once. If
 * entries with the same key are added up, a key that was evicted several times is
 * looked up once (SOSP'97 section 5.4).
 *
 * This is a radix sort, one byte of the key at a time. Most of the twelve bytes are the
 * same in all entries of a batch; those passes are skipped.
 */
#include "config.h"

#include "daemon/collect/entries.h"

#include <stdbool.h>
#include <string.h>

#define WHAT_BYTES 8 /* of word 0 */
#define WHO_BYTES  4 /* of word 1: all except the count */
#define KEY_BYTES  (WHAT_BYTES + WHO_BYTES)

/* The process and its generation: the half of word 1 that is not the count. */
static uint32_t who_of(const struct cpi_entry *e)
{
	return (uint32_t)e->word1;
}

/*
 * Byte i of the key; byte 0 is the least significant. From the least to the most
 * significant, the key has outcome, address, event, generation and process.
 */
static unsigned int key_byte(const struct cpi_entry *e, int i)
{
	uint64_t what =
		e->word0 << CPI_OUTCOME_BITS | e->word0 >> (64 - CPI_OUTCOME_BITS);
	uint32_t who =
		cpi_entry_tgid(e) << CPI_GENERATION_BITS | who_of(e) >> CPI_TGID_BITS;

	return (i < WHAT_BYTES ? what >> 8 * i : who >> 8 * (i - WHAT_BYTES)) & 0xff;
}

/*
 * Copies all entries to `to`, sorted by one byte of the key; count has the number of
 * entries for each value of that byte.
 */
static void scatter(const struct cpi_entry *from, struct cpi_entry *to, size_t nr,
		    int byte, const uint32_t *count)
{
	size_t next[256], sum = 0;

	for (int i = 0; i < 256; i++) {
		next[i] = sum;
		sum += count[i];
	}
	for (size_t i = 0; i < nr; i++)
		to[next[key_byte(&from[i], byte)]++] = from[i];
}

static void sort(struct cpi_entry *e, struct cpi_entry *spare, size_t nr)
{
	uint32_t count[KEY_BYTES][256] = { 0 };
	struct cpi_entry *from = e, *to = spare, *swap;

	for (size_t i = 0; i < nr; i++) {
		for (int byte = 0; byte < KEY_BYTES; byte++)
			count[byte][key_byte(&e[i], byte)]++;
	}
	for (int byte = 0; byte < KEY_BYTES; byte++) {
		if (count[byte][key_byte(&e[0], byte)] == nr)
			continue;
		scatter(from, to, nr, byte, count[byte]);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != e)
		memcpy(e, from, nr * sizeof(*e));
}

static bool same_key(const struct cpi_entry *a, const struct cpi_entry *b)
{
	return a->word0 == b->word0 && who_of(a) == who_of(b);
}

size_t entries_sort(struct cpi_entry *e, struct cpi_entry *spare, size_t nr)
{
	size_t last = 0;

	if (!nr)
		return 0;
	sort(e, spare, nr);
	for (size_t i = 1; i < nr; i++) {
		uint64_t n =
			(uint64_t)cpi_entry_count(&e[last]) + cpi_entry_count(&e[i]);

		if (same_key(&e[last], &e[i]) && n <= CPI_MAX_COUNT)
			e[last].word1 = who_of(&e[i]) | n << CPI_COUNT_SHIFT;
		else
			e[++last] = e[i];
	}
	return last + 1;
}
