/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture is a set of arrays: segments, names, lines, inlined calls, landing pads and
 * pieces of code. captured_encode.c writes them and captured_decode.c reads them. This
 * file answers questions by offset; lines, inlined calls and pieces have an index of
 * ranges for that.
 */
#include "config.h"

#include "analysis/image/captured.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

void captured_init(struct captured *c)
{
	*c = (struct captured){ 0 };
	arena_init(&c->arena, CAPTURED_MAX_MEMORY);
}

void captured_fini(struct captured *c)
{
	buf_fini(&c->segments);
	buf_fini(&c->names);
	buf_fini(&c->lines);
	buf_fini(&c->inlined);
	buf_fini(&c->pads);
	buf_fini(&c->pieces);
	cover_fini(&c->line_at);
	cover_fini(&c->inlined_at);
	cover_fini(&c->piece_at);
	arena_fini(&c->arena);
}

const char *captured_text(struct captured *c, const void *bytes, size_t len)
{
	char *text = arena_alloc(&c->arena, len + 1);

	return text ? memcpy(text, bytes, len) : NULL;
}

/* Each element of an array begins with where it starts and ends. */
static int index_array(const struct buf *array, size_t size, struct cover *out)
{
	const size_t nr = array->len / size;
	struct cover_range *r = calloc(nr + 1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		uint64_t range[2];

		memcpy(range, array->data + i * size, sizeof(range));
		r[i] = (struct cover_range){ range[0], range[1], (uint32_t)i };
	}
	err = cover_build(r, nr, out);
	free(r);
	return err;
}

int captured_index(struct captured *c)
{
	int err = index_array(&c->lines, sizeof(struct captured_line), &c->line_at);

	if (!err)
		err = index_array(&c->inlined, sizeof(struct captured_inlined),
				  &c->inlined_at);
	if (!err)
		err = index_array(&c->pieces, sizeof(struct captured_piece),
				  &c->piece_at);
	return err;
}

struct line captured_line_at(const struct captured *c, uint64_t offset)
{
	const struct cover_range *r = cover_find(&c->line_at, offset);

	if (!r)
		return (struct line){ NULL, 0 };
	return ((const struct captured_line *)c->lines.data)[r->id].line;
}

size_t captured_inlined_at(const struct captured *c, uint64_t offset,
			   const struct inlined **out)
{
	const struct cover_range *r = cover_find(&c->inlined_at, offset);
	const struct captured_inlined *i;

	if (!r)
		return 0;
	i = &((const struct captured_inlined *)c->inlined.data)[r->id];
	*out = i->at;
	return i->nr;
}

/* Pieces may adjoin. */
int captured_read(const struct captured *c, uint64_t offset, void *out, size_t size)
{
	uint8_t *to = out;

	while (size) {
		const struct cover_range *r = cover_find(&c->piece_at, offset);
		const struct captured_piece *p;
		size_t n;

		if (!r)
			return -CPI_ENOCODE;
		p = &((const struct captured_piece *)c->pieces.data)[r->id];
		n = r->end - offset < size ? (size_t)(r->end - offset) : size;
		memcpy(to, p->bytes + (offset - p->start), n);
		to += n;
		offset += n;
		size -= n;
	}
	return 0;
}

bool captured_address(const struct captured *c, uint64_t offset, uint64_t *address)
{
	const struct elfrange *r = (const struct elfrange *)c->segments.data;

	return elfrange_address_of(r, c->segments.len / sizeof(*r), offset, address);
}

bool captured_offset(const struct captured *c, uint64_t address, uint64_t *offset)
{
	const struct elfrange *r = (const struct elfrange *)c->segments.data;

	return elfrange_offset_of(r, c->segments.len / sizeof(*r), address, offset);
}
