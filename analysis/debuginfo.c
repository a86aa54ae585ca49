/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Units' address ranges are read once (.debug_aranges is often missing, or lacks the
 * units of another compiler), which touches the first DIE of each. A unit's line
 * program is read when the first of its addresses is asked for; libdw keeps the result.
 * Names that libdw gives are relative to the unit's directory, or absolute.
 */
#include "config.h"

#include "analysis/debuginfo.h"

#include <dwarf.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cover.h"
#include "analysis/grow.h"
#include "base/hash.h"
#include "base/hmap.h"
#include "base/mapping.h"

#define MAX_DEBUG_BYTES (1ULL << 30) /* of debugging sections in memory */
#define MAP_FROM_BYTES  (16u << 20)  /* smaller files are read */
#define MAX_RANGES      (1u << 22)
#define MAX_PROGRAM     (16u << 20) /* bytes of a unit's line program */
#define MAX_LINES       (1u << 24)  /* rows of line tables in memory */

/* An ELF file as libdw sees it. */
struct view {
	const struct elffile *file;
	Elf *elf;   /* the file's, or of what is mapped */
	void *data; /* what is mapped, or NULL */
	Dwarf *dwarf;
};

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

/* Where strings may be. */
struct area {
	const char *start, *end;
};

struct debuginfo {
	struct view main, alternate;
	struct area *area;
	size_t nr_areas, cap_areas;
	struct unit *unit;
	size_t nr_units, cap_units;
	struct cover_range *range; /* while loading */
	size_t nr_ranges, cap_ranges;
	struct cover cover; /* ids are indices into unit */
	size_t nr_rows;     /* loaded */
	struct hmap names;  /* struct full_name */
};

/* Bytes that libdw will hold for a section, which it unpacks where it must. */
static uint64_t memory_of(const struct elffile *f, Elf_Scn *scn, const GElf_Shdr *shdr,
			  bool mapped)
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
		return mapped ? 0 : shdr->sh_size;
	if (shdr->sh_size < sizeof(old) ||
	    elffile_read(f, shdr->sh_offset, old, sizeof(old)))
		return UINT64_MAX;
	for (int i = 4; i < 12; i++)
		size = size << 8 | old[i];
	return size < MAX_DEBUG_BYTES ? size + shdr->sh_size : UINT64_MAX;
}

/* Whether what is needed of all debugging sections fits in memory. */
static bool is_affordable(const struct view *v)
{
	uint64_t sum = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(v->elf, scn))) {
		uint64_t size;

		if (!gelf_getshdr(scn, &shdr) ||
		    !strstr(elffile_section_name(v->file, &shdr), "debug"))
			continue;
		size = memory_of(v->file, scn, &shdr, v->data);
		if (size > MAX_DEBUG_BYTES - sum)
			return false;
		sum += size;
	}
	return true;
}

/* A section of DWARF that is there, packed or not. */
static bool has_section(const struct elffile *f, const char *name, const char *old_name)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elffile_section(f, name, &shdr);

	if (!scn)
		scn = elffile_section(f, old_name, &shdr);
	return scn && shdr.sh_type != SHT_NOBITS;
}

/* What cannot be mapped is read. */
static void map_file(struct view *v)
{
	const struct elffile *f = v->file;

	v->elf = f->elf;
	if (f->fd < 0 || f->size < MAP_FROM_BYTES || !mapping_is_safe(f->fd) ||
	    mapping_open(f->fd, f->size, &v->data))
		return;
	v->elf = elf_memory(v->data, f->size);
	if (v->elf)
		return;
	mapping_close(v->data, f->size);
	v->data = NULL;
	v->elf = f->elf;
}

static void close_view(struct view *v)
{
	dwarf_end(v->dwarf);
	if (!v->data)
		return;
	elf_end(v->elf);
	mapping_close(v->data, v->file->size);
}

static int add_area(struct debuginfo *d, const Elf_Data *data)
{
	struct area *area = grow(d->area, d->nr_areas, &d->cap_areas, sizeof(*area));

	if (!area)
		return -ENOMEM;
	d->area = area;
	d->area[d->nr_areas++] =
		(struct area){ data->d_buf, (char *)data->d_buf + data->d_size };
	return 0;
}

/*
 * Notes where v's strings are. libdw (0.188) runs beyond the end of string sections
 * whose last string has no NUL, so those are refused. Called when it has unpacked them.
 */
