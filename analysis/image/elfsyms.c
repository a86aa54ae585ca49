/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A symbol counts if it is a function, or a label without a type, in an executable
 * section of main. The sections of debug files are not used: they have the same
 * addresses, but other offsets and no bytes.
 */
#include "config.h"

#include "analysis/image/elfsyms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/image/ehframe.h"
#include "analysis/image/plt.h"

struct loader {
	struct elffile *main;
	struct cover fde; /* link-time addresses */
	struct symtab *t;
};

/* Local labels of assemblers and the mapping symbols of ARM ($x, $d, $x.1). */
static bool is_noise(const char *name)
{
	if (name[0] == '$' && name[1] && strchr("adtx", name[1]))
		return !name[2] || name[2] == '.';
	return !name[0] || (name[0] == '.' && name[1] == 'L');
}

/* Without a size a symbol ends where the unwind information's function does. */
static uint64_t end_of_unsized(const struct loader *l, uint64_t address, uint64_t end)
{
	size_t i = cover_next(&l->fde, address);
	uint64_t bound;

	if (i == l->fde.nr)
		return end;
	bound = l->fde.range[i].start > address ? l->fde.range[i].start
						: l->fde.range[i].end;
	return bound < end ? bound : end;
}

static int add_symbol(struct loader *l, const GElf_Sym *sym, const char *name)
{
	const int type = GELF_ST_TYPE(sym->st_info), bind = GELF_ST_BIND(sym->st_info);
	const struct elfrange *text;
	struct symtab_entry e = { .raw = name, .size = sym->st_size };
	uint64_t end;

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS)
		return 0;
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return 0;
	text = elffile_text_at(l->main, sym->st_value);
	if (!text || !elffile_offset_of(l->main, sym->st_value, &e.start) ||
	    is_noise(name))
		return 0;
	end = text->address + text->size;
	if (!sym->st_size)
		end = end_of_unsized(l, sym->st_value, end);
	e.limit = e.start + (end - sym->st_value);
	e.label = type == STT_NOTYPE;
	e.binding = bind == STB_LOCAL  ? SYMTAB_LOCAL
		    : bind == STB_WEAK ? SYMTAB_WEAK
				       : SYMTAB_GLOBAL;
	return symtab_add(l->t, &e);
}

static int add_table(struct loader *l, struct elffile *f, Elf_Scn *scn,
		     const GElf_Shdr *shdr)
{
	Elf_Data *data = elffile_data(f, scn);
	Elf_Scn *strings_scn = elf_getscn(f->elf, shdr->sh_link);
	const char *strings;
	size_t size;
	GElf_Sym sym;
	int err = 0;

	strings = data && strings_scn ? elffile_strings(f, strings_scn, &size) : NULL;
	if (!strings)
		return 0;
	for (int i = 0; !err && gelf_getsym(data, i, &sym); i++)
		if (sym.st_name < size &&
		    strnlen(strings + sym.st_name, SYMTAB_MAX_NAME + 1) <=
			    SYMTAB_MAX_NAME)
			err = add_symbol(l, &sym, strings + sym.st_name);
	return err;
}

static int add_tables(struct loader *l, struct elffile *f)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	int err = 0;

	while (!err && (scn = elf_nextscn(f->elf, scn)))
		if (gelf_getshdr(scn, &shdr) &&
		    (shdr.sh_type == SHT_SYMTAB || shdr.sh_type == SHT_DYNSYM))
			err = add_table(l, f, scn, &shdr);
	return err;
}

/* Names [start, end) after its offset. */
static int add_unnamed(struct loader *l, uint64_t start, uint64_t end)
{
	struct symtab_entry e = { .start = start, .size = end - start, .limit = end };
	char name[24];

	snprintf(name, sizeof(name), "[0x%" PRIx64 "]", start);
	return symtab_add_named(l->t, &e, "", name, "");
}

/* The parts of [start, end) that no procedure covers. */
static int add_gaps(struct loader *l, const struct cover *known, uint64_t start,
		    uint64_t end)
{
	int err = 0;

	for (size_t i = cover_next(known, start); !err && start < end; i++) {
		uint64_t from = i < known->nr ? known->range[i].start : end;

		if (from > end)
			from = end;
		if (start < from)
			err = add_unnamed(l, start, from);
		if (i == known->nr)
			break;
		start = known->range[i].end;
	}
	return err;
}

static int add_frames(struct loader *l)
{
	int err = 0;

	for (size_t i = 0; !err && i < l->fde.nr; i++) {
		const struct cover_range *r = &l->fde.range[i];
		const struct elfrange *text = elffile_text_at(l->main, r->start);
		uint64_t start, size = r->end - r->start;

		if (!text || !elffile_offset_of(l->main, r->start, &start))
			continue;
		if (size > text->address + text->size - r->start)
			size = text->address + text->size - r->start;
		err = add_gaps(l, &l->t->cover, start, start + size);
	}
	return err;
}

int elfsyms_load(struct elffile *main, struct elffile *const *others, size_t nr_others,
		 struct symtab *t)
{
	struct loader l = { .main = main, .t = t };
	int err;

	err = ehframe_load(main, &l.fde);
	if (!err)
		err = add_tables(&l, main);
	for (size_t i = 0; !err && i < nr_others; i++)
		if (others[i])
			err = add_tables(&l, others[i]);
	if (!err)
		err = symtab_build(t);
	if (!err)
		err = plt_load(main, t);
	if (!err)
		err = symtab_build(t);
	if (!err)
		err = add_frames(&l);
	if (!err)
		err = symtab_build(t);
	cover_fini(&l.fde);
	return err;
}
