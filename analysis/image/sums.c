/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums.c - DWARF 5, section 6.2.4: the part of a line program's header that libdw
 *          (0.188) reads, and keeps to itself
 *
 * Files are numbered as in libdw, which also has their names.
 */
#include "config.h"

#include "analysis/image/sums.h"

#include <dwarf.h>
#include <endian.h>
#include <string.h>

#include "base/varint.h"

#ifndef DW_LNCT_MD5
#define DW_LNCT_MD5 5
#endif

#define MAX_FORMATS 16

struct header {
	const uint8_t *at, *end;
	bool wide; /* 64-bit DWARF */
	bool bad;
};

/* How an entry of a table is written. */
struct formats {
	uint64_t content[MAX_FORMATS], form[MAX_FORMATS];
	int nr;
};

static const uint8_t *skip(struct header *h, uint64_t size)
{
	const uint8_t *at = h->at;

	if (h->bad || size > (uint64_t)(h->end - h->at)) {
		h->bad = true;
		return NULL;
	}
	h->at += size;
	return at;
}

/* A little-endian number of so many bytes; 0 when it is cut. */
static uint64_t take_number(struct header *h, size_t size)
{
	const uint8_t *at = skip(h, size);
	uint64_t n = 0;

	if (at)
		memcpy(&n, at, size);
	return le64toh(n);
}

static uint64_t varint(struct header *h)
{
	uint64_t n = 0;

	if (!h->bad && varint_get(&h->at, h->end, &n))
		h->bad = true;
	return n;
}

static void read_formats(struct header *h, struct formats *out)
{
	out->nr = (int)take_number(h, 1);
	h->bad |= !out->nr || out->nr > MAX_FORMATS;
	for (int i = 0; i < out->nr && !h->bad; i++) {
		out->content[i] = varint(h);
		out->form[i] = varint(h);
	}
}

static void skip_string(struct header *h)
{
	const uint8_t *nul = memchr(h->at, 0, (size_t)(h->end - h->at));

	skip(h, nul ? (uint64_t)(nul - h->at) + 1 : UINT64_MAX);
}

static void skip_form(struct header *h, uint64_t form)
{
	switch (form) {
	case DW_FORM_string:
		skip_string(h);
		break;
	case DW_FORM_line_strp:
	case DW_FORM_strp:
	case DW_FORM_strp_sup:
		skip(h, h->wide ? 8 : 4);
		break;
	case DW_FORM_udata:
		varint(h);
		break;
	case DW_FORM_block:
		skip(h, varint(h));
		break;
	case DW_FORM_data1:
		skip(h, 1);
		break;
	case DW_FORM_data2:
		skip(h, 2);
		break;
	case DW_FORM_data4:
		skip(h, 4);
		break;
	case DW_FORM_data8:
		skip(h, 8);
		break;
	case DW_FORM_data16:
		skip(h, IMAGE_SUM_SIZE);
		break;
	default:
		h->bad = true;
	}
}

/* An entry; returns its sum, or NULL. */
static const uint8_t *read_entry(struct header *h, const struct formats *f)
{
	const uint8_t *sum = NULL;

	for (int i = 0; i < f->nr && !h->bad; i++) {
		if (f->content[i] == DW_LNCT_MD5 && f->form[i] == DW_FORM_data16)
			sum = h->at;
		skip_form(h, f->form[i]);
	}
	return h->bad ? NULL : sum;
}

/* Up to the table of files, whose number it returns; 0: there is none. */
static uint64_t read_header(struct header *h, struct formats *files)
{
	struct formats directories;
	uint64_t length = take_number(h, 4), nr;

	h->wide = length == UINT32_MAX;
	if (h->wide)
		length = take_number(h, 8);
	if (h->bad || length > (uint64_t)(h->end - h->at))
		return 0;
	h->end = h->at + length;
	if (take_number(h, 2) != 5)
		return 0;
	skip(h, 2);               /* sizes of addresses and segments */
	skip(h, h->wide ? 8 : 4); /* the header's length */
	skip(h, 5);               /* what the state machine begins with */
	nr = take_number(h, 1);   /* opcodes, and how many operands they have */
	skip(h, nr ? nr - 1 : 0);
	read_formats(h, &directories);
	for (nr = varint(h); nr && !h->bad; nr--)
		read_entry(h, &directories);
	read_formats(h, files);
	nr = varint(h);
	return h->bad ? 0 : nr;
}

static int each_of_unit(struct debuginfo *d, uint32_t unit, struct header h,
			image_sum_fn fn, void *ctx)
{
	Dwarf_Files *files = debuginfo_files(d, unit);
	struct formats formats;
	const uint64_t nr = files ? read_header(&h, &formats) : 0;
	int err = 0;

	for (uint64_t i = 0; i < nr && !h.bad && !err; i++) {
		const uint8_t *sum = read_entry(&h, &formats);
		const char *name = sum ? dwarf_filesrc(files, i, NULL, NULL) : NULL;

		name = name ? debuginfo_full_name(d, unit, name) : NULL;
		err = name ? fn(ctx, name, sum) : 0;
	}
	return err;
}

int sums_each(struct debuginfo *d, image_sum_fn fn, void *ctx)
{
	size_t size;
	const uint8_t *lines = debuginfo_lines(d, &size);
	Dwarf_Attribute attr;
	Dwarf_Word at;
	Dwarf_Die die;
	int err = 0;

	for (uint32_t i = 0; lines && i < debuginfo_nr_units(d) && !err; i++) {
		debuginfo_trim(d);
		if (debuginfo_die(d, i, &die) &&
		    dwarf_formudata(dwarf_attr(&die, DW_AT_stmt_list, &attr), &at) ==
			    0 &&
		    at < size)
			err = each_of_unit(d, i,
					   (struct header){ lines + at, lines + size,
							    false, false },
					   fn, ctx);
	}
	return err;
}
