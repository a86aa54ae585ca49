/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * captured_codec.c - captured data as bytes: cpi-db(5), "BLOBS"
 *
 * A reader that has failed gives zeros, so that a loop checks once; each count is held
 * against the bytes that are left, so that no array outgrows the body it comes from by
 * more than its elements do.
 */
#include "config.h"

#include "analysis/captured.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/hmap.h"
#include "base/varint.h"

#define BODY_VERSION 1
#define MAX_NAME     16384 /* longer names no image has */

struct file {
	struct hnode node;
	const char *name;
	size_t number;
};

struct files {
	struct hmap map;
	struct buf names; /* const char *, by number */
	const struct file *last;
};

static void put_text(struct buf *b, const char *text)
{
	const size_t len = strlen(text);

	varint_put(b, len);
	buf_put(b, text, len);
}

static void put_segments(const struct captured *c, struct buf *b)
{
	const struct elfrange *r = (const struct elfrange *)c->segments.data;
	const size_t nr = c->segments.len / sizeof(*r);

	varint_put(b, nr);
	for (size_t i = 0; i < nr; i++) {
		varint_put(b, r[i].address);
		varint_put(b, r[i].offset);
		varint_put(b, r[i].size);
		varint_put(b, r[i].exec);
	}
}

static void put_names(const struct captured *c, struct buf *b)
{
	const struct captured_name *n = (const struct captured_name *)c->names.data;
	const size_t nr = c->names.len / sizeof(*n);

	varint_put(b, nr);
	for (size_t i = 0; i < nr; i++) {
		varint_put(b, n[i].start);
		varint_put(b, n[i].end - n[i].start);
		put_text(b, n[i].raw);
	}
}

/* The file's number, a new one when it was not met before; NULL without memory. */
static const struct file *number_file(struct files *f, const char *name)
{
	const uint64_t hash = hash_bytes(0, name, strlen(name));
	struct file *file;

	if (f->last && !strcmp(f->last->name, name))
		return f->last;
	for (struct hnode *n = hmap_first(&f->map, hash); n; n = hmap_next(n)) {
		file = container_of(n, struct file, node);
		if (!strcmp(file->name, name))
			return f->last = file;
	}
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->name = name;
	file->number = f->map.nr;
	buf_put(&f->names, &name, sizeof(name));
	if (f->names.err || hmap_insert(&f->map, &file->node, hash)) {
		free(file);
		return NULL;
	}
	return f->last = file;
}

static void files_fini(struct files *f)
{
	struct hnode *n, *next;

	hmap_for_each (&f->map, n, next) {
		hmap_remove(&f->map, n);
		free(container_of(n, struct file, node));
	}
	hmap_fini(&f->map);
	buf_fini(&f->names);
}

static int put_lines(const struct captured *c, struct buf *b)
{
	const struct captured_line *l = (const struct captured_line *)c->lines.data;
	const size_t nr = c->lines.len / sizeof(*l);
	struct files files = { 0 };
	struct buf rows = { 0 };
	uint64_t at = 0;
	int err = 0;

	for (size_t i = 0; i < nr && !err; at = l[i++].end) {
		const struct file *f = number_file(&files, l[i].line.file);

		varint_put(&rows, l[i].start - at);
		varint_put(&rows, l[i].end - l[i].start);
		varint_put(&rows, f ? f->number : 0);
		varint_put(&rows, (uint64_t)l[i].line.line);
		err = f ? rows.err : -ENOMEM;
	}
	varint_put(b, files.map.nr);
	for (size_t i = 0; i < files.map.nr; i++)
		put_text(b, ((const char *const *)files.names.data)[i]);
	varint_put(b, nr);
	buf_put(b, rows.data, rows.len);
	buf_fini(&rows);
	files_fini(&files);
	return err;
}

static void put_pads(const struct captured *c, struct buf *b)
{
	const uint64_t *pad = (const uint64_t *)c->pads.data;
	const size_t nr = c->pads.len / sizeof(*pad);

	varint_put(b, nr);
	for (size_t i = 0; i < nr; i++)
		varint_put(b, pad[i] - (i ? pad[i - 1] : 0));
}

static void put_pieces(const struct captured *c, struct buf *b)
{
	const struct captured_piece *p = (const struct captured_piece *)c->pieces.data;
	const size_t nr = c->pieces.len / sizeof(*p);
	uint64_t at = 0;

	varint_put(b, nr);
	for (size_t i = 0; i < nr; at = p[i++].end) {
		varint_put(b, p[i].start - at);
		varint_put(b, p[i].end - p[i].start);
		buf_put(b, p[i].bytes, p[i].end - p[i].start);
	}
}

