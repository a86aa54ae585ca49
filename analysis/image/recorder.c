/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An analysis asks for the same range many times, mostly several times in a row.
 * Repeats of the latest range are dropped at once, and the rest when the ranges are
 * sorted and joined at the end.
 */
#include "config.h"

#include "analysis/image/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

void recorder_fini(struct recorder *r)
{
	buf_fini(&r->symbols);
	buf_fini(&r->read);
	buf_fini(&r->lines);
	buf_fini(&r->pads);
}

void recorder_symbol(struct recorder *r, const struct symbol *s)
{
	buf_put(&r->symbols, &s, sizeof(s));
}

/* Loops ask for the same again and again. */
static void note_range(struct buf *b, uint64_t start, uint64_t end)
{
	const struct recorded range = { start, end };

	if (start >= end || (b->len && !memcmp(b->data + b->len - sizeof(range), &range,
					       sizeof(range))))
		return;
	buf_put(b, &range, sizeof(range));
}

void recorder_read(struct recorder *r, uint64_t start, uint64_t end)
{
	note_range(&r->read, start, end);
}

void recorder_lines(struct recorder *r, uint64_t start, uint64_t end)
{
	note_range(&r->lines, start, end);
}

void recorder_pads(struct recorder *r, const uint64_t *pad, size_t nr)
{
	buf_put(&r->pads, pad, nr * sizeof(*pad));
}

static int compare_symbols(const void *va, const void *vb)
{
	const struct symbol *a = *(const struct symbol *const *)va;
	const struct symbol *b = *(const struct symbol *const *)vb;

	return (a->start > b->start) - (a->start < b->start);
}

