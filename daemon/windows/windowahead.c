/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowahead.c - a breadth-first search over instructions; at a call it follows
 * both the callee and the instruction after the call
 */
#include "config.h"

#include "daemon/windows/windowahead.h"

#include <stdbool.h>

#include "abi/window_bpf.h"
#include "analysis/windows/codepack.h"

struct ahead_search {
	const union cpi_code_cell *page; /* packed */
	int64_t *to;
	int nr, max;
	bool seen[CPI_CODE_PAGE];
	uint16_t queue[CPI_CODE_PAGE]; /* offsets */
	uint32_t nr_queued;
};

static void reach(struct ahead_search *s, int64_t offset)
{
	if (offset >= 0 && offset < CPI_CODE_PAGE) {
		if (!s->seen[offset] && codepack_find(s->page, (uint32_t)offset))
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

/* Whether control never continues after the micro-op. */
static bool ends(const struct cpi_uop *u)
{
	return u->op == CPI_UOP_JMP || u->op == CPI_UOP_JMPI || u->op == CPI_UOP_RET ||
	       u->op == CPI_UOP_STOP;
}

static void go_on(struct ahead_search *s, int64_t offset)
{
	const uint32_t first = codepack_find(s->page, (uint32_t)offset);
	const uint32_t end = s->page->head.bytes;
	uint32_t at = first;
	const struct cpi_uop *u;
	bool linked = false; /* it is one of AArch64's calls */

	if (at >= end)
		return;
	do {
		u = &s->page[at++].uop;
		if (cpi_uop_is_direct(u))
			reach(s, offset + u->disp);
		if (ends(u) && !linked)
			return;
		linked |= cpi_uop_is_link(u);
	} while (at < end && s->page[at].uop.flags & CPI_UOP_MORE);
	reach(s, offset + cpi_uop_length(&s->page[first].uop));
}

int windowahead_find(const union cpi_code_cell *page, uint32_t from, int64_t *to,
		     int max)
{
	struct ahead_search s = { .page = page, .to = to, .max = max };
	uint32_t done = 0;

	reach(&s, from);
	for (int i = 0; i < CPI_WINDOW_INSTRUCTIONS && done < s.nr_queued; i++) {
		for (const uint32_t nr = s.nr_queued; done < nr; done++)
			go_on(&s, s.queue[done]);
	}
	return s.nr;
}
