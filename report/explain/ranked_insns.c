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

#include "base/err.h"

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

/* ---- as bytes ---- */

#define NR_TEXTS 7

static void texts_of(struct ranked_insn *r, char **out[NR_TEXTS])
{
	out[0] = &r->procedure;
	out[1] = &r->image;
	out[2] = &r->build_id;
	out[3] = &r->text;
	out[4] = &r->file;
	out[5] = &r->reasons;
	out[6] = &r->culprits;
}

#define HAS_TEXT 1
#define NO_TEXT  2

/* The structure; then for each text HAS_TEXT, the text and its 0, or NO_TEXT. */
static void put_insn(struct ranked_insn *r, struct buf *out)
{
	char **text[NR_TEXTS];

	texts_of(r, text);
	buf_put(out, r, sizeof(*r));
	for (int i = 0; i < NR_TEXTS; i++) {
		buf_putc(out, *text[i] ? HAS_TEXT : NO_TEXT);
		if (*text[i])
			buf_put(out, *text[i], strlen(*text[i]) + 1);
	}
}

int ranked_insns_put(struct ranked_insns *s, struct buf *out)
{
	size_t nr;

	ranked_insns_sorted(s, &nr);
	for (size_t i = 0; i < nr; i++)
		put_insn(&all_insns(s, &nr)[i], out);
	for (size_t i = 0; i < nr; i++)
		ranked_insn_fini(&all_insns(s, &nr)[i]);
	buf_reset(&s->ranked);
	return out->err;
}

/* Reads the texts at *data, and moves it past them. */
static int get_texts(struct ranked_insn *r, const uint8_t **data, const uint8_t *end)
{
	char **text[NR_TEXTS];

	texts_of(r, text);
	for (int i = 0; i < NR_TEXTS; i++) {
		const uint8_t *zero;

		if (*data == end || (**data != HAS_TEXT && **data != NO_TEXT))
			return -CPI_ECORRUPT;
		if (*(*data)++ == NO_TEXT)
			continue;
		zero = memchr(*data, 0, (size_t)(end - *data));
		if (!zero)
			return -CPI_ECORRUPT;
		*text[i] = strdup((const char *)*data);
		if (!*text[i])
			return -ENOMEM;
		*data = zero + 1;
	}
	return 0;
}

int ranked_insns_get(struct ranked_insns *s, const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;
	int err = 0;

	while (data < end && !err) {
		struct ranked_insn insn = { 0 }, *to;

		if ((size_t)(end - data) < sizeof(insn))
			return -CPI_ECORRUPT;
		memcpy(&insn, data, sizeof(insn));
		data += sizeof(insn);
		insn.procedure = insn.image = insn.build_id = insn.text = NULL;
		insn.file = insn.reasons = insn.culprits = NULL;
		insn.records = NULL;
		err = get_texts(&insn, &data, end);
		to = NULL;
		if (!err)
			err = ranked_insns_add(s, insn.amount, &to);
		if (to)
			*to = insn;
		else
			ranked_insn_fini(&insn);
	}
	return err;
}