static int compare_ranges(const void *va, const void *vb)
{
	const struct recorded *a = va, *b = vb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

static int compare_pads(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

static void sort_array(struct buf *b, size_t size,
		       int (*compare)(const void *, const void *))
{
	if (b->len)
		qsort(b->data, b->len / size, size, compare);
}

/* Sorted ranges that neither overlap nor adjoin. */
static void join_ranges(struct buf *b)
{
	struct recorded *r = (struct recorded *)b->data;
	size_t kept = 0;

	sort_array(b, sizeof(*r), compare_ranges);
	for (size_t i = 0; i < b->len / sizeof(*r); i++) {
		if (!kept || r[i].start > r[kept - 1].end)
			r[kept++] = r[i];
		else if (r[i].end > r[kept - 1].end)
			r[kept - 1].end = r[i].end;
	}
	b->len = kept * sizeof(*r);
}

static int add_name(struct captured *out, const struct symbol *s, const char *raw)
{
	struct captured_name n = { s->start, s->end,
				   captured_text(out, raw, strlen(raw)) };

	if (!n.raw)
		return -ENOMEM;
	buf_put(&out->names, &n, sizeof(n));
	return out->names.err;
}

static int add_names(struct image *im, const struct symbol *s, struct captured *out)
{
	const char *alias;
	int err = add_name(out, s, s->raw);

	for (size_t i = 0; !err && (alias = image_alias(im, s, i)); i++)
		if (strcmp(alias, s->raw) != 0)
			err = add_name(out, s, alias);
	return err;
}

static int finish_names(struct recorder *r, struct image *im, struct captured *out)
{
	const struct symbol **s = (const struct symbol **)r->symbols.data;
	int err = r->symbols.err;

	sort_array(&r->symbols, sizeof(*s), compare_symbols);
	for (size_t i = 0; i < r->symbols.len / sizeof(*s) && !err; i++)
		if (!i || s[i]->start != s[i - 1]->start)
			err = add_names(im, s[i], out);
	return err;
}

static int finish_pieces(struct recorder *r, struct image *im, struct captured *out)
{
	const struct recorded *p;
	int err = r->read.err;

	join_ranges(&r->read);
	p = (const struct recorded *)r->read.data;
	for (size_t i = 0; i < r->read.len / sizeof(*p) && !err; i++) {
		const size_t size = p[i].end - p[i].start;
		uint8_t *bytes = arena_alloc(&out->arena, size);

		err = bytes ? image_read(im, p[i].start, bytes, size) : -ENOMEM;
		buf_put(&out->pieces,
			&(struct captured_piece){ p[i].start, p[i].end, bytes },
			sizeof(struct captured_piece));
		err = err ? err : out->pieces.err;
	}
	return err;
}

/* The same text: libdw and what keeps its names give equal ones out often. */
static bool same_line(const struct line *a, const struct line *b)
{
	return a->line == b->line &&
	       (a->file == b->file ||
		(a->file && b->file && strcmp(a->file, b->file) == 0));
}

static void add_line(struct captured *out, uint64_t start, uint64_t end,
		     const struct line *line)
{
	if (line->file && start < end)
		buf_put(&out->lines, &(struct captured_line){ start, end, *line },
			sizeof(struct captured_line));
}

/*
 * Looks up every byte, because a range with one line need not be one row of the line
 * table.
 */
static void add_lines(struct image *im, const struct recorded *range,
		      struct captured *out)
{
	struct line last = { NULL, 0 };
	uint64_t start = range->start;

	for (uint64_t at = range->start; at < range->end && !out->lines.err; at++) {
		const struct line line = image_line_at(im, at);

		if (same_line(&line, &last))
			continue;
		add_line(out, start, at, &last);
		start = at;
		last = line;
	}
	add_line(out, start, range->end, &last);
}

static bool same_chain(const struct inlined *a, size_t nr_a, const struct inlined *b,
		       size_t nr_b)
{
	bool same = nr_a == nr_b;

	for (size_t i = 0; i < nr_a && same; i++)
		same = !strcmp(a[i].name, b[i].name) && a[i].column == b[i].column &&
		       same_line(&a[i].call, &b[i].call);
	return same;
}

/* The names stay as long as the image, the array at only until the next question. */
static int add_inlined(struct captured *out, uint64_t offset, const struct inlined *at,
		       size_t nr)
{
	struct captured_inlined *last = (struct captured_inlined *)out->inlined.data;
	struct inlined *copy;

	if (last)
		last += out->inlined.len / sizeof(*last) - 1;
	if (last && last->end == offset && same_chain(last->at, last->nr, at, nr)) {
		last->end++;
		return 0;
	}
	copy = arena_array(&out->arena, nr, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	memcpy(copy, at, nr * sizeof(*copy));
	buf_put(&out->inlined,
		&(struct captured_inlined){ offset, offset + 1, copy, nr },
		sizeof(struct captured_inlined));
	return out->inlined.err;
}

static int add_all_inlined(struct image *im, const struct recorded *range,
			   struct captured *out)
{
	const struct inlined *chain;
	int err = 0;

	for (uint64_t at = range->start; at < range->end && !err; at++) {
		const size_t nr = image_inlined_at(im, at, &chain);

		if (nr)
			err = add_inlined(out, at, chain, nr);
	}
	return err;
}

static int finish_lines(struct recorder *r, struct image *im, struct captured *out)
{
	const struct recorded *range;
	int err = 0;

	buf_put(&r->lines, r->read.data, r->read.len);
	if (r->lines.err)
		return r->lines.err;
	join_ranges(&r->lines);
	range = (const struct recorded *)r->lines.data;
	for (size_t i = 0; i < r->lines.len / sizeof(*range) && !err; i++) {
		add_lines(im, &range[i], out);
		err = add_all_inlined(im, &range[i], out);
	}
	return err ? err : out->lines.err;
}

static int finish_pads(struct recorder *r, struct captured *out)
{
	const uint64_t *pad;

	sort_array(&r->pads, sizeof(*pad), compare_pads);
	pad = (const uint64_t *)r->pads.data;
	for (size_t i = 0; i < r->pads.len / sizeof(*pad); i++)
		if (!i || pad[i] != pad[i - 1])
			buf_put(&out->pads, &pad[i], sizeof(*pad));
	return r->pads.err ? r->pads.err : out->pads.err;
}

int recorder_finish(struct recorder *r, struct image *im, struct captured *out)
{
	const struct elfrange *segment;
	size_t nr;
	int err;

	out->machine = image_machine(im);
	segment = image_segments(im, &nr);
	buf_put(&out->segments, segment, nr * sizeof(*segment));
	err = finish_names(r, im, out);
	if (!err)
		err = finish_pieces(r, im, out);
	if (!err)
		err = finish_lines(r, im, out);
	if (!err)
		err = finish_pads(r, out);
	return err ? err : out->segments.err;
}
