/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SOSP'97 section 5.4: what is sorted by process meets each process's mappings
 * once, and what was evicted several times needs looking up once. In place, so
 * nothing is allocated for it.
 */
#include "config.h"

#include "daemon/entries.h"

#include <stdlib.h>

/* The process and its generation: the half of word 1 that is no count. */
static uint32_t who_of(const struct cpi_entry *e)
{
	return (uint32_t)e->word1;
}

/* Event, address, outcome: word 0 with the outcome behind. */
static uint64_t what_of(const struct cpi_entry *e)
{
	return e->word0 << CPI_OUTCOME_BITS | e->word0 >> (64 - CPI_OUTCOME_BITS);
}

static int compare_keys(const void *a, const void *b)
{
	const struct cpi_entry *x = a, *y = b;

	if (cpi_entry_tgid(x) != cpi_entry_tgid(y))
		return cpi_entry_tgid(x) < cpi_entry_tgid(y) ? -1 : 1;
	if (who_of(x) != who_of(y))
		return who_of(x) < who_of(y) ? -1 : 1;
	return what_of(x) < what_of(y) ? -1 : what_of(x) > what_of(y);
}

size_t entries_sort(struct cpi_entry *e, size_t nr)
{
	size_t last = 0;

	if (!nr)
		return 0;
	qsort(e, nr, sizeof(*e), compare_keys);
	for (size_t i = 1; i < nr; i++) {
		uint64_t n =
			(uint64_t)cpi_entry_count(&e[last]) + cpi_entry_count(&e[i]);

		if (!compare_keys(&e[last], &e[i]) && n <= CPI_MAX_COUNT)
			e[last].word1 = who_of(&e[i]) | n << CPI_COUNT_SHIFT;
		else
			e[++last] = e[i];
	}
	return last + 1;
}
