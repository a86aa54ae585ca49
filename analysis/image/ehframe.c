/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format: LSB 5.0, "Exception Frames", and DWARF 5 section 6.4.1. libdw only finds
 * the FDE of a given address, so this file reads the section to list all FDEs. The
 * augmentation of a CIE says how its FDEs encode the addresses of the function and of
 * its language-specific data (LSDA).
 */
#include "config.h"

#include "analysis/image/ehframe.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/cursor.h"
#include "base/err.h"
#include "base/grow.h"

#define MAX_FDES         (1u << 22)
#define MAX_AUGMENTATION 16
#define MAX_BYTES        (1u << 28)
#define NO_CIE           UINT64_MAX

struct cie {
	bool known;    /* that is, can be read */
	bool has_data; /* its FDEs have augmentation data */
	bool signals;  /* its FDEs are of signals' returns */
	int encoding;  /* of functions' addresses */
	int lsda;      /* of LSDAs' addresses, or DW_EH_PE_omit */
};

struct ehframe_reader {
	struct cursor section;
	const uint8_t *begin;
	uint64_t address; /* of begin */
	uint64_t cie_at;  /* section offset of the one below, or NO_CIE */
	struct cie cie;
	struct ehframe_fde *fde;
	size_t nr;
	struct ehframe_lsda *lsda;
	size_t nr_lsdas;
};

/* What a CIE's augmentation says. */
static struct cie read_augmentation(struct cursor *c, const char *augmentation)
{
	struct cie cie = { .encoding = DW_EH_PE_absptr, .lsda = DW_EH_PE_omit };
	const struct cie unknown = { .known = false };

	cie.has_data = *augmentation == 'z';
	if (*augmentation && !cie.has_data)
		return unknown;
	if (cie.has_data) {
		augmentation++;
		cursor_uleb(c); /* size of what follows */
	}
	for (; *augmentation; augmentation++) {
		switch (*augmentation) {
		case 'R':
			cie.encoding = (int)cursor_number(c, 1);
			break;
		case 'L':
			cie.lsda = (int)cursor_number(c, 1);
			break;
		case 'P':
			cursor_encoded(c, (int)cursor_number(c, 1));
			break;
		case 'S':
			cie.signals = true;
			break;
		case 'B':
			break;
		default:
			return unknown;
		}
	}
	cie.known = !c->bad && !(cie.encoding & DW_EH_PE_indirect);
	return cie;
}

static struct cie read_cie(const struct ehframe_reader *r, uint64_t offset)
{
	const struct cie unknown = { .known = false };
	struct cursor c = r->section;
	const char *augmentation;
	uint64_t length;
	size_t size;
	int version;

	c.bad = false;
	c.at = r->begin + offset;
	length = cursor_number(&c, 4);
	if (length == 0xffffffff)
		length = cursor_number(&c, 8);
	if (c.bad || length > (size_t)(c.end - c.at))
		return unknown;
	c.end = c.at + length;
	if (cursor_number(&c, 4) != 0)
		return unknown;
	version = (int)cursor_number(&c, 1);
	if (c.bad || (version != 1 && version != 3))
		return unknown;
	augmentation = (const char *)c.at;
	size = strnlen(augmentation, (size_t)(c.end - c.at));
	if (size > MAX_AUGMENTATION || !cursor_take(&c, size + 1))
		return unknown;
	cursor_skip_leb(&c); /* code and data alignment, return address */
	cursor_skip_leb(&c);
	if (version == 1)
		cursor_take(&c, 1);
	else
		cursor_skip_leb(&c);
	return read_augmentation(&c, augmentation);
}

static int add_fde(struct ehframe_reader *r, uint64_t start, uint64_t size, uint64_t at)
{
	if (!size || start + size < start)
		return 0;
	if (GROW(r->fde, r->nr))
		return -ENOMEM;
	r->fde[r->nr++] =
		(struct ehframe_fde){ start, size, r->address + at, r->cie.signals };
	return 0;
}

