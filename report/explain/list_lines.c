/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list_lines.c - the procedure by lines of source
 *
 * The procedure's own file comes first. Lines of other files are inlined code.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/explain/list.h"

int list_find_hotspots(const struct list *l, const struct event_sum *tally, size_t nr,
		       struct hotspots *out)
{
	double *weight;
	int err;

	if (l->all) {
		*out = (struct hotspots){ NULL, nr };
		return 0;
	}
	weight = calloc(nr + 1, sizeof(*weight));
	if (!weight)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		weight[i] = list_time_percent(l, &tally[i * l->scope->ev.nr]);
	err = hotspots_find(weight, nr, out);
	free(weight);
	return err;
}

static int compare_files(const char *a, const char *b)
{
	if (!a || !b)
		return !a - !b; /* code without a line comes last */
	return strcmp(a, b);
}

static int by_file_and_line(const void *va, const void *vb)
{
	const struct list_line *a = va, *b = vb;
	int c = compare_files(a->file, b->file);

	if (c)
		return c;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	c = inlined_compare(&a->inlined, &b->inlined);
	return c ? c : (a->index > b->index) - (a->index < b->index);
}

static int by_first_use(const void *va, const void *vb)
{
	const struct list_line *a = va, *b = vb;

	if (!a->file != !b->file)
		return !a->file - !b->file;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return by_file_and_line(va, vb);
}

static bool same_line(const struct list_line *a, const struct list_line *b)
{
	return a->line == b->line && !compare_files(a->file, b->file) &&
	       !inlined_compare(&a->inlined, &b->inlined);
}

/* Merges the rows of one line; rows are sorted by file and line before and after. */
static void merge_rows(const struct list *l, struct list_lines *s)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->nr; i++) {
		const struct event_sum *from =
			&l->tally[s->line[i].index * l->scope->ev.nr];
		struct event_sum *to;

		if (!nr || !same_line(&s->line[nr - 1], &s->line[i])) {
			s->line[nr] = s->line[i];
			s->line[nr].index = nr;
			nr++;
		}
		to = &s->tally[(nr - 1) * l->scope->ev.nr];
		for (size_t e = 0; e < l->scope->ev.nr; e++) {
			to[e].n += from[e].n;
			to[e].weight += from[e].weight;
		}
	}
	s->nr = nr;
}

/* Sets, in all rows of a file, the first instruction of the file. */
static void find_first_uses(struct list_lines *s)
{
	for (size_t i = 0, k; i < s->nr; i = k) {
		size_t first = SIZE_MAX;

		for (k = i;
		     k < s->nr && !compare_files(s->line[i].file, s->line[k].file); k++)
			first = s->line[k].index < first ? s->line[k].index : first;
		for (size_t m = i; m < k; m++)
			s->line[m].first = first;
	}
}

bool list_same_file(const struct list_line *a, const struct list_line *b)
{
	return !compare_files(a->file, b->file);
}

void list_lines_fini(struct list_lines *lines)
{
	free(lines->line);
	free(lines->tally);
}

int list_find_lines(const struct list *l, struct list_lines *out)
{
	struct list_lines s = { .nr = l->nr_insns };

	s.line = calloc(s.nr + 1, sizeof(*s.line));
	s.tally = calloc(s.nr * l->scope->ev.nr + 1, sizeof(*s.tally));
	if (!s.line || !s.tally) {
		list_lines_fini(&s);
		return -ENOMEM;
	}
	for (size_t i = 0; i < s.nr; i++)
		s.line[i] =
			(struct list_line){ l->insn[i].line.file, l->insn[i].line.line,
					    l->insn[i].inlined, 0, i };
	qsort(s.line, s.nr, sizeof(*s.line), by_file_and_line);
	find_first_uses(&s);
	merge_rows(l, &s);
	qsort(s.line, s.nr, sizeof(*s.line), by_first_use);
	*out = s;
	return 0;
}
