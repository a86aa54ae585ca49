/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The address ranges of all units are read once, from the first DIE of each unit
 * (.debug_aranges is often missing or incomplete). The line program of a unit is read
 * at the first look-up in the unit. libdw keeps the result until it is closed; so if it
 * has kept too much, debuginfo_trim() closes it and opens it again. File names are
 * absolute, or relative to the unit's directory.
 */
#include "config.h"

#include "analysis/image/debuginfo.h"

#include <dwarf.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/cover.h"
#include "analysis/image/elfview.h"
#include "analysis/image/splitset.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/hmap.h"

#define MAX_RANGES  (1u << 22)
#define MAX_PROGRAM (16u << 20) /* bytes of a unit's line program */
#define MAX_LINES   (1u << 22)  /* rows of line tables that debuginfo_trim() allows */

struct dwarf_file {
	struct elfview view;
	Dwarf *dwarf;
};

struct unit_state {
	Dwarf_Off die;
	bool loaded;
};

/* The name of a file: libdw's own goes with its lines. */
struct kept_name {
	struct hnode node;
	char text[];
};

/* Where strings may be. */
struct area {
	const char *start;
	size_t size;
};

struct debuginfo {
	struct dwarf_file main, alternate;
	struct splitset *split; /* NULL: no unit is, or none was asked for yet */
	bool lacks_units;
	struct area *area;
	size_t nr_areas;
	struct unit_state *unit;
	size_t nr_units;
	struct cover_range *range; /* while loading */
	size_t nr_ranges;
	struct cover cover; /* ids are indices into unit */
	size_t nr_rows;     /* loaded */
	struct hmap names;  /* struct kept_name */
};

/* A section of DWARF that is there, packed or not. */
static bool has_section(const struct elffile *f, const char *name, const char *old_name)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elffile_section(f, name, &shdr);

	if (!scn)
		scn = elffile_section(f, old_name, &shdr);
	return scn && shdr.sh_type != SHT_NOBITS;
}

/*
 * Notes where strings are. libdw (0.188) runs beyond the end of string sections whose
 * last string has no NUL, so those are refused.
 */
static int add_area(struct debuginfo *d, const Elf_Data *data, bool strings)
{
	const char *start = data ? data->d_buf : NULL;

	if (!start)
		return 0;
	if (strings && start[data->d_size - 1])
		return -CPI_ECORRUPT;
	if (GROW(d->area, d->nr_areas))
		return -ENOMEM;
	d->area[d->nr_areas++] = (struct area){ start, data->d_size };
	return 0;
}

static int open_file(struct debuginfo *d, struct dwarf_file *file, struct elffile *f)
{
	static const struct {
		const char *name, *packed;
		bool strings;
	} areas[] = {
		{ ".debug_info", ".zdebug_info", false },
		{ ".debug_types", ".zdebug_types", false },
		{ ".debug_str", ".zdebug_str", true },
		{ ".debug_line_str", ".zdebug_line_str", true },
	};
	int err = elfview_open(f, &file->view);

	if (err)
		return err;
	if (has_section(f, ".debug_info", ".zdebug_info") &&
	    !elfview_section(&file->view, ".debug_info", ".zdebug_info"))
		return -ENOTSUP;
	file->dwarf = dwarf_begin_elf(file->view.elf, DWARF_C_READ, NULL);
	if (!file->dwarf)
		return -CPI_ECORRUPT;
	for (size_t i = 0; !err && i < sizeof(areas) / sizeof(areas[0]); i++)
		err = add_area(
			d, elfview_section(&file->view, areas[i].name, areas[i].packed),
			areas[i].strings);
	return err;
}

static int add_range(struct debuginfo *d, uint64_t start, uint64_t end, uint32_t unit)
{
	if (GROW(d->range, d->nr_ranges))
		return -ENOMEM;
	d->range[d->nr_ranges++] = (struct cover_range){ start, end, unit };
	return 0;
}