static int add_lsda(struct ehframe_reader *r, uint64_t function, uint64_t address)
{
	if (GROW(r->lsda, r->nr_lsdas))
		return -ENOMEM;
	r->lsda[r->nr_lsdas++] = (struct ehframe_lsda){ function, address };
	return 0;
}

/* An address that may count from where it stands; false when it is of another kind. */
static bool read_address(const struct ehframe_reader *r, struct cursor *entry,
			 int encoding, uint64_t *out)
{
	const uint64_t here = r->address + (uint64_t)(entry->at - r->begin);
	uint64_t v = cursor_encoded(entry, encoding);

	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		v = v ? v + here : 0;
	else if (encoding & 0x70)
		return false;
	*out = entry->wide ? v : (uint32_t)v;
	return !entry->bad;
}

/* One FDE, at an offset of the section; entry begins behind its CIE pointer. */
static int read_fde(struct ehframe_reader *r, uint64_t at, struct cursor *entry,
		    uint64_t cie)
{
	uint64_t start, size, lsda = 0;
	int err;

	if (cie != r->cie_at) {
		r->cie = read_cie(r, cie);
		r->cie_at = cie;
	}
	if (!r->cie.known || !read_address(r, entry, r->cie.encoding, &start))
		return 0;
	size = cursor_encoded(entry, r->cie.encoding & 0x07);
	if (!entry->wide)
		size = (uint32_t)size;
	if (entry->bad)
		return 0;
	err = add_fde(r, start, size, at);
	if (err || !r->cie.has_data || r->cie.lsda & DW_EH_PE_indirect)
		return err;
	cursor_uleb(entry); /* size of what follows */
	if (!read_address(r, entry, r->cie.lsda, &lsda) || !lsda)
		return 0;
	return add_lsda(r, start, lsda);
}

static int read_entries(struct ehframe_reader *r)
{
	int err = 0;

	while (!err && r->section.at < r->section.end && r->nr < MAX_FDES) {
		struct cursor entry = r->section;
		const uint64_t at = (uint64_t)(entry.at - r->begin);
		uint64_t length = cursor_number(&entry, 4), id_at, id;

		if (length == 0xffffffff)
			length = cursor_number(&entry, 8);
		if (entry.bad || !length || length > (size_t)(entry.end - entry.at))
			break;
		entry.end = entry.at + length;
		r->section.at = entry.end;
		id_at = (uint64_t)(entry.at - r->begin);
		id = cursor_number(&entry, 4);
		if (!entry.bad && id && id <= id_at)
			err = read_fde(r, at, &entry, id_at - id);
	}
	return err;
}

/*
 * Without section headers: .eh_frame_hdr has a segment, and knows the address. Returns
 * 1, 0 if it does not, or -errno if the file cannot be read.
 */
static int find_through_header(const struct elffile *f, const GElf_Phdr *hdr,
			       struct elfrange *found)
{
	uint8_t bytes[12];
	struct cursor c = cursor_of(f, bytes, sizeof(bytes));
	uint64_t address = hdr->p_vaddr + 4;
	int err = elffile_read(f, hdr->p_offset, bytes, sizeof(bytes)), encoding;

	if (err)
		return err == -CPI_ETRUNCATED ? 0 : err;
	if (cursor_number(&c, 1) != 1)
		return 0;
	encoding = (int)cursor_number(&c, 1);
	cursor_take(&c, 2); /* encodings of the table, which is not needed */
	if ((encoding & 0xf0) != DW_EH_PE_pcrel)
		return 0;
	address += cursor_encoded(&c, encoding);
	for (size_t i = 0; !c.bad && i < f->nr_segments; i++) {
		const struct elfrange *r = &f->segment[i];
		uint64_t skip = address - r->address;

		if (skip >= r->size)
			continue;
		*found = (struct elfrange){ address, r->offset + skip, r->size - skip,
					    false };
		return 1;
	}
	return 0;
}

