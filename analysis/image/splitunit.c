/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A split unit refers by index to addresses and ranges in the program's sections, from
 * a base that its skeleton gives. From these sections, starting at the base, and from
 * the unit's own sections an ELF file in memory is made, which has one unit and needs
 * no skeleton. No section is copied: libelf gets pointers to the existing bytes.
 */
#include "config.h"

#include "analysis/image/splitunit.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NR_OWN 2 /* .debug_addr, .debug_ranges */

static bool number_of(Dwarf_Die *die, unsigned int name, Dwarf_Word *out)
{
	Dwarf_Attribute attr;

	return dwarf_formudata(dwarf_attr(die, name, &attr), out) == 0;
}

static struct split_piece piece_from(const struct elfview *main, const char *name,
				     const char *packed_name, uint64_t base)
{
	const Elf_Data *data = elfview_section(main, name, packed_name);
	struct split_piece none = { NULL, 0 };

	if (!data || base >= data->d_size)
		return none;
	return (struct split_piece){ (const char *)data->d_buf + base,
				     data->d_size - base };
}

bool skeleton_read(Dwarf_Die *die, const struct elfview *main, struct skeleton *out,
		   Dwarf_Attribute *name, Dwarf_Attribute *directory)
{
	Dwarf_Word addresses = 0, ranges = 0;
	struct skeleton s = { 0 };
	uint8_t type = 0;

	if (!dwarf_attr(die, DW_AT_dwo_name, name) &&
	    !dwarf_attr(die, DW_AT_GNU_dwo_name, name))
		return false;
	if (!dwarf_attr(die, DW_AT_comp_dir, directory))
		memset(directory, 0, sizeof(*directory));
	if (dwarf_cu_info(die->cu, NULL, &type, NULL, NULL, &s.id, NULL, NULL) != 0 ||
	    type != DW_UT_skeleton)
		return false;
	if (!number_of(die, DW_AT_addr_base, &addresses))
		number_of(die, DW_AT_GNU_addr_base, &addresses);
	number_of(die, DW_AT_GNU_ranges_base, &ranges);
	if (dwarf_lowpc(die, &s.address) != 0)
		s.address = 0;
	s.addresses = piece_from(main, ".debug_addr", ".zdebug_addr", addresses);
	s.ranges = piece_from(main, ".debug_ranges", ".zdebug_ranges", ranges);
	*out = s;
	return true;
}

struct unit_section {
	const char *name;
	struct split_piece piece;
};

static bool add_section(Elf *elf, size_t name, Elf64_Word type, const void *bytes,
			size_t size)
{
	Elf_Scn *scn = elf_newscn(elf);
	Elf_Data *data = scn ? elf_newdata(scn) : NULL;
	GElf_Shdr shdr;

	if (!data || !gelf_getshdr(scn, &shdr))
		return false;
	data->d_buf = (void *)bytes;
	data->d_size = size;
	data->d_type = ELF_T_BYTE;
	shdr.sh_name = (Elf64_Word)name;
	shdr.sh_type = type;
	shdr.sh_size = size;
	return gelf_update_shdr(scn, &shdr);
}

/* Names first, so that their section is number 1. */
static bool add_sections(struct splitunit *u, const struct unit_section *parts,
			 size_t nr)
{
	static const char own_name[] = ".shstrtab";
	size_t size = 1 + sizeof(own_name), at = 1;
	char *to;

	for (size_t i = 0; i < nr; i++)
		size += strlen(parts[i].name) + 1;
	u->names = calloc(1, size);
	if (!u->names)
		return false;
	to = stpcpy(u->names + 1, own_name) + 1;
	for (size_t i = 0; i < nr; i++)
		to = stpcpy(to, parts[i].name) + 1;
	if (!add_section(u->elf, at, SHT_STRTAB, u->names, size))
		return false;
	at += sizeof(own_name);
	for (size_t i = 0; i < nr; i++) {
		const struct split_piece *p = &parts[i].piece;

		if (p->data && !add_section(u->elf, at, SHT_PROGBITS, p->data, p->size))
			return false;
		at += strlen(parts[i].name) + 1;
	}
	return true;
}