/* A range that begins at 0 is of code that the linker dropped. */
static int add_unit(struct debuginfo *d, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int err = 0;

	if (GROW(d->unit, d->nr_units))
		return -ENOMEM;
	d->unit[d->nr_units++] = (struct unit_state){ .die = dwarf_dieoffset(die) };
	while (!err && d->nr_ranges < MAX_RANGES &&
	       (at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		err = start ? add_range(d, start, end, (uint32_t)d->nr_units - 1) : 0;
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

/*
 * libdw would look for a missing alternate file itself, and follow any path. So it
 * would for the alternate file's own, which dwz never makes.
 */
static int set_alternate(struct debuginfo *d, struct elffile *f,
			 struct elffile *alternate)
{
	GElf_Shdr shdr;
	int err;

	if (!elffile_section(f, ".gnu_debugaltlink", &shdr))
		return 0;
	if (!alternate)
		return -CPI_ENOIMAGE;
	if (elffile_section(alternate, ".gnu_debugaltlink", &shdr))
		return -CPI_ECORRUPT;
	err = open_file(d, &d->alternate, alternate);
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
	err = open_file(d, &d->main, f);
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
	splitset_free(d->split);
	dwarf_end(d->main.dwarf);
	dwarf_end(d->alternate.dwarf);
	elfview_close(&d->main.view);
	elfview_close(&d->alternate.view);
	free(d->area);
	free(d->unit);
	free(d->range);
	cover_fini(&d->cover);
	hmap_for_each (&d->names, n, next) {
		hmap_remove(&d->names, n);
		free(container_of(n, struct kept_name, node));
	}
	hmap_fini(&d->names);
	free(d);
}

bool debuginfo_lacks_units(const struct debuginfo *d)
{
	return d->lacks_units;
}

size_t debuginfo_nr_units(const struct debuginfo *d)
{
	return d->nr_units;
}

void debuginfo_trim(struct debuginfo *d)
{
	Dwarf *fresh;

	if (d->nr_rows < MAX_LINES)
		return;
	fresh = dwarf_begin_elf(d->main.view.elf, DWARF_C_READ, NULL);
	if (!fresh)
		return;
	dwarf_end(d->main.dwarf);
	d->main.dwarf = fresh;
	if (d->alternate.dwarf)
		dwarf_setalt(fresh, d->alternate.dwarf);
	for (size_t i = 0; i < d->nr_units; i++)
		d->unit[i].loaded = false;
	d->nr_rows = 0;
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

static bool ends_within(const char *s, const char *start, size_t size)
{
	return start && s >= start && s < start + size &&
	       memchr(s, 0, (size_t)(start + size - s));
}

const char *debuginfo_string(const struct debuginfo *d, uint32_t unit,
			     Dwarf_Attribute *attr)
{
	const char *s = dwarf_formstring(attr);
	struct splitunit *split = NULL;

	for (size_t i = 0; s && i < d->nr_areas; i++) {
		if (ends_within(s, d->area[i].start, d->area[i].size))
			return s;
	}
	if (s && d->split)
		splitset_has(d->split, unit, &split);
	for (int i = 0; split && i < SPLIT_NR; i++) {
		if (ends_within(s, split->pieces[i].data, split->pieces[i].size))
			return s;
	}
	return NULL;
}

static struct splitunit *find_split(struct debuginfo *d, uint32_t unit, Dwarf_Die *die)
{
	Dwarf_Attribute name, directory;
	struct splitunit *split = NULL;
	struct skeleton s;

	if (!skeleton_read(die, &d->main.view, &s, &name, &directory))
		return NULL;
	s.name = debuginfo_string(d, unit, &name);
	s.directory = directory.cu ? debuginfo_string(d, unit, &directory) : NULL;
	if (!d->split)
		d->split = splitset_new(&d->main.view, d->nr_units);
	if (s.name && d->split)
		split = splitset_find(d->split, unit, &s);
	d->lacks_units |= !split;
	return split;
}

bool debuginfo_tree(struct debuginfo *d, uint32_t unit, Dwarf_Die *out)
{
	struct splitunit *split = NULL;

	if (!debuginfo_die(d, unit, out))
		return false;
	if (!d->split || !splitset_has(d->split, unit, &split))
		split = find_split(d, unit, out);
	if (split)
		*out = split->die;
	return true;
}

ptrdiff_t debuginfo_ranges(const struct debuginfo *d, uint32_t unit, Dwarf_Die *die,
			   ptrdiff_t at, Dwarf_Addr *base, Dwarf_Addr *start,
			   Dwarf_Addr *end)
{
	struct splitunit *split = NULL;

	if (d->split)
		splitset_has(d->split, unit, &split);
	return split ? splitunit_ranges(split, die, at, base, start, end)
		     : dwarf_ranges(die, at, base, start, end);
}

const uint8_t *debuginfo_lines(const struct debuginfo *d, size_t *size)
{
	Elf_Data *data = elfview_section(&d->main.view, ".debug_line", ".zdebug_line");

	*size = data ? data->d_size : 0;
	return data ? data->d_buf : NULL;
}

/* The length of the line program, from its header. */
static bool is_program_small(const struct debuginfo *d, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word offset;
	size_t nr;
	const uint8_t *lines = debuginfo_lines(d, &nr);
	uint32_t size;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_stmt_list, &attr), &offset) != 0)
		return false;
	if (!lines || nr < sizeof(size) || offset > nr - sizeof(size))
		return false;
	memcpy(&size, lines + offset, sizeof(size));
	if (elf_getident(d->main.view.elf, NULL)[EI_DATA] == ELFDATA2MSB)
		size = be32toh(size);
	else
		size = le32toh(size);
	/* 64-bit DWARF has all ones here, and is for larger programs. */
	return size <= MAX_PROGRAM || (size == UINT32_MAX && nr <= MAX_PROGRAM);
}

/* libdw reads the directory without asking whether it ends. */
static bool is_directory_sane(const struct debuginfo *d, uint32_t unit, Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	return !dwarf_attr(die, DW_AT_comp_dir, &attr) ||
	       debuginfo_string(d, unit, &attr);
}

bool debuginfo_load_rows(struct debuginfo *d, uint32_t unit, Dwarf_Die *die)
{
	struct unit_state *u = &d->unit[unit];
	Dwarf_Lines *rows;
	size_t nr;

	if (u->loaded)
		return true;
	if (!is_directory_sane(d, unit, die) || !is_program_small(d, die) ||
	    dwarf_getsrclines(die, &rows, &nr) != 0)
		return false;
	d->nr_rows += nr;
	u->loaded = true;
	return true;
}

Dwarf_Files *debuginfo_files(struct debuginfo *d, uint32_t unit)
{
	struct splitunit *split = NULL;
	Dwarf_Files *files;
	Dwarf_Die die;
	size_t nr;

	if (d->split)
		splitset_has(d->split, unit, &split);
	if (split && split->pieces[SPLIT_LINE].data &&
	    split->pieces[SPLIT_LINE].size <= MAX_PROGRAM)
		return is_directory_sane(d, unit, &split->die) &&
				       dwarf_getsrcfiles(&split->die, &files, &nr) == 0
			       ? files
			       : NULL;
	if (!debuginfo_die(d, unit, &die) || !debuginfo_load_rows(d, unit, &die) ||
	    dwarf_getsrcfiles(&die, &files, &nr) != 0)
		return NULL;
	return files;
}

/* A copy of the name that stays; NULL when out of memory. */
static const char *keep_name(struct debuginfo *d, const char *text)
{
	const size_t size = strlen(text) + 1;
	const uint64_t hash = hash_bytes(0, text, size);
	struct kept_name *name;
	struct hnode *n;

	for (n = hmap_first(&d->names, hash); n; n = hmap_next(n)) {
		name = container_of(n, struct kept_name, node);
		if (strcmp(name->text, text) == 0)
			return name->text;
	}
	name = calloc(1, sizeof(*name) + size);
	if (!name)
		return NULL;
	memcpy(name->text, text, size);
	if (hmap_insert(&d->names, &name->node, hash)) {
		free(name);
		return NULL;
	}
	return name->text;
}

static const char *directory_of(struct debuginfo *d, uint32_t unit)
{
	Dwarf_Attribute attr;
	Dwarf_Die die;

	if (!debuginfo_die(d, unit, &die) || !dwarf_attr(&die, DW_AT_comp_dir, &attr))
		return NULL;
	return debuginfo_string(d, unit, &attr);
}

const char *debuginfo_full_name(struct debuginfo *d, uint32_t unit, const char *name)
{
	const char *directory = name[0] == '/' ? NULL : directory_of(d, unit);
	struct buf whole = { 0 };
	const char *text = NULL;

	if (directory)
		buf_printf(&whole, "%s/", directory);
	buf_puts(&whole, name);
	if (!whole.err)
		text = keep_name(d, buf_str(&whole));
	buf_fini(&whole);
	return text;
}