/*
 * Where the descriptions are; it may be more than them, for they end themselves.
 * Returns 1, 0 if there are none, or -errno.
 */
static int find_descriptions(const struct elffile *f, struct elfrange *found)
{
	GElf_Shdr shdr;
	GElf_Phdr phdr;
	size_t nr;

	if (elffile_section(f, ".eh_frame", &shdr) && shdr.sh_type != SHT_NOBITS) {
		*found = (struct elfrange){ shdr.sh_addr, shdr.sh_offset, shdr.sh_size,
					    false };
		return 1;
	}
	if (elf_getphdrnum(f->elf, &nr) < 0)
		return 0;
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(f->elf, (int)i, &phdr) &&
		    phdr.p_type == PT_GNU_EH_FRAME)
			return find_through_header(f, &phdr, found);
	return 0;
}

/* Fills r, whose lists and bytes are the caller's to free. */
static int load_descriptions(const struct elffile *f, struct ehframe_reader *r)
{
	struct elfrange where = { 0 };
	uint8_t *bytes;
	int err = find_descriptions(f, &where);

	if (err <= 0 || where.size > MAX_BYTES || where.offset > f->size)
		return err < 0 ? err : 0;
	if (where.size > f->size - where.offset)
		where.size = f->size - where.offset;
	bytes = malloc(where.size + 1);
	if (!bytes)
		return -ENOMEM;
	r->begin = bytes;
	err = elffile_read(f, where.offset, bytes, where.size);
	if (err)
		return err;
	r->address = where.address;
	r->section = cursor_of(f, bytes, where.size);
	return read_entries(r);
}

static void drop(struct ehframe_reader *r)
{
	free((void *)r->begin);
	free(r->lsda);
	free(r->fde);
}

/* Where two descriptions overlap, the one that starts last wins (cover.h). */
static int build_cover(const struct ehframe_reader *r, struct cover *out)
{
	struct cover_range *range = calloc(r->nr + 1, sizeof(*range));
	int err;

	if (!range)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr; i++)
		range[i] = (struct cover_range){ r->fde[i].function,
						 r->fde[i].function + r->fde[i].size,
						 (uint32_t)i };
	err = cover_build(range, r->nr, out);
	free(range);
	return err;
}

int ehframe_load(const struct elffile *f, struct cover *out)
{
	struct ehframe_reader r = { .cie_at = NO_CIE };
	int err = load_descriptions(f, &r);

	if (!err)
		err = build_cover(&r, out);
	drop(&r);
	return err;
}

int ehframe_load_lsdas(const struct elffile *f, struct ehframe_lsda **out, size_t *nr)
{
	struct ehframe_reader r = { .cie_at = NO_CIE };
	int err = load_descriptions(f, &r);

	if (!err) {
		*out = r.lsda;
		*nr = r.nr_lsdas;
		r.lsda = NULL;
	}
	drop(&r);
	return err;
}

static int by_function(const void *va, const void *vb)
{
	const struct ehframe_fde *a = va, *b = vb;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

int ehframe_read(const struct elffile *f, struct ehframe *out)
{
	struct ehframe_reader r = { .cie_at = NO_CIE };
	int err = load_descriptions(f, &r);

	if (!err) {
		*out = (struct ehframe){ .bytes = (uint8_t *)r.begin,
					 .address = r.address,
					 .size = (uint64_t)(r.section.end - r.begin),
					 .fde = r.fde,
					 .nr = r.nr };
		if (r.nr)
			qsort(r.fde, r.nr, sizeof(*r.fde), by_function);
		r.begin = NULL;
		r.fde = NULL;
	}
	drop(&r);
	return err;
}

void ehframe_fini(struct ehframe *e)
{
	free(e->bytes);
	free(e->fde);
}
