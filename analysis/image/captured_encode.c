/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stored form of a capture: numbers as varints, offsets as distances from the one
 * before. Texts such as file names are written once and numbered, because most lines of
 * an image come from few files. captured_decode.c reads the same order of parts.
 */
#include "config.h"

#include "analysis/image/captured.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hmap.h"
#include "base/varint.h"

/* A file's name, or an inlined function's; each once. */
struct captured_text {
	struct hnode node;
	const char *name;
	size_t number;
};

struct texts {
	struct hmap map;
	struct buf names; /* const char *, by number */
	const struct captured_text *last;
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

/* The text's number, a new one when it was not met before; -ENOMEM. */
static int number_text(struct texts *t, const char *name, size_t *number)
{
	const uint64_t hash = hash_bytes(0, name, strlen(name));
	struct captured_text *text;

	if (t->last && !strcmp(t->last->name, name)) {
		*number = t->last->number;
		return 0;
	}
	for (struct hnode *n = hmap_first(&t->map, hash); n; n = hmap_next(n)) {
		text = container_of(n, struct captured_text, node);
		if (!strcmp(text->name, name)) {
			t->last = text;
			*number = text->number;
			return 0;
		}
	}
	text = calloc(1, sizeof(*text));
	if (!text)
		return -ENOMEM;
	text->name = name;
	text->number = t->map.nr;
	buf_put(&t->names, &name, sizeof(name));
	if (t->names.err || hmap_insert(&t->map, &text->node, hash)) {
		free(text);
		return -ENOMEM;
	}
	t->last = text;
	*number = text->number;
	return 0;
}

static void texts_fini(struct texts *t)
{
	struct hnode *n, *next;

	hmap_for_each (&t->map, n, next) {
		hmap_remove(&t->map, n);
		free(container_of(n, struct captured_text, node));
	}
	hmap_fini(&t->map);
	buf_fini(&t->names);
}

/* The number of a text and one, or 0 for none. */
static int put_number(struct texts *t, const char *name, struct buf *b)
{
	size_t number = 0;
	int err = name ? number_text(t, name, &number) : 0;

	varint_put(b, name ? number + 1 : 0);
	return err ? err : b->err;
}

static int put_line(struct texts *t, const struct line *line, struct buf *b)
{
	int err = put_number(t, line->file, b);

	varint_put(b, (uint64_t)line->line);
	return err;
}

static int put_lines(const struct captured *c, struct texts *t, struct buf *b)
{
	const struct captured_line *l = (const struct captured_line *)c->lines.data;
	const size_t nr = c->lines.len / sizeof(*l);
	uint64_t at = 0;
	int err = 0;

	varint_put(b, nr);
	for (size_t i = 0; i < nr && !err; at = l[i++].end) {
		varint_put(b, l[i].start - at);
		varint_put(b, l[i].end - l[i].start);
		err = put_line(t, &l[i].line, b);
	}
	return err;
}

static int put_inlined(const struct captured *c, struct texts *t, struct buf *b)
{
	const struct captured_inlined *in =
		(const struct captured_inlined *)c->inlined.data;
	const size_t nr = c->inlined.len / sizeof(*in);
	uint64_t at = 0;
	int err = 0;

	varint_put(b, nr);
	for (size_t i = 0; i < nr && !err; at = in[i++].end) {
		varint_put(b, in[i].start - at);
		varint_put(b, in[i].end - in[i].start);
		varint_put(b, in[i].nr);
		for (size_t k = 0; k < in[i].nr && !err; k++) {
			err = put_number(t, in[i].at[k].name, b);
			if (!err)
				err = put_line(t, &in[i].at[k].call, b);
			varint_put(b, (uint64_t)in[i].at[k].column);
		}
	}
	return err;
}

/* The texts come before what names them by number. */
static int put_source(const struct captured *c, struct buf *b)
{
	struct texts texts = { 0 };
	struct buf rows = { 0 };
	int err = put_lines(c, &texts, &rows);

	if (!err)
		err = put_inlined(c, &texts, &rows);
	varint_put(b, texts.map.nr);
	for (size_t i = 0; i < texts.map.nr; i++)
		put_text(b, ((const char *const *)texts.names.data)[i]);
	buf_put(b, rows.data, rows.len);
	err = err ? err : rows.err;
	buf_fini(&rows);
	texts_fini(&texts);
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

	varint_put(body, CAPTURED_VERSION);
	varint_put(body, c->machine);
	put_segments(c, body);
	put_names(c, body);
	err = put_source(c, body);
	put_pads(c, body);
	put_pieces(c, body);
	return err ? err : body->err;
}
