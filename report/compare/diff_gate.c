/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_gate.c - which rows meet a condition
 *
 * A row that changed for an unknown cause counts as slower, because it may be.
 */
#include "config.h"

#include "report/compare/diff_gate.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/number.h"

#define MAX_TEXT 64

static const char *const words[] = {
	[DIFF_GATE_SLOWER] = "slower",
	[DIFF_GATE_MORE] = "more",
	[DIFF_GATE_CHANGED] = "changed",
};

/* The text without spaces. 0 or -EINVAL. */
static int squeeze(const char *text, char out[MAX_TEXT])
{
	size_t len = 0;

	for (; *text; text++) {
		if (*text == ' ')
			continue;
		if (len + 1 == MAX_TEXT)
			return -EINVAL;
		out[len++] = *text;
	}
	out[len] = '\0';
	return 0;
}

int diff_gate_parse(const char *text, struct diff_gate *out)
{
	struct diff_gate g = { .percent = 0 };
	char squeezed[MAX_TEXT], *limit;

	if (squeeze(text, squeezed))
		return -EINVAL;
	limit = strchr(squeezed, '>');
	if (limit)
		*limit++ = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(squeezed, words[i]))
			continue;
		g.kind = (enum diff_gate_kind)i;
		if (limit && number_parse_real(limit, "%", 0, 1e6, &g.percent))
			return -EINVAL;
		*out = g;
		return 0;
	}
	return -EINVAL;
}

bool diff_gate_can_judge(const struct diff *d)
{
	return d->c.basis != COMPARE_SAMPLING && d->c.nr_tested > 0;
}

bool diff_gate_meets(const struct diff_gate *g, const struct diff_row *r)
{
	const double percent = expm1(r->compared->change) * 100;

	if (!r->compared->found)
		return false;
	if (g->kind == DIFF_GATE_CHANGED)
		return fabs(percent) > g->percent;
	if (g->kind == DIFF_GATE_SLOWER && !*diff_status(r) &&
	    r->verdict.kind == SHAPE_FREQUENCY)
		return false;
	return percent > g->percent;
}
