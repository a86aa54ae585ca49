/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ranked_insns.c - keeps the instructions with the greatest amounts
 *
 * When twice the limit is kept, the list is sorted and the lesser half is dropped.
 * After that, an instruction needs the least kept amount, so most candidates cost one
 * comparison.
 */
#include "config.h"

#include "report/explain/ranked_insns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void ranked_insns_init(struct ranked_insns *s, uint64_t limit)
{
	*s = (struct ranked_insns){ .limit = limit ? limit : RANKED_INSNS_DEFAULT };
	if (s->limit > RANKED_INSNS_MAX)
		s->limit = RANKED_INSNS_MAX;
}

static void ranked_insn_fini(struct ranked_insn *s)
{
	free(s->procedure);
	free(s->image);
	free(s->build_id);
	free(s->text);
	free(s->file);
	free(s->reasons);
	free(s->culprits);
	records_free(s->records);
}

static struct ranked_insn *all_insns(const struct ranked_insns *s, size_t *nr)
{
	*nr = s->ranked.len / sizeof(struct ranked_insn);
	return (struct ranked_insn *)s->ranked.data;
}

void ranked_insns_fini(struct ranked_insns *s)
{
	size_t nr;
	struct ranked_insn *ranked = all_insns(s, &nr);

	for (size_t i = 0; i < nr; i++)
		ranked_insn_fini(&ranked[i]);
	buf_fini(&s->ranked);
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_amount(const void *va, const void *vb)
{
	const struct ranked_insn *a = va, *b = vb;
	int c;

	if (a->amount != b->amount)
		return a->amount < b->amount ? 1 : -1;
	c = compare_text(a->image, b->image);
	if (!c)
		c = compare_text(a->build_id, b->build_id);
	if (c)
		return c;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return compare_text(a->reasons, b->reasons);
}

const struct ranked_insn *ranked_insns_sorted(struct ranked_insns *s, size_t *nr)
{
	struct ranked_insn *ranked = all_insns(s, nr);

	if (*nr)
		qsort(ranked, *nr, sizeof(*ranked), by_amount);
	for (size_t i = s->limit; i < *nr; i++)
		ranked_insn_fini(&ranked[i]);
	if (*nr >= s->limit) {
		*nr = s->limit;
		s->ranked.len = *nr * sizeof(*ranked);
		s->least = ranked[*nr - 1].amount;
	}
	return ranked;
}

int ranked_insns_add(struct ranked_insns *s, double amount, struct ranked_insn **out)
{
	struct ranked_insn *ranked;
	size_t nr;

	*out = NULL;
	if (!(amount > 0) || amount < s->least)
		return 0;
	all_insns(s, &nr);
	if (nr >= 2 * s->limit)
		ranked_insns_sorted(s, &nr);
	ranked = buf_reserve(&s->ranked, sizeof(*ranked));
	if (!ranked)
		return -ENOMEM;
	s->ranked.len += sizeof(*ranked);
	*ranked = (struct ranked_insn){ .amount = amount };
	*out = ranked;
	return 0;
}
