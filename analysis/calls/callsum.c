/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame may be in one stack several times, if its procedure recurses. Each row
 * remembers the number of the last stack that it counted, so a stack is added to a
 * frame's total once, without a set of the frames seen.
 */
#include "config.h"

#include "analysis/calls/callsum.h"

#include <errno.h>
#include <string.h>

#include "base/grow.h"

void callsum_fini(struct callsum *s)
{
	free(s->row);
	memset(s, 0, sizeof(*s));
}

static int make_room(struct callsum *s, uint32_t frame)
{
	while (s->nr <= frame) {
		if (GROW(s->row, s->nr))
			return -ENOMEM;
		s->row[s->nr++] = (struct callsum_row){ 0 };
	}
	return 0;
}

int callsum_add(struct callsum *s, const uint32_t *frame, size_t nr,
		struct call_cost cost)
{
	for (size_t i = 0; i < nr; i++) {
		if (make_room(s, frame[i]))
			return -ENOMEM;
	}
	s->nr_stacks++;
	for (size_t i = 0; i < nr; i++) {
		struct callsum_row *row = &s->row[frame[i]];

		if (!i)
			call_cost_add(&row->self, cost);
		if (row->seen == s->nr_stacks)
			continue;
		row->seen = s->nr_stacks;
		call_cost_add(&row->total, cost);
	}
	return 0;
}
