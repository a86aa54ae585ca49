/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sweep over ascending starts with a stack of the ranges that have begun.
 * The top owns what comes next; a range that ended below the top is dropped
 * when it surfaces. Each range is pushed and popped once, so n ranges make at
 * most 2n - 1 pieces.
 */
#include "config.h"

#include "analysis/image/cover.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/search.h"

struct sweep {
	struct cover_range *stack;
	size_t depth;
	struct cover_range *piece;
	size_t nr;
	uint64_t at; /* ranges below it are final */
};

static int compare_ranges(const void *a, const void *b)
{
	const struct cover_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Ranges of symbols already ascend, and are too many to sort without need. */
static bool is_sorted(const struct cover_range *in, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		if (compare_ranges(&in[i - 1], &in[i]) > 0)
			return false;
	}
	return true;
}

/* Makes the pieces below until. */
static void sweep_to(struct sweep *s, uint64_t until)
{
	while (s->depth && s->at < until) {
		const struct cover_range *top = &s->stack[s->depth - 1];
		uint64_t end = top->end < until ? top->end : until;

		if (s->at < end) {
			s->piece[s->nr++] = (struct cover_range){ s->at, end, top->id };
			s->at = end;
		}
		if (top->end <= s->at)
			s->depth--;
	}
	s->at = until;
}

int cover_build(struct cover_range *in, size_t nr, struct cover *out)
{
	struct sweep s = { 0 };
	int err = -ENOMEM;

	if (!nr)
		return 0;
	s.stack = calloc(nr + 1, sizeof(*s.stack));
	s.piece = calloc(2 * nr + 1, sizeof(*s.piece));
	if (!s.stack || !s.piece)
		goto out;
	if (!is_sorted(in, nr))
		qsort(in, nr, sizeof(*in), compare_ranges);
	for (size_t i = 0; i < nr; i++) {
		if (in[i].start >= in[i].end)
			continue;
		sweep_to(&s, in[i].start);
		s.stack[s.depth++] = in[i];
	}
	sweep_to(&s, UINT64_MAX);
	out->range = s.piece;
	out->nr = s.nr;
	s.piece = NULL;
	err = 0;
out:
	free(s.stack);
	free(s.piece);
	return err;
}

void cover_fini(struct cover *c)
{
	free(c->range);
	*c = (struct cover){ 0 };
}

size_t cover_next(const struct cover *c, uint64_t at)
{
	return SEARCH(i, c->nr, c->range[i].end > at);
}

const struct cover_range *cover_find(const struct cover *c, uint64_t at)
{
	size_t i = cover_next(c, at);

	return i < c->nr && c->range[i].start <= at ? &c->range[i] : NULL;
}
