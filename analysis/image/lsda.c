/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of .gcc_except_table is that of the Itanium C++ ABI's exception handling,
 * "Language-Specific Data Area": a header, then a table of call sites, of which each
 * may have a landing pad. The rest (actions, types) is not needed.
 */
#include "config.h"

#include "analysis/image/lsda.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "analysis/image/cursor.h"
#include "analysis/image/ehframe.h"
#include "base/grow.h"

#define MAX_PADS   (1u << 22)
#define MAX_HEADER 64         /* bytes before the call sites */
#define MAX_SITES  (1u << 22) /* bytes of them */
#define MAX_ALL    (1u << 28) /* bytes of all functions' call sites */

struct lsda_loader {
	const struct elffile *f;
	struct landing_pads pads;
	uint64_t left; /* of MAX_ALL */
};

static int add_pad(struct lsda_loader *l, uint64_t address)
{
	uint64_t offset;

	if (l->pads.nr == MAX_PADS || !elffile_offset_of(l->f, address, &offset) ||
	    !elffile_text_at(l->f, address))
		return 0;
	if (GROW(l->pads.offset, l->pads.nr))
		return -ENOMEM;
	l->pads.offset[l->pads.nr++] = offset;
	return 0;
}

/* The header; *base is what pads count from. False when it is of another kind. */
static bool read_header(struct cursor *c, uint64_t *base, int *encoding, uint64_t *size)
{
	const int from = (int)cursor_number(c, 1);
	int types;

	if (from != DW_EH_PE_omit) {
		if (from & 0x70)
			return false;
		*base = cursor_encoded(c, from);
	}
	types = (int)cursor_number(c, 1);
	if (types != DW_EH_PE_omit)
		cursor_uleb(c);
	*encoding = (int)cursor_number(c, 1);
	*size = cursor_uleb(c);
	return !c->bad && *size <= MAX_SITES;
}

static int read_sites(struct lsda_loader *l, struct cursor *c, uint64_t base,
		      int encoding)
{
	int err = 0;

	while (!err && c->at < c->end) {
		uint64_t pad;

		cursor_encoded(c, encoding); /* start and size of the site */
		cursor_encoded(c, encoding);
		pad = cursor_encoded(c, encoding);
		cursor_uleb(c); /* action */
		if (c->bad)
			break;
		if (pad)
			err = add_pad(l, base + pad);
	}
	return err;
}

/* Reads as much as there is of size bytes at offset, for c. Returns 0 or -errno. */
static int read_some(const struct elffile *f, uint64_t offset, uint8_t *out,
		     size_t size, struct cursor *c)
{
	int err;

	if (offset >= f->size)
		size = 0;
	else if (size > f->size - offset)
		size = f->size - offset;
	err = size ? elffile_read(f, offset, out, size) : 0;
	if (!err)
		*c = cursor_of(f, out, size);
	return err;
}

static int read_lsda(struct lsda_loader *l, const struct ehframe_lsda *lsda)
{
	uint64_t offset, base = lsda->function, size;
	uint8_t header[MAX_HEADER], *sites;
	struct cursor c;
	int encoding, err;

	if (!elffile_offset_of(l->f, lsda->address, &offset))
		return 0;
	err = read_some(l->f, offset, header, sizeof(header), &c);
	if (err)
		return err;
	if (!read_header(&c, &base, &encoding, &size) || size > l->left)
		return 0;
	l->left -= size;
	offset += (uint64_t)(c.at - header);
	sites = malloc(size + 1);
	if (!sites)
		return -ENOMEM;
	err = read_some(l->f, offset, sites, size, &c);
	if (!err)
		err = read_sites(l, &c, base, encoding);
	free(sites);
	return err;
}

static int compare_offsets(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

void landing_pads_sort(struct landing_pads *p)
{
	size_t kept = 0;

	if (p->nr)
		qsort(p->offset, p->nr, sizeof(*p->offset), compare_offsets);
	for (size_t i = 0; i < p->nr; i++)
		if (!kept || p->offset[kept - 1] != p->offset[i])
			p->offset[kept++] = p->offset[i];
	p->nr = kept;
}

int lsda_load(const struct elffile *f, struct landing_pads *out)
{
	struct lsda_loader l = { .f = f, .left = MAX_ALL };
	struct ehframe_lsda *lsda = NULL;
	size_t nr = 0;
	int err;

	err = ehframe_load_lsdas(f, &lsda, &nr);
	for (size_t i = 0; i < nr && !err; i++)
		err = read_lsda(&l, &lsda[i]);
	free(lsda);
	if (err) {
		free(l.pads.offset);
		return err;
	}
	landing_pads_sort(&l.pads);
	*out = l.pads;
	return 0;
}
