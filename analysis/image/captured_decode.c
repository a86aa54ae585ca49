/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * After a failure the reader returns zeros, so a loop needs only one check. Each count
 * is compared with the number of bytes that are left, so the memory of an array is
 * limited by the size of the body.
 */
#include "config.h"

#include "analysis/image/captured.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/varint.h"

#define MAX_NAME 16384 /* no image has longer names */

struct captured_reader {
	struct captured *c;
	const uint8_t *at, *end;
	int err; /* sticky */
};

static uint64_t get_varint(struct captured_reader *r)
{
	uint64_t v = 0;

	if (!r->err)
		r->err = varint_get(&r->at, r->end, &v);
	return v;
}

/* A number of elements, of which each takes so many bytes at least. */
static size_t get_count(struct captured_reader *r, size_t bytes)
{
	const uint64_t nr = get_varint(r);

	if (!r->err && nr > (uint64_t)(r->end - r->at) / bytes)
		r->err = -CPI_ETRUNCATED;
	return r->err ? 0 : nr;
}

/* A range: its distance from *at and its size, not 0. *at moves to the range's end. */
static void get_range(struct captured_reader *r, uint64_t *at, uint64_t *start,
		      uint64_t *end)
{
	const uint64_t distance = get_varint(r), size = get_varint(r);

	if (!r->err && (__builtin_add_overflow(*at, distance, start) ||
			__builtin_add_overflow(*start, size, end) || !size))
		r->err = -CPI_ECORRUPT;
	if (!r->err)
		*at = *end;
}

static const uint8_t *get_bytes(struct captured_reader *r, uint64_t size)
{
	const uint8_t *bytes = r->at;

	if (!r->err && size > (uint64_t)(r->end - r->at))
		r->err = -CPI_ETRUNCATED;
	if (r->err)
		return NULL;
	r->at += size;
	return bytes;
}

/* A copy, with a NUL behind it and none in it. */
static const char *get_text(struct captured_reader *r)
{
	const uint64_t len = get_varint(r);
	const uint8_t *bytes = get_bytes(r, len);
	const char *text;

	if (!r->err && (!len || len > MAX_NAME || memchr(bytes, '\0', len)))
		r->err = -CPI_ECORRUPT;
	if (r->err)
		return NULL;
	text = captured_text(r->c, bytes, len);
	if (!text)
		r->err = -ENOMEM;
	return text;
}

static size_t memory_of(const struct captured *c)
{
	return c->arena.used + c->segments.len + c->names.len + c->lines.len +
	       c->inlined.len + c->pads.len + c->pieces.len;
}

static void put_element(struct captured_reader *r, struct buf *array,
			const void *element, size_t size)
{
	if (r->err)
		return;
	if (memory_of(r->c) + size > CAPTURED_MAX_MEMORY)
		r->err = -CPI_ELIMIT;
	else
		buf_put(array, element, size);
	if (!r->err)
		r->err = array->err;
}

/* All parts are of the same file, so only the first part's segments are kept. */
static void get_segments(struct captured_reader *r)
{
	const bool first = !r->c->segments.len;

	for (size_t nr = get_count(r, 4); nr && !r->err; nr--) {
		struct elfrange s;

		s.address = get_varint(r);
		s.offset = get_varint(r);
		s.size = get_varint(r);
		s.exec = get_varint(r);
		if (first)
			put_element(r, &r->c->segments, &s, sizeof(s));
	}
}

static void get_names(struct captured_reader *r)
{
	for (size_t nr = get_count(r, 4); nr && !r->err; nr--) {
		struct captured_name n;
		uint64_t at = 0;

		get_range(r, &at, &n.start, &n.end);
		n.raw = get_text(r);
		put_element(r, &r->c->names, &n, sizeof(n));
	}
}

/* The texts of a body, to be named by number. */
struct text_table {
	const char **text;
	size_t nr;
};

static const char *get_number(struct captured_reader *r, const struct text_table *t)
{
	const uint64_t number = get_varint(r);

	if (!r->err && number > t->nr)
		r->err = -CPI_ECORRUPT;
	return r->err || !number ? NULL : t->text[number - 1];
}

