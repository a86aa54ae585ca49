/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Units' address ranges are read once (.debug_aranges is often missing), a
 * unit's line program when the first of its addresses is asked for; libdw keeps
 * the result. Names that libdw gives are relative to the unit's directory, or
 * absolute.
 */
#include "config.h"

#include "analysis/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cover.h"
#include "analysis/grow.h"
#include "base/hash.h"
#include "base/hmap.h"

#define MAX_DEBUG_BYTES (1ULL << 30) /* of all debugging sections */
#define MAX_RANGES      (1u << 22)
#define MAX_LINES       (1u << 24) /* rows of line tables in memory */

struct unit {
	Dwarf_Off die;
	bool loaded;
};

/* A relative name of one unit, completed. */
struct full_name {
	struct hnode node;
	uint32_t unit;
	const char *relative; /* libdw's, so its address says it all */
	char text[];
};

struct lines {
	Dwarf *dwarf;
	Dwarf *alternate;
	Elf_Data *info; /* .debug_info, unpacked */
	struct unit *unit;
	size_t nr_units, cap_units;
	struct cover_range *range; /* while loading */
	size_t nr_ranges, cap_ranges;
	struct cover cover; /* ids are indices into unit */
	size_t nr_rows;     /* loaded */
	struct hmap names;  /* struct full_name */
};

/* Bytes that libdw will hold for a section, which it unpacks where it must. */
static uint64_t memory_of(const struct elffile *f, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	uint8_t old[12]; /* "ZLIB" and the size, most significant byte first */
	uint64_t size = 0;
	GElf_Chdr chdr;

	if (shdr->sh_type == SHT_NOBITS)
		return 0;
	if (shdr->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(scn, &chdr) && chdr.ch_size < MAX_DEBUG_BYTES
			       ? chdr.ch_size + shdr->sh_size
			       : UINT64_MAX;
	if (strncmp(elffile_section_name(f, shdr), ".zdebug", 7) != 0)
		return shdr->sh_size;
	if (shdr->sh_size < sizeof(old) ||
	    elffile_read(f, shdr->sh_offset, old, sizeof(old)))
		return UINT64_MAX;
	for (int i = 4; i < 12; i++)
		size = size << 8 | old[i];
	return size < MAX_DEBUG_BYTES ? size + shdr->sh_size : UINT64_MAX;
}

/* Whether all debugging sections fit in memory. */
static bool is_affordable(const struct elffile *f)
{
	uint64_t sum = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(f->elf, scn))) {
		uint64_t size;

		if (!gelf_getshdr(scn, &shdr) ||
		    !strstr(elffile_section_name(f, &shdr), "debug"))
			continue;
		size = memory_of(f, scn, &shdr);
		if (size > MAX_DEBUG_BYTES - sum)
			return false;
		sum += size;
	}
	return true;
}

/* A section of DWARF that is there, packed or not. */
static Elf_Scn *dwarf_section(const struct elffile *f, const char *name,
			      const char *old_name)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elffile_section(f, name, &shdr);

	if (!scn)
		scn = elffile_section(f, old_name, &shdr);
	return scn && shdr.sh_type != SHT_NOBITS ? scn : NULL;
}

/*
 * libdw (0.188) runs beyond the end of string sections whose last string has
 * no NUL. Called when it has unpacked them.
 */
static bool are_strings_terminated(const struct elffile *f)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(f->elf, scn))) {
		const char *name =
			gelf_getshdr(scn, &shdr) ? elffile_section_name(f, &shdr) : "";
		Elf_Data *data;

		if (!strstr(name, "debug_str") && !strstr(name, "debug_line_str"))
			continue;
		data = elf_rawdata(scn, NULL);
		if (data && data->d_buf && data->d_size &&
		    ((const char *)data->d_buf)[data->d_size - 1])
			return false;
	}
	return true;
}

/* The same for a unit's directory that stands in .debug_info itself. */
static bool is_directory_terminated(const struct lines *l, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const Elf_Data *data = l->info;
	const unsigned char *end;

	if (!dwarf_attr(die, DW_AT_comp_dir, &attr) || attr.form != DW_FORM_string)
		return true;
	end = data ? (const unsigned char *)data->d_buf + data->d_size : NULL;
	return end && attr.valp < end &&
	       memchr(attr.valp, 0, (size_t)(end - attr.valp));
}

static int add_range(struct lines *l, uint64_t start, uint64_t end, uint32_t unit)
{
	struct cover_range *range;

	range = grow(l->range, l->nr_ranges, &l->cap_ranges, sizeof(*range));
	if (!range)
		return -ENOMEM;
	l->range = range;
	l->range[l->nr_ranges++] = (struct cover_range){ start, end, unit };
	return 0;
}