static bool make_elf(struct splitunit *u, const struct skeleton *s,
		     const struct elfview *main)
{
	const char *ident = elf_getident(main->elf, NULL);
	struct unit_section parts[SPLIT_NR + NR_OWN] = {
#define SPLIT_PART(id, called) [SPLIT_##id] = { .name = called },
		SPLIT_SECTIONS(SPLIT_PART)
#undef SPLIT_PART
			[SPLIT_NR] = { ".debug_addr", s->addresses },
		[SPLIT_NR + 1] = { ".debug_ranges", s->ranges },
	};
	GElf_Ehdr ehdr;

	for (int i = 0; i < SPLIT_NR; i++)
		parts[i].piece = u->pieces[i];
	/* A file that is about to be written needs one to write to; it never is. */
	u->elf = elf_begin(main->file->fd, ELF_C_WRITE, NULL);
	if (!u->elf || !gelf_newehdr(u->elf, ident[EI_CLASS]) ||
	    !gelf_getehdr(u->elf, &ehdr))
		return false;
	ehdr.e_ident[EI_DATA] = (unsigned char)ident[EI_DATA];
	ehdr.e_type = ET_REL;
	ehdr.e_version = EV_CURRENT;
	ehdr.e_shstrndx = 1;
	return gelf_update_ehdr(u->elf, &ehdr) &&
	       add_sections(u, parts, SPLIT_NR + NR_OWN);
}

/* A .dwo may hold type units before it; the unit is the one with the id. */
static bool find_unit(struct splitunit *u, uint64_t id)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint64_t other;

	while (dwarf_get_units(u->dwarf, cu, &cu, NULL, NULL, &die, NULL) == 0) {
		if (dwarf_tag(&die) != DW_TAG_compile_unit ||
		    dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &other, NULL, NULL) !=
			    0 ||
		    other != id)
			continue;
		u->die = die;
		return true;
	}
	return false;
}

int splitunit_open(const struct skeleton *s, const struct split_piece pieces[SPLIT_NR],
		   const struct elfview *main, struct splitunit **out)
{
	const struct split_piece *strings = &pieces[SPLIT_STR];
	struct splitunit *u;

	if (!pieces[SPLIT_INFO].data ||
	    (strings->data && strings->data[strings->size - 1]))
		return -ENOENT;
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	u->address = s->address;
	memcpy(u->pieces, pieces, sizeof(u->pieces));
	if (make_elf(u, s, main))
		u->dwarf = dwarf_begin_elf(u->elf, DWARF_C_READ, NULL);
	if (!u->dwarf || !find_unit(u, s->id)) {
		splitunit_close(u);
		return -ENOENT;
	}
	*out = u;
	return 0;
}

void splitunit_close(struct splitunit *u)
{
	if (!u)
		return;
	dwarf_end(u->dwarf);
	elf_end(u->elf);
	free(u->names);
	free(u);
}

/* Where a DIE's list of ranges begins; 0 when it has none, or at the very beginning. */
static ptrdiff_t list_of(const struct splitunit *u, Dwarf_Die *die)
{
	const struct split_piece *lists = &u->pieces[SPLIT_RANGES];
	const uint64_t header = 12; /* of 32-bit DWARF, which split units are */
	Dwarf_Attribute attr;
	Dwarf_Word value;
	uint32_t offset;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_ranges, &attr), &value) != 0)
		return 0;
	if (attr.form != DW_FORM_rnglistx)
		return value < PTRDIFF_MAX ? (ptrdiff_t)value : 0;
	if (!lists->data || lists->size < header + sizeof(offset) ||
	    value > (lists->size - header - sizeof(offset)) / sizeof(offset))
		return 0;
	memcpy(&offset, lists->data + header + value * sizeof(offset), sizeof(offset));
	return (ptrdiff_t)(header + offset);
}

ptrdiff_t splitunit_ranges(const struct splitunit *u, Dwarf_Die *die, ptrdiff_t at,
			   Dwarf_Addr *base, Dwarf_Addr *start, Dwarf_Addr *end)
{
	const ptrdiff_t list = at ? 0 : list_of(u, die);

	if (list <= 1)
		return dwarf_ranges(die, at, base, start, end);
	*base = u->address;
	return dwarf_ranges(die, list, base, start, end);
}
