/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format: LSB 5.0, "Exception Frames", and DWARF 5 section 6.4.1. libdw
 * finds the FDE of a given address only; to list all of them the section is
 * read here. A CIE's augmentation is looked at for one thing: how its FDEs'
 * addresses are encoded.
 */
#include "config.h"

#include "analysis/ehframe.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/grow.h"
#include "base/varint.h"

#define MAX_FDES         (1u << 22)
#define MAX_AUGMENTATION 16
#define MAX_BYTES        (1u << 28)
#define NO_CIE           UINT64_MAX

/* A read position that stops at its end: once bad, all reads give 0. */
struct cursor {
	const uint8_t *at, *end;
	bool bad;
	bool big_endian;
	bool wide; /* 8-byte addresses */
};

struct reader {
	struct cursor section;
	const uint8_t *begin;
	uint64_t address; /* of begin */
	uint64_t cie;     /* section offset of the one that is known, or NO_CIE */
	int encoding;     /* its FDEs' addresses; -1: cannot be read */
	struct cover_range *fde;
	size_t nr, cap;
};

static struct cursor cursor_of(const struct elffile *f, const uint8_t *bytes,
			       size_t size)
{
	return (struct cursor){
		.at = bytes,
		.end = bytes + size,
		.wide = gelf_getclass(f->elf) == ELFCLASS64,
		.big_endian = elf_getident(f->elf, NULL)[EI_DATA] == ELFDATA2MSB,
	};
}

static const uint8_t *take(struct cursor *c, size_t size)
{
	const uint8_t *p = c->at;

	if (c->bad || size > (size_t)(c->end - c->at)) {
		c->bad = true;
		return NULL;
	}
	c->at += size;
	return p;
}

static uint64_t take_number(struct cursor *c, size_t size)
{
	const uint8_t *p = take(c, size);
	uint64_t v = 0;

	for (size_t i = 0; p && i < size; i++)
		v |= (uint64_t)p[c->big_endian ? size - 1 - i : i] << 8 * i;
	return v;
}

static uint64_t take_uleb(struct cursor *c)
{
	uint64_t v = 0;

	if (c->bad || varint_get(&c->at, c->end, &v))
		c->bad = true;
	return v;
}

static void skip_leb(struct cursor *c)
{
	const uint8_t *p;

	do
		p = take(c, 1);
	while (p && *p & 0x80);
}

/* A number in the format half of a DW_EH_PE encoding. */
static uint64_t take_encoded(struct cursor *c, int encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
		return take_number(c, c->wide ? 8 : 4);
	case DW_EH_PE_udata2:
		return take_number(c, 2);
	case DW_EH_PE_udata4:
		return take_number(c, 4);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int16_t)take_number(c, 2);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int32_t)take_number(c, 4);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return take_number(c, 8);
	case DW_EH_PE_uleb128:
		return take_uleb(c);
	}
	c->bad = true;
	return 0;
}

/* The encoding that a CIE's augmentation gives, or -1. */
static int encoding_of_augmentation(struct cursor *c, const char *augmentation)
{
	int encoding = DW_EH_PE_absptr;

	if (!*augmentation)
		return encoding;
	if (*augmentation++ != 'z')
		return -1;
	take_uleb(c); /* size of what follows */
	for (; *augmentation; augmentation++) {
		switch (*augmentation) {
		case 'R':
			encoding = (int)take_number(c, 1);
			break;
		case 'L':
			take(c, 1);
			break;
		case 'P':
			take_encoded(c, (int)take_number(c, 1));
			break;
		case 'S':
		case 'B':
			break;
		default:
			return -1;
		}
	}
	return c->bad ? -1 : encoding;
}

static int encoding_of_cie(const struct reader *r, uint64_t offset)
{
	struct cursor c = r->section;
	const char *augmentation;
	uint64_t length;
	size_t size;
	int version;

	c.bad = false;
	c.at = r->begin + offset;
	length = take_number(&c, 4);
	if (length == 0xffffffff)
		length = take_number(&c, 8);
	if (c.bad || length > (size_t)(c.end - c.at))
		return -1;
	c.end = c.at + length;
	if (take_number(&c, 4) != 0)
		return -1;
	version = (int)take_number(&c, 1);
	if (c.bad || (version != 1 && version != 3))
		return -1;
	augmentation = (const char *)c.at;
	size = strnlen(augmentation, (size_t)(c.end - c.at));
	if (size > MAX_AUGMENTATION || !take(&c, size + 1))
		return -1;
	skip_leb(&c); /* code and data alignment, return address */
	skip_leb(&c);
	if (version == 1)
		take(&c, 1);
	else
		skip_leb(&c);
	return encoding_of_augmentation(&c, augmentation);
}