static int add_unit(struct lines *l, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	struct unit *unit;
	ptrdiff_t at = 0;
	int err = 0;

	unit = grow(l->unit, l->nr_units, &l->cap_units, sizeof(*unit));
	if (!unit)
		return -ENOMEM;
	l->unit = unit;
	l->unit[l->nr_units++] = (struct unit){ .die = dwarf_dieoffset(die) };
	while (!err && l->nr_ranges < MAX_RANGES &&
	       (at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		err = add_range(l, start, end, (uint32_t)l->nr_units - 1);
	return err;
}

static int load_units(struct lines *l)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	int err = 0;

	while (!err && l->nr_units < MAX_RANGES &&
	       dwarf_get_units(l->dwarf, cu, &cu, NULL, NULL, &die, NULL) == 0)
		err = add_unit(l, &die);
	if (!err)
		err = cover_build(l->range, l->nr_ranges, &l->cover);
	free(l->range);
	l->range = NULL;
	return err;
}

/* libdw would look for a missing alternate file itself, and follow any path. */
static int set_alternate(struct lines *l, struct elffile *f, struct elffile *alternate)
{
	GElf_Shdr shdr;

	if (!elffile_section(f, ".gnu_debugaltlink", &shdr))
		return 0;
	if (!alternate)
		return -ENOENT;
	if (!is_affordable(alternate))
		return -ENOENT;
	l->alternate = dwarf_begin_elf(alternate->elf, DWARF_C_READ, NULL);
	if (!l->alternate || !are_strings_terminated(alternate))
		return -ENOENT;
	dwarf_setalt(l->dwarf, l->alternate);
	return 0;
}

int lines_open(struct elffile *f, struct elffile *alternate, struct lines **out)
{
	struct lines *l;
	int err;

	if (!is_affordable(f) || !dwarf_section(f, ".debug_line", ".zdebug_line"))
		return -ENOENT;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	err = l->dwarf && are_strings_terminated(f) ? set_alternate(l, f, alternate)
						    : -ENOENT;
	if (!err) {
		l->info = elf_rawdata(dwarf_section(f, ".debug_info", ".zdebug_info"),
				      NULL);
		err = load_units(l);
	}
	if (err) {
		lines_close(l);
		return err;
	}
	*out = l;
	return 0;
}

void lines_close(struct lines *l)
{
	struct hnode *n, *next;

	if (!l)
		return;
	dwarf_end(l->dwarf);
	dwarf_end(l->alternate);
	free(l->unit);
	free(l->range);
	cover_fini(&l->cover);
	hmap_for_each (&l->names, n, next) {
		hmap_remove(&l->names, n);
		free(container_of(n, struct full_name, node));
	}
	hmap_fini(&l->names);
	free(l);
}

/* Reads a unit's line program, within the bound on all of them. */
static bool load_rows(struct lines *l, struct unit *u, Dwarf_Die *die)
{
	Dwarf_Lines *rows;
	size_t nr;

	if (!dwarf_offdie(l->dwarf, u->die, die))
		return false;
	if (u->loaded)
		return true;
	if (l->nr_rows >= MAX_LINES || !is_directory_terminated(l, die) ||
	    dwarf_getsrclines(die, &rows, &nr) != 0)
		return false;
	l->nr_rows += nr;
	u->loaded = true;
	return true;
}

/* A file's name with its unit's directory; the name alone where that is unknown. */
static const char *complete_name(struct lines *l, uint32_t unit, Dwarf_Die *die,
				 const char *name)
{
	uint64_t hash = hash_u64((uintptr_t)name ^ (uint64_t)unit << 48);
	struct full_name *full;
	Dwarf_Attribute attr;
	const char *directory;
	struct hnode *n;
	size_t size;

	for (n = hmap_first(&l->names, hash); n; n = hmap_next(n)) {
		full = container_of(n, struct full_name, node);
		if (full->relative == name && full->unit == unit)
			return full->text;
	}
	directory = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attr));
	if (!directory)
		return name;
	size = strlen(directory) + strlen(name) + 2;
	full = calloc(1, sizeof(*full) + size);
	if (!full)
		return name;
	full->unit = unit;
	full->relative = name;
	snprintf(full->text, size, "%s/%s", directory, name);
	if (hmap_insert(&l->names, &full->node, hash)) {
		free(full);
		return name;
	}
	return full->text;
}

struct line lines_at(struct lines *l, uint64_t address)
{
	const struct cover_range *r = cover_find(&l->cover, address);
	struct line line = { NULL, 0 };
	Dwarf_Line *row;
	Dwarf_Die die;
	int number;

	if (!r || !load_rows(l, &l->unit[r->id], &die))
		return line;
	row = dwarf_getsrc_die(&die, address);
	if (!row || dwarf_lineno(row, &number) != 0 || number <= 0)
		return line;
	line.file = dwarf_linesrc(row, NULL, NULL);
	line.line = line.file ? number : 0;
	if (line.file && line.file[0] != '/')
		line.file = complete_name(l, r->id, &die, line.file);
	return line;
}
