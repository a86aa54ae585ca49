/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inlined.c - the inlined calls at an offset, and their order
 *
 * Chains are compared from the outermost call, so that rows of one inlined function
 * stand next to each other.
 */
#include "config.h"

#include "report/calls/inlined.h"

#include <string.h>

struct inlined_chain inlined_at(struct image *im, uint64_t offset)
{
	struct inlined_chain chain = { NULL, 0 };

	chain.nr = image_inlined_at(im, offset, &chain.at);
	return chain;
}

static int compare_numbers(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* Compares from the outermost call, so that calls of one function stay together. */
int inlined_compare(const struct inlined_chain *a, const struct inlined_chain *b)
{
	int c = 0;

	if (a->at == b->at && a->nr == b->nr)
		return 0;
	for (size_t i = 1; !c && i <= a->nr && i <= b->nr; i++) {
		const struct inlined *x = &a->at[a->nr - i], *y = &b->at[b->nr - i];

		c = compare_text(x->call.file, y->call.file);
		if (!c)
			c = compare_numbers((size_t)x->call.line, (size_t)y->call.line);
		if (!c)
			c = compare_numbers((size_t)x->column, (size_t)y->column);
		if (!c)
			c = compare_text(x->name, y->name);
	}
	return c ? c : compare_numbers(a->nr, b->nr);
}