static int add_areas(struct debuginfo *d, const struct view *v)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	int err = 0;

	while (!err && (scn = elf_nextscn(v->elf, scn))) {
		const char *name = gelf_getshdr(scn, &shdr)
					   ? elffile_section_name(v->file, &shdr)
					   : "";
		const bool strings =
			strstr(name, "debug_str") || strstr(name, "debug_line_str");
		Elf_Data *data;

		if (!strings && !strstr(name, "debug_info") &&
		    !strstr(name, "debug_types"))
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf || !data->d_size)
			continue;
		err = strings && ((const char *)data->d_buf)[data->d_size - 1]
			      ? -ENOENT
			      : add_area(d, data);
	}
	return err;
}

static int open_view(struct debuginfo *d, struct view *v, struct elffile *f)
{
	v->file = f;
	map_file(v);
	if (!is_affordable(v))
		return -ENOENT;
	v->dwarf = dwarf_begin_elf(v->elf, DWARF_C_READ, NULL);
	return v->dwarf ? add_areas(d, v) : -ENOENT;
}

static int add_range(struct debuginfo *d, uint64_t start, uint64_t end, uint32_t unit)
{
	struct cover_range *range;

	range = grow(d->range, d->nr_ranges, &d->cap_ranges, sizeof(*range));
	if (!range)
		return -ENOMEM;
	d->range = range;
	d->range[d->nr_ranges++] = (struct cover_range){ start, end, unit };
	return 0;
}

static int add_unit(struct debuginfo *d, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	struct unit *unit;
	ptrdiff_t at = 0;
	int err = 0;

	unit = grow(d->unit, d->nr_units, &d->cap_units, sizeof(*unit));
	if (!unit)
		return -ENOMEM;
	d->unit = unit;
	d->unit[d->nr_units++] = (struct unit){ .die = dwarf_dieoffset(die) };
	while (!err && d->nr_ranges < MAX_RANGES &&
	       (at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		err = add_range(d, start, end, (uint32_t)d->nr_units - 1);
	return err;
}

static int load_units(struct debuginfo *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	int err = 0;

	while (!err && d->nr_units < MAX_RANGES &&
	       dwarf_get_units(d->main.dwarf, cu, &cu, NULL, NULL, &die, NULL) == 0)
		err = add_unit(d, &die);
	if (!err)
		err = cover_build(d->range, d->nr_ranges, &d->cover);
	free(d->range);
	d->range = NULL;
	return err;
}

/* libdw would look for a missing alternate file itself, and follow any path. */
static int set_alternate(struct debuginfo *d, struct elffile *f,
			 struct elffile *alternate)
{
	GElf_Shdr shdr;
	int err;

	if (!elffile_section(f, ".gnu_debugaltlink", &shdr))
		return 0;
	if (!alternate)
		return -ENOENT;
	err = open_view(d, &d->alternate, alternate);
	if (!err)
		dwarf_setalt(d->main.dwarf, d->alternate.dwarf);
	return err;
}

int debuginfo_open(struct elffile *f, struct elffile *alternate, struct debuginfo **out)
{
	struct debuginfo *d;
	int err;

	if (!has_section(f, ".debug_line", ".zdebug_line"))
		return -ENOENT;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	err = open_view(d, &d->main, f);
	if (!err)
		err = set_alternate(d, f, alternate);
	if (!err)
		err = load_units(d);
	if (err) {
		debuginfo_close(d);
		return err;
	}
	*out = d;
	return 0;
}

void debuginfo_close(struct debuginfo *d)
{
	struct hnode *n, *next;

	if (!d)
		return;
	close_view(&d->main);
	close_view(&d->alternate);
	free(d->area);
	free(d->unit);
	free(d->range);
	cover_fini(&d->cover);
	hmap_for_each (&d->names, n, next) {
		hmap_remove(&d->names, n);
		free(container_of(n, struct full_name, node));
	}
	hmap_fini(&d->names);
	free(d);
}

size_t debuginfo_nr_units(const struct debuginfo *d)
{
	return d->nr_units;
}

bool debuginfo_unit_at(const struct debuginfo *d, uint64_t address, uint32_t *unit)
{
	const struct cover_range *r = cover_find(&d->cover, address);

	if (!r)
		return false;
	*unit = r->id;
	return true;
}

bool debuginfo_die(struct debuginfo *d, uint32_t unit, Dwarf_Die *out)
{
	return dwarf_offdie(d->main.dwarf, d->unit[unit].die, out);
}

const char *debuginfo_string(const struct debuginfo *d, Dwarf_Attribute *attr)
{
	const char *s = dwarf_formstring(attr);

	for (size_t i = 0; s && i < d->nr_areas; i++) {
		const struct area *a = &d->area[i];

		if (s >= a->start && s < a->end)
			return memchr(s, 0, (size_t)(a->end - s)) ? s : NULL;
	}
	return NULL;
}

/* The length of the line program, from its header. */
static bool is_program_small(const struct debuginfo *d, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word offset;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	Elf_Data *data;
	uint32_t size;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_stmt_list, &attr), &offset) != 0)
		return false;
	while ((scn = elf_nextscn(d->main.elf, scn))) {
		const char *name = gelf_getshdr(scn, &shdr)
					   ? elffile_section_name(d->main.file, &shdr)
					   : "";

		if (strcmp(name, ".debug_line") == 0 ||
		    strcmp(name, ".zdebug_line") == 0)
			break;
	}
	data = scn ? elf_rawdata(scn, NULL) : NULL;
	if (!data || !data->d_buf || data->d_size < sizeof(size) ||
	    offset > data->d_size - sizeof(size))
		return false;
	memcpy(&size, (const char *)data->d_buf + offset, sizeof(size));
	if (elf_getident(d->main.elf, NULL)[EI_DATA] == ELFDATA2MSB)
		size = be32toh(size);
	else
		size = le32toh(size);
	/* 64-bit DWARF has all ones here, and is for larger programs. */
	return size <= MAX_PROGRAM ||
	       (size == UINT32_MAX && data->d_size <= MAX_PROGRAM);
}

