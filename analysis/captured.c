/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/captured.h"

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
	buf_fini(&c->pads);
	buf_fini(&c->pieces);
	cover_fini(&c->line_at);
	cover_fini(&c->piece_at);
	arena_fini(&c->arena);
}

const char *captured_text(struct captured *c, const void *bytes, size_t len)
{
	char *text = arena_alloc(&c->arena, len + 1);

	return text ? memcpy(text, bytes, len) : NULL;
}

static int index_lines(struct captured *c)
{
	const struct captured_line *l = (const struct captured_line *)c->lines.data;
	const size_t nr = c->lines.len / sizeof(*l);
	struct cover_range *r = calloc(nr + 1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		r[i] = (struct cover_range){ l[i].start, l[i].end, (uint32_t)i };
	err = cover_build(r, nr, &c->line_at);
	free(r);
	return err;
}

static int index_pieces(struct captured *c)
{
	const struct captured_piece *p = (const struct captured_piece *)c->pieces.data;
	const size_t nr = c->pieces.len / sizeof(*p);
	struct cover_range *r = calloc(nr + 1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		r[i] = (struct cover_range){ p[i].start, p[i].end, (uint32_t)i };
	err = cover_build(r, nr, &c->piece_at);
	free(r);
	return err;
}

int captured_index(struct captured *c)
{
	int err = index_lines(c);

	return err ? err : index_pieces(c);
}

struct line captured_line_at(const struct captured *c, uint64_t offset)
{
	const struct cover_range *r = cover_find(&c->line_at, offset);

	if (!r)
		return (struct line){ NULL, 0 };
	return ((const struct captured_line *)c->lines.data)[r->id].line;
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
