/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads numbers from hostile bytes. The first read past the end sets bad, and from then
 * on every read yields 0, so a caller checks once after several reads.
 */
#include "config.h"

#include "analysis/image/cursor.h"

#include <dwarf.h>

#include "base/varint.h"

struct cursor cursor_of(const struct elffile *f, const uint8_t *bytes, size_t size)
{
	return (struct cursor){
		.at = bytes,
		.end = bytes + size,
		.wide = gelf_getclass(f->elf) == ELFCLASS64,
		.big_endian = elf_getident(f->elf, NULL)[EI_DATA] == ELFDATA2MSB,
	};
}

const uint8_t *cursor_take(struct cursor *c, size_t size)
{
	const uint8_t *p = c->at;

	if (c->bad || size > (size_t)(c->end - c->at)) {
		c->bad = true;
		return NULL;
	}
	c->at += size;
	return p;
}

uint64_t cursor_number(struct cursor *c, size_t size)
{
	const uint8_t *p = cursor_take(c, size);
	uint64_t v = 0;

	for (size_t i = 0; p && i < size; i++)
		v |= (uint64_t)p[c->big_endian ? size - 1 - i : i] << 8 * i;
	return v;
}

uint64_t cursor_uleb(struct cursor *c)
{
	uint64_t v = 0;

	if (c->bad || varint_get(&c->at, c->end, &v))
		c->bad = true;
	return v;
}

void cursor_skip_leb(struct cursor *c)
{
	const uint8_t *p;

	do
		p = cursor_take(c, 1);
	while (p && *p & 0x80);
}

uint64_t cursor_encoded(struct cursor *c, int encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
		return cursor_number(c, c->wide ? 8 : 4);
	case DW_EH_PE_udata2:
		return cursor_number(c, 2);
	case DW_EH_PE_udata4:
		return cursor_number(c, 4);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int16_t)cursor_number(c, 2);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int32_t)cursor_number(c, 4);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_number(c, 8);
	case DW_EH_PE_uleb128:
		return cursor_uleb(c);
	}
	c->bad = true;
	return 0;
}