/* libdw reads the directory without asking whether it ends. */
static bool is_directory_sane(const struct debuginfo *d, Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	return !dwarf_attr(die, DW_AT_comp_dir, &attr) || debuginfo_string(d, &attr);
}

bool debuginfo_load_rows(struct debuginfo *d, uint32_t unit, Dwarf_Die *die)
{
	struct unit *u = &d->unit[unit];
	Dwarf_Lines *rows;
	size_t nr;

	if (u->loaded)
		return true;
	if (d->nr_rows >= MAX_LINES || !is_directory_sane(d, die) ||
	    !is_program_small(d, die) || dwarf_getsrclines(die, &rows, &nr) != 0)
		return false;
	d->nr_rows += nr;
	u->loaded = true;
	return true;
}

Dwarf_Files *debuginfo_files(struct debuginfo *d, uint32_t unit)
{
	Dwarf_Files *files;
	Dwarf_Die die;
	size_t nr;

	if (!debuginfo_die(d, unit, &die) || !debuginfo_load_rows(d, unit, &die) ||
	    dwarf_getsrcfiles(&die, &files, &nr) != 0)
		return NULL;
	return files;
}

static const char *directory_of(struct debuginfo *d, uint32_t unit)
{
	Dwarf_Attribute attr;
	Dwarf_Die die;

	if (!debuginfo_die(d, unit, &die) || !dwarf_attr(&die, DW_AT_comp_dir, &attr))
		return NULL;
	return debuginfo_string(d, &attr);
}

const char *debuginfo_full_name(struct debuginfo *d, uint32_t unit, const char *name)
{
	uint64_t hash = hash_u64((uintptr_t)name ^ (uint64_t)unit << 48);
	struct full_name *full;
	const char *directory;
	struct hnode *n;
	size_t size;

	if (name[0] == '/')
		return name;
	for (n = hmap_first(&d->names, hash); n; n = hmap_next(n)) {
		full = container_of(n, struct full_name, node);
		if (full->relative == name && full->unit == unit)
			return full->text;
	}
	directory = directory_of(d, unit);
	if (!directory)
		return name;
	size = strlen(directory) + strlen(name) + 2;
	full = calloc(1, sizeof(*full) + size);
	if (!full)
		return name;
	full->unit = unit;
	full->relative = name;
	snprintf(full->text, size, "%s/%s", directory, name);
	if (hmap_insert(&d->names, &full->node, hash)) {
		free(full);
		return name;
	}
	return full->text;
}
