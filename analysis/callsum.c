/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/callsum.h"

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
		struct callsum_row *row = grow(s->row, s->nr, &s->cap, sizeof(*s->row));

		if (!row)
			return -ENOMEM;
		s->row = row;
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
