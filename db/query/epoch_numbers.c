/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * epoch_numbers.c - a sorted list, and a guess where the next epoch is in it
 */
#include "config.h"

#include "db/query/epoch_numbers.h"

#include <errno.h>
#include <stdlib.h>

#define NEAR 8 /* entries that are looked at before the list is searched */

struct epoch_number {
	int64_t epoch;
	uint32_t number;
};

static int compare_epochs(const void *va, const void *vb)
{
	const struct epoch_number *a = va, *b = vb;

	return (a->epoch > b->epoch) - (a->epoch < b->epoch);
}

int epoch_numbers_init(struct epoch_numbers *m, const struct query_epochs *e,
		       const uint32_t *number)
{
	*m = (struct epoch_numbers){ .list = calloc(e->nr + 1, sizeof(*m->list)) };
	if (!m->list)
		return -ENOMEM;
	m->nr = e->nr;
	for (size_t i = 0; i < e->nr; i++)
		m->list[i] = (struct epoch_number){ e->epoch[i].id, number[i] };
	qsort(m->list, m->nr, sizeof(*m->list), compare_epochs);
	return 0;
}

void epoch_numbers_fini(struct epoch_numbers *m)
{
	free(m->list);
	*m = (struct epoch_numbers){ 0 };
}

const uint32_t *epoch_numbers_find(struct epoch_numbers *m, int64_t epoch)
{
	const struct epoch_number key = { .epoch = epoch }, *found;
	const size_t end = m->nr - m->last > NEAR ? m->last + NEAR : m->nr;

	while (m->last < end && m->list[m->last].epoch < epoch)
		m->last++;
	if (m->last < m->nr && m->list[m->last].epoch == epoch)
		return &m->list[m->last].number;
	found = bsearch(&key, m->list, m->nr, sizeof(key), compare_epochs);
	if (!found)
		return NULL;
	m->last = (size_t)(found - m->list);
	return &found->number;
}
