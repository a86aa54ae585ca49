/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowahead.c - a breadth-first search from instruction to instruction, where a call
 * goes both ways: into what it calls, and on behind it
 */
#include "config.h"

#include "daemon/windows/windowahead.h"

#include <stdbool.h>

#include "abi/window_bpf.h"

struct search {
	const struct cpi_code_page *page;
	int64_t *to;
	int nr, max;
	bool seen[CPI_CODE_PAGE];
	uint16_t queue[CPI_CODE_PAGE]; /* offsets */
	uint32_t nr_queued;
};

static void reach(struct search *s, int64_t offset)
{
	if (offset >= 0 && offset < CPI_CODE_PAGE) {
		if (!s->seen[offset] && s->page->index[offset])
			s->queue[s->nr_queued++] = (uint16_t)offset;
		s->seen[offset] = true;
		return;
	}
	for (int i = 0; i < s->nr; i++) {
		if (s->to[i] == offset)
			return;
	}
	if (s->nr < s->max)
		s->to[s->nr++] = offset;
}

/* Whether what is behind the micro-op is not reached through it. */
static bool ends(const struct cpi_uop *u)
{
	return u->op == CPI_UOP_JMP || u->op == CPI_UOP_JMPI || u->op == CPI_UOP_RET ||
	       u->op == CPI_UOP_STOP;
}

static void go_on(struct search *s, int64_t offset)
{
	uint32_t place = s->page->index[offset] - 1u;
	const struct cpi_uop *u;

	if (place >= CPI_UOPS_PER_PAGE)
		return;
	do {
		u = &s->page->uop[place++];
		if (cpi_uop_is_direct(u))
			reach(s, offset + u->disp);
		if (ends(u))
			return;
	} while (place < CPI_UOPS_PER_PAGE && s->page->uop[place].flags & CPI_UOP_MORE);
	u = &s->page->uop[s->page->index[offset] - 1u];
	reach(s, offset + cpi_uop_length(u));
}

int windowahead_find(const struct cpi_code_page *page, uint32_t from, int64_t *to,
		     int max)
{
	struct search s = { .page = page, .to = to, .max = max };
	uint32_t done = 0;

	reach(&s, from);
	for (int i = 0; i < CPI_WINDOW_INSTRUCTIONS && done < s.nr_queued; i++) {
		for (const uint32_t nr = s.nr_queued; done < nr; done++)
			go_on(&s, s.queue[done]);
	}
	return s.nr;
}