static int get_int(struct captured_reader *r)
{
	const uint64_t n = get_varint(r);

	if (!r->err && n > INT32_MAX)
		r->err = -CPI_ECORRUPT;
	return r->err ? 0 : (int)n;
}

static struct line get_line(struct captured_reader *r, const struct text_table *t)
{
	const char *file = get_number(r, t);

	return (struct line){ file, get_int(r) };
}

static void get_lines(struct captured_reader *r, const struct text_table *t)
{
	uint64_t at = 0;

	for (size_t nr = get_count(r, 4); nr && !r->err; nr--) {
		struct captured_line l;

		get_range(r, &at, &l.start, &l.end);
		l.line = get_line(r, t);
		put_element(r, &r->c->lines, &l, sizeof(l));
	}
}

static void get_chain(struct captured_reader *r, const struct text_table *t,
		      struct captured_inlined *in)
{
	struct inlined *chain;

	in->nr = get_count(r, 4);
	chain = arena_array(&r->c->arena, in->nr, sizeof(*chain));
	if (!chain && !r->err)
		r->err = -ENOMEM;
	for (size_t i = 0; i < in->nr && !r->err; i++) {
		chain[i].name = get_number(r, t);
		chain[i].call = get_line(r, t);
		chain[i].column = get_int(r);
		if (!r->err && !chain[i].name)
			r->err = -CPI_ECORRUPT;
	}
	in->at = chain;
}

static void get_inlined(struct captured_reader *r, const struct text_table *t)
{
	uint64_t at = 0;

	for (size_t nr = get_count(r, 3); nr && !r->err; nr--) {
		struct captured_inlined in;

		get_range(r, &at, &in.start, &in.end);
		get_chain(r, t, &in);
		put_element(r, &r->c->inlined, &in, sizeof(in));
	}
}

static void get_source(struct captured_reader *r)
{
	struct text_table t = { .nr = get_count(r, 2) };

	t.text = calloc(t.nr + 1, sizeof(*t.text));
	if (!t.text)
		r->err = -ENOMEM;
	for (size_t i = 0; i < t.nr && !r->err; i++)
		t.text[i] = get_text(r);
	get_lines(r, &t);
	get_inlined(r, &t);
	free(t.text);
}

static void get_pads(struct captured_reader *r)
{
	uint64_t pad = 0;

	for (size_t nr = get_count(r, 1); nr && !r->err; nr--) {
		if (__builtin_add_overflow(pad, get_varint(r), &pad))
			r->err = -CPI_ECORRUPT;
		put_element(r, &r->c->pads, &pad, sizeof(pad));
	}
}

static void get_pieces(struct captured_reader *r)
{
	uint64_t at = 0;

	for (size_t nr = get_count(r, 3); nr && !r->err; nr--) {
		struct captured_piece p;
		const uint8_t *bytes;

		get_range(r, &at, &p.start, &p.end);
		bytes = get_bytes(r, p.end - p.start);
		if (r->err)
			break;
		p.bytes = (const uint8_t *)captured_text(r->c, bytes, p.end - p.start);
		if (!p.bytes)
			r->err = -ENOMEM;
		put_element(r, &r->c->pieces, &p, sizeof(p));
	}
}

int captured_decode(struct captured *c, const uint8_t *body, size_t size)
{
	struct captured_reader r = { .c = c, .at = body, .end = body + size };
	uint64_t machine;

	if (get_varint(&r) != CAPTURED_VERSION && !r.err)
		return -CPI_EVERSION;
	machine = get_varint(&r);
	if (!r.err && machine > MACHINE_AARCH64)
		return -CPI_ECORRUPT;
	c->machine = (enum machine)machine;
	get_segments(&r);
	get_names(&r);
	get_source(&r);
	get_pads(&r);
	get_pieces(&r);
	return !r.err && r.at != r.end ? -CPI_ECORRUPT : r.err;
}