int captured_encode(const struct captured *c, struct buf *body)
{
	int err;

	varint_put(body, BODY_VERSION);
	varint_put(body, c->machine);
	put_segments(c, body);
	put_names(c, body);
	err = put_lines(c, body);
	put_pads(c, body);
	put_pieces(c, body);
	return err ? err : body->err;
}

struct reader {
	struct captured *c;
	const uint8_t *at, *end;
	int err; /* sticky */
};

static uint64_t get(struct reader *r)
{
	uint64_t v = 0;

	if (!r->err)
		r->err = varint_get(&r->at, r->end, &v);
	return v;
}

/* A number of elements, of which each takes so many bytes at least. */
static size_t get_count(struct reader *r, size_t bytes)
{
	const uint64_t nr = get(r);

	if (!r->err && nr > (uint64_t)(r->end - r->at) / bytes)
		r->err = -CPI_ETRUNCATED;
	return r->err ? 0 : nr;
}

/* The start and end of what is so far behind at, which moves; never empty. */
static void get_range(struct reader *r, uint64_t *at, uint64_t *start, uint64_t *end)
{
	const uint64_t distance = get(r), size = get(r);

	if (!r->err && (__builtin_add_overflow(*at, distance, start) ||
			__builtin_add_overflow(*start, size, end) || !size))
		r->err = -CPI_ECORRUPT;
	if (!r->err)
		*at = *end;
}

static const uint8_t *get_bytes(struct reader *r, uint64_t size)
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
static const char *get_text(struct reader *r)
{
	const uint64_t len = get(r);
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

static void put(struct reader *r, struct buf *array, const void *element, size_t size)
{
	if (r->err)
		return;
	if (array->len + size > CAPTURED_MAX_MEMORY)
		r->err = -CPI_ELIMIT;
	else
		buf_put(array, element, size);
	if (!r->err)
		r->err = array->err;
}

/* All parts are of one file: the first one's segments are all of it. */
static void get_segments(struct reader *r)
{
	const bool first = !r->c->segments.len;

	for (size_t nr = get_count(r, 4); nr && !r->err; nr--) {
		struct elfrange s;

		s.address = get(r);
		s.offset = get(r);
		s.size = get(r);
		s.exec = get(r);
		if (first)
			put(r, &r->c->segments, &s, sizeof(s));
	}
}

static void get_names(struct reader *r)
{
	for (size_t nr = get_count(r, 4); nr && !r->err; nr--) {
		struct captured_name n;
		uint64_t at = 0;

		get_range(r, &at, &n.start, &n.end);
		n.raw = get_text(r);
		put(r, &r->c->names, &n, sizeof(n));
	}
}

static void get_lines(struct reader *r)
{
	const size_t nr_files = get_count(r, 2);
	const char **file = calloc(nr_files + 1, sizeof(*file));
	uint64_t at = 0;

	if (!file)
		r->err = -ENOMEM;
	for (size_t i = 0; i < nr_files && !r->err; i++)
		file[i] = get_text(r);
	for (size_t nr = get_count(r, 4); nr && !r->err; nr--) {
		struct captured_line l;
		uint64_t number, line;

		get_range(r, &at, &l.start, &l.end);
		number = get(r);
		line = get(r);
		if (!r->err && (number >= nr_files || line > INT32_MAX))
			r->err = -CPI_ECORRUPT;
		if (r->err)
			break;
		l.line = (struct line){ file[number], (int)line };
		put(r, &r->c->lines, &l, sizeof(l));
	}
	free(file);
}

static void get_pads(struct reader *r)
{
	uint64_t pad = 0;

	for (size_t nr = get_count(r, 1); nr && !r->err; nr--) {
		if (__builtin_add_overflow(pad, get(r), &pad))
			r->err = -CPI_ECORRUPT;
		put(r, &r->c->pads, &pad, sizeof(pad));
	}
}

static void get_pieces(struct reader *r)
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
		put(r, &r->c->pieces, &p, sizeof(p));
	}
}

int captured_decode(struct captured *c, const uint8_t *body, size_t size)
{
	struct reader r = { .c = c, .at = body, .end = body + size };
	uint64_t machine;

	if (get(&r) != BODY_VERSION && !r.err)
		return -CPI_EVERSION;
	machine = get(&r);
	if (!r.err && machine > MACHINE_AARCH64)
		return -CPI_ECORRUPT;
	c->machine = (enum machine)machine;
	get_segments(&r);
	get_names(&r);
	get_lines(&r);
	get_pads(&r);
	get_pieces(&r);
	return !r.err && r.at != r.end ? -CPI_ECORRUPT : r.err;
}
