/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branch_history.c - executions of a branch in windows, each with the jumps before it
 *
 * The index has the straight lines of all windows, sorted by the place where they
 * begin. A branch was executed by the lines that begin before it, and end at it or
 * behind it.
 */
#include "config.h"

#include "analysis/predict/branch_history.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/search.h"

/* A straight line of a window. */
struct line {
	uint64_t from;
	uint32_t image, window;
	uint32_t part; /* jumps of the window before it */
};

struct weighted {
	const struct window *w;
	double weight;
	uint32_t image;
};

struct branch_history {
	struct buf lines, windows;
	uint64_t longest;              /* line, in bytes */
	uint64_t nr_lines, nr_windows; /* before windows are left out */
	uint32_t every;                /* every this many windows, one is used */
};

static const struct line *lines_of(const struct branch_history *h, size_t *nr)
{
	*nr = h->lines.len / sizeof(struct line);
	return (const struct line *)h->lines.data;
}

static const struct weighted *window_of(const struct branch_history *h, uint32_t number)
{
	return (const struct weighted *)h->windows.data + number;
}

static uint64_t end_of(const struct window *w, uint32_t part)
{
	return part < w->nr_jumps ? w->jump[part].from : w->end;
}

static uint64_t start_of(const struct window *w, uint32_t part)
{
	return part ? w->jump[part - 1].to : w->start;
}

static int count_lines(void *ctx, const struct window *w, uint32_t image, double weight)
{
	struct branch_history *h = ctx;

	(void)image;
	(void)weight;
	h->nr_lines += w->nr_jumps + 1;
	return 0;
}

static int add_window(void *ctx, const struct window *w, uint32_t image, double weight)
{
	struct branch_history *h = ctx;
	const struct weighted win = { w, weight, image };
	const uint32_t number = (uint32_t)(h->windows.len / sizeof(win));

	if (h->nr_windows++ % h->every)
		return 0;
	buf_put(&h->windows, &win, sizeof(win));
	for (uint32_t part = 0; part <= w->nr_jumps; part++) {
		const struct line line = { start_of(w, part),
					   part ? w->jump[part - 1].image : image,
					   number, part };
		const uint64_t bytes = end_of(w, part) - line.from;

		buf_put(&h->lines, &line, sizeof(line));
		h->longest = bytes > h->longest ? bytes : h->longest;
	}
	return h->lines.err ? h->lines.err : h->windows.err;
}

static int by_place(const void *va, const void *vb)
{
	const struct line *a = va, *b = vb;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->window != b->window)
		return a->window < b->window ? -1 : 1;
	return (a->part > b->part) - (a->part < b->part);
}

int branch_history_new(const struct window_weights *ww, struct branch_history **out)
{
	struct branch_history *h = calloc(1, sizeof(*h));
	int err = h ? window_weights_each(ww, count_lines, h) : -ENOMEM;
	size_t nr;

	if (!err) {
		h->every = (uint32_t)(h->nr_lines / BRANCH_HISTORY_RUNS) + 1;
		err = window_weights_each(ww, add_window, h);
	}
	if (err) {
		branch_history_free(h);
		return err;
	}
	lines_of(h, &nr);
	if (nr)
		qsort(h->lines.data, nr, sizeof(struct line), by_place);
	*out = h;
	return 0;
}

void branch_history_free(struct branch_history *h)
{
	if (!h)
		return;
	buf_fini(&h->lines);
	buf_fini(&h->windows);
	free(h);
}

/* Whether the line executed the branch, and where it went. */
static bool outcome_of(const struct branch_history *h, const struct line *line,
		       const struct branch_place *at, uint64_t *outcome)
{
	const struct window *w = window_of(h, line->window)->w;
	const uint64_t end = end_of(w, line->part);
	const bool jumps = line->part < w->nr_jumps && end == at->offset;

	if (at->indirect && jumps)
		*outcome = hash_u64(w->jump[line->part].to) ^ w->jump[line->part].image;
	else
		*outcome = jumps;
	return jumps || (!at->indirect && at->offset < end);
}

static uint32_t context_of(uint64_t hash)
{
	const uint32_t low = (uint32_t)hash;

	return low ? low : 1;
}

