/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_path.c - the instructions on a window's way, against single steps
 */
#include "config.h"

#include "t/window_path.h"

#include <errno.h>
#include <stdio.h>

#include "analysis/windows/walk.h"

#define CPI_WINDOW_CONTEXT struct window_pages *
#define CPI_WINDOW_READ(ctx, to, size, address) \
	window_pages_read(ctx, to, size, address)
#define CPI_WINDOW_UOP(ctx, ip)               window_pages_uop(ctx, ip)
#define CPI_WINDOW_RESOLVE(ctx, pc, ip, base) window_pages_resolve(ctx, pc, ip, base)
#define CPI_WINDOW_LEAD(ctx, pc, base)        ((void)(base), window_pages_lead(ctx, pc))
#include "kmod/window.h"
#include "t/uop_name.h"

void window_path_begin(struct cpi_window_state *s, uint32_t length)
{
	cpi_window_begin(s, length, CPI_WINDOW_MAX);
}

void window_path_follow(struct cpi_window_state *s, struct window_pages *pages,
			uint64_t pc, uint32_t max_uops, struct window_path *path,
			struct window_counts *c)
{
	const struct cpi_uop *u = NULL;

	path->nr = 0;
	if (cpi_window_start(s, pages, pc))
		return;
	while (max_uops--) {
		u = window_pages_uop(pages, s->ip);
		if (u && !(u->flags & CPI_UOP_MORE) && !s->lead && path->nr < s->max) {
			path->pc[path->nr] = s->window.next;
			path->length[path->nr++] = (uint8_t)cpi_uop_length(u);
		}
		if (cpi_window_step(s, pages))
			break;
	}
	cpi_window_finish(s);
	if (u && !(u->flags & CPI_UOP_MORE) && s->window.end != CPI_WINDOW_LENGTH)
		c->nr_last_op[s->window.end][u->op]++;
}

/*
 * Whether the record's walk has the same jumps as the path. A page that was translated
 * again, for what the window came upon later, may have lost what it began with.
 */
static bool walk_agrees(const struct cpi_window *w, struct window_pages *pages,
			const struct window_path *path, struct walk *out)
{
	struct walk walk;
	uint32_t nr = 0;
	int err = walk_window(w, window_pages_find, NULL, pages, &walk);

	if (err == -ENOENT)
		return true;
	*out = walk;
	if (err || w->nr != path->nr)
		return false;
	for (uint32_t i = 0; i < path->nr; i++) {
		const uint64_t next = i + 1 < path->nr ? path->pc[i + 1] : w->next;
		const bool jumps = nr < walk.nr && walk.jump[nr].from == path->pc[i];

		if (jumps && walk.jump[nr++].to != next)
			return false;
		if (!jumps && i + 1 < path->nr && next != path->pc[i] + path->length[i])
			return false;
	}
	return nr == walk.nr;
}

static void tell(const struct window_pages *pages, const struct window_path *path,
		 uint32_t at, const char *what, uint64_t pc)
{
	uint8_t code[16] = { 0 };

	if (window_pages_read(pages, code, sizeof(code), path->pc[at]))
		return;
	printf("# false: instruction %u, %#llx:", at, (unsigned long long)path->pc[at]);
	for (unsigned int i = 0; i < path->length[at]; i++)
		printf(" %02x", code[i]);
	printf(": %s %#llx\n", what, (unsigned long long)pc);
}

/* What the walk says of the next instruction's data. */
struct told {
	const struct walk *walk;
	uint32_t nr; /* accesses before that instruction */
};

/* Compares the data of the path's instruction `at` with the truth. */
static bool data_agrees(const struct window_pages *pages,
			const struct window_path *path, uint32_t at, struct told *t,
			const uint64_t *address, int nr, struct window_counts *c)
{
	const bool told = t->nr < t->walk->nr_accesses &&
			  t->walk->access[t->nr].at == path->pc[at];
	const uint32_t data = told ? t->walk->access[t->nr++].data : 0;

	if (!told) {
		/* Behind the last one there was no room. */
		c->nr_missed += nr && t->nr < t->walk->nr_accesses;
		return true;
	}
	c->nr_accesses++;
	if (data == CPI_WINDOW_NO_DATA) {
		c->nr_unknown++;
		return true;
	}
	for (int i = 0; i < nr; i++)
		if ((uint32_t)address[i] == data)
			return true;
	tell(pages, path, at, nr ? "touched other data than" : "touched no data, as",
	     data);
	return false;
}

void window_path_compare(const struct cpi_window_state *s, struct window_pages *pages,
			 const struct window_path *path, window_step_fn *step,
			 window_data_fn *data, void *ctx, struct window_counts *c)
{
	const struct cpi_window *w = &s->window;
	const bool done = cpi_window_is_done(w->end);
	struct walk walk = { .nr_accesses = 0 };
	bool exact = walk_agrees(w, pages, path, &walk);
	struct told told = { .walk = &walk };
	uint64_t pc = w->start, address[WINDOW_DATA_MOST];

	if (!exact)
		printf("# false: the walk of a window is another\n");
	for (uint32_t i = 0; i < path->nr && exact; i++) {
		const bool last = i + 1 == path->nr;

		if (last && !done)
			break;
		if (data && !data_agrees(pages, path, i, &told, address,
					 data(ctx, pc, address), c)) {
			exact = false;
			break;
		}
		if (step(ctx, &pc))
			return; /* a signal, or the end: there is no truth */
		exact = pc == (last ? w->next : path->pc[i + 1]);
		if (!exact)
			tell(pages, path, i, "went to", pc);
	}
	c->nr_windows++;
	c->nr_exact += exact;
	c->nr_instructions += w->nr;
	c->nr_ends[w->end]++;
}

void window_counts_print(const struct window_counts *c, bool verbose)
{
	printf("windows %llu exact %llu instructions %.1f",
	       (unsigned long long)c->nr_windows, (unsigned long long)c->nr_exact,
	       c->nr_windows ? (double)c->nr_instructions / (double)c->nr_windows : 0);
	for (unsigned int i = 0; i < CPI_NR_WINDOW_ENDS; i++)
		if (c->nr_ends[i])
			printf(" %s %llu", cpi_window_end_name(i),
			       (unsigned long long)c->nr_ends[i]);
	printf(" accesses %llu unknown %llu missed %llu\n",
	       (unsigned long long)c->nr_accesses, (unsigned long long)c->nr_unknown,
	       (unsigned long long)c->nr_missed);
	for (unsigned int i = 0; verbose && i < CPI_NR_WINDOW_ENDS; i++)
		for (unsigned int op = 0; op < 256; op++)
			if (c->nr_last_op[i][op])
				printf("# %s at %s: %llu\n", cpi_window_end_name(i),
				       cpi_uop_name(op),
				       (unsigned long long)c->nr_last_op[i][op]);
}