static int add(struct reader *r, uint64_t start, uint64_t size)
{
	struct cover_range *fde;

	if (!size || start + size < start)
		return 0;
	fde = grow(r->fde, r->nr, &r->cap, sizeof(*fde));
	if (!fde)
		return -ENOMEM;
	r->fde = fde;
	r->fde[r->nr] = (struct cover_range){ start, start + size, (uint32_t)r->nr };
	r->nr++;
	return 0;
}

/* One FDE; entry begins behind its CIE pointer. */
static int read_fde(struct reader *r, struct cursor *entry, uint64_t cie)
{
	uint64_t start, size, here;

	if (cie != r->cie) {
		r->encoding = encoding_of_cie(r, cie);
		r->cie = cie;
	}
	if (r->encoding < 0 || r->encoding & DW_EH_PE_indirect)
		return 0;
	here = r->address + (uint64_t)(entry->at - r->begin);
	start = take_encoded(entry, r->encoding);
	switch (r->encoding & 0x70) {
	case 0:
		break;
	case DW_EH_PE_pcrel:
		start += here;
		break;
	default:
		return 0;
	}
	size = take_encoded(entry, r->encoding & 0x07);
	if (!entry->wide) {
		start = (uint32_t)start;
		size = (uint32_t)size;
	}
	return entry->bad ? 0 : add(r, start, size);
}

static int read_entries(struct reader *r)
{
	int err = 0;

	while (!err && r->section.at < r->section.end && r->nr < MAX_FDES) {
		struct cursor entry = r->section;
		uint64_t length = take_number(&entry, 4), id_at, id;

		if (length == 0xffffffff)
			length = take_number(&entry, 8);
		if (entry.bad || !length || length > (size_t)(entry.end - entry.at))
			break;
		entry.end = entry.at + length;
		r->section.at = entry.end;
		id_at = (uint64_t)(entry.at - r->begin);
		id = take_number(&entry, 4);
		if (!entry.bad && id && id <= id_at)
			err = read_fde(r, &entry, id_at - id);
	}
	return err;
}

/* Without section headers: .eh_frame_hdr has a segment, and knows the address. */
static bool find_through_header(const struct elffile *f, const GElf_Phdr *hdr,
				struct elfrange *found)
{
	uint8_t bytes[12];
	struct cursor c = cursor_of(f, bytes, sizeof(bytes));
	uint64_t address = hdr->p_vaddr + 4;
	int encoding;

	if (elffile_read(f, hdr->p_offset, bytes, sizeof(bytes)) ||
	    take_number(&c, 1) != 1)
		return false;
	encoding = (int)take_number(&c, 1);
	take(&c, 2); /* encodings of the table, which is not needed */
	if ((encoding & 0xf0) != DW_EH_PE_pcrel)
		return false;
	address += take_encoded(&c, encoding);
	for (size_t i = 0; !c.bad && i < f->nr_segments; i++) {
		const struct elfrange *r = &f->segment[i];
		uint64_t skip = address - r->address;

		if (skip >= r->size)
			continue;
		*found = (struct elfrange){ address, r->offset + skip, r->size - skip,
					    false };
		return true;
	}
	return false;
}

/* Where the descriptions are; it may be more than them, for they end themselves. */
static bool find_descriptions(const struct elffile *f, struct elfrange *found)
{
	GElf_Shdr shdr;
	GElf_Phdr phdr;
	size_t nr;

	if (elffile_section(f, ".eh_frame", &shdr) && shdr.sh_type != SHT_NOBITS) {
		*found = (struct elfrange){ shdr.sh_addr, shdr.sh_offset, shdr.sh_size,
					    false };
		return true;
	}
	if (elf_getphdrnum(f->elf, &nr) < 0)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(f->elf, (int)i, &phdr) &&
		    phdr.p_type == PT_GNU_EH_FRAME)
			return find_through_header(f, &phdr, found);
	return false;
}

int ehframe_load(const struct elffile *f, struct cover *out)
{
	struct reader r = { .cie = NO_CIE };
	struct elfrange where;
	uint8_t *bytes;
	int err = 0;

	if (!find_descriptions(f, &where) || where.size > MAX_BYTES ||
	    where.offset > f->size)
		return 0;
	if (where.size > f->size - where.offset)
		where.size = f->size - where.offset;
	bytes = malloc(where.size + 1);
	if (!bytes)
		return -ENOMEM;
	if (elffile_read(f, where.offset, bytes, where.size))
		goto out;
	r.begin = bytes;
	r.address = where.address;
	r.section = cursor_of(f, bytes, where.size);
	err = read_entries(&r);
	if (!err)
		err = cover_build(r.fde, r.nr, out);
out:
	free(r.fde);
	free(bytes);
	return err;
}