/* The contexts of the last taken jumps before a line. */
static void find_contexts(const struct window *w, uint32_t part, uint32_t *context)
{
	static const uint32_t length[] = BRANCH_HISTORY_LENGTHS;
	uint64_t hash = 0;
	uint32_t nr = 0;

	for (int i = 0; i < BRANCH_HISTORY_NR_LENGTHS; i++) {
		if (part < length[i])
			break;
		for (; nr < length[i]; nr++) {
			const struct window_jump *j = &w->jump[part - 1 - nr];

			hash = hash_u64(hash ^ j->from);
			hash = hash_u64(hash ^ j->to ^ (uint64_t)j->image << 48);
		}
		context[i] = context_of(hash_u64(hash + nr));
	}
}

static int by_time(const void *va, const void *vb)
{
	const struct line *a = va, *b = vb;

	if (a->window != b->window)
		return a->window < b->window ? -1 : 1;
	return (a->part > b->part) - (a->part < b->part);
}

/* The lines that may pass the branch: of one image, and not too far before it. */
static const struct line *candidates(const struct branch_history *h,
				     const struct branch_place *at, size_t *nr)
{
	const uint64_t first = at->offset > h->longest ? at->offset - h->longest : 0;
	const struct line low = { first, at->image, 0, 0 };
	const struct line high = { at->offset, at->image, UINT32_MAX, UINT32_MAX };
	const struct line *line = lines_of(h, nr);
	const size_t begin = SEARCH(i, *nr, by_place(&line[i], &low) >= 0);
	const size_t end = SEARCH(i, *nr, by_place(&line[i], &high) > 0);

	*nr = end - begin;
	return line + begin;
}

/* Sets the context of the loop: executions since the outcome was a different one. */
static void count_iterations(struct branch_event *e, size_t nr)
{
	uint64_t same = 0; /* outcomes before, all alike */
	bool changed = false;

	for (size_t i = 0; i < nr; i++) {
		const bool first = !i || e[i].window != e[i - 1].window;

		if (!first && changed)
			e[i].context[BRANCH_HISTORY_LOOP] =
				context_of(hash_u64(hash_u64(same) ^ e[i - 1].outcome));
		if (first || e[i].outcome != e[i - 1].outcome) {
			changed = !first;
			same = 0;
		}
		same++;
	}
}

int branch_history_find(const struct branch_history *h, const struct branch_place *at,
			struct arena *arena, struct branch_event **out, size_t *nr)
{
	size_t nr_candidates, nr_lines = 0, every, most, found = 0;
	const struct line *line = candidates(h, at, &nr_candidates);
	struct branch_event *events;
	struct line *passed;
	uint64_t outcome;

	for (size_t i = 0; i < nr_candidates; i++)
		nr_lines += outcome_of(h, &line[i], at, &outcome);
	every = nr_lines / BRANCH_HISTORY_EVENTS + 1;
	passed = arena_array(arena, nr_lines + 1, sizeof(*passed));
	if (!passed)
		return -ENOMEM;
	nr_lines = 0;
	for (size_t i = 0; i < nr_candidates; i++) {
		if (line[i].window % every == 0 &&
		    outcome_of(h, &line[i], at, &outcome))
			passed[nr_lines++] = line[i];
	}
	if (nr_lines)
		qsort(passed, nr_lines, sizeof(*passed), by_time);
	most = nr_lines < 2 * BRANCH_HISTORY_EVENTS ? nr_lines
						    : 2 * BRANCH_HISTORY_EVENTS;
	events = arena_array(arena, most + 1, sizeof(*events));
	if (!events)
		return -ENOMEM;
	for (; found < most; found++) {
		const struct weighted *win = window_of(h, passed[found].window);
		struct branch_event *e = &events[found];

		outcome_of(h, &passed[found], at, &e->outcome);
		e->window = passed[found].window;
		e->copies = (uint32_t)(win->w->n < 1000 ? win->w->n : 1000);
		e->weight = win->weight;
		find_contexts(win->w, passed[found].part, e->context);
	}
	count_iterations(events, found);
	*out = events;
	*nr = found;
	return 0;
}
