/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A split unit refers by index to addresses and ranges in the program's sections, from
 * a base that its skeleton gives. From these sections, starting at the base, and from
 * the unit's own sections an ELF file in memory is made, which has one unit and needs
 * no skeleton.
 *
 * No section is copied. The file in memory consists of headers and names; each section
 * is one byte of it, until the libelf descriptor of its data gets the address and size
 * of the existing bytes. A file that is being written would take them as well, but
 * libdw 0.192 reads sections by elf_rawdata(), which refuses data of such a file.
 */
#include "config.h"

#include "analysis/image/splitunit.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NR_OWN 2 /* .debug_addr, .debug_ranges */

/* Indices of section headers; 0 means none. */
#define NAMES      1
#define FIRST_PART 2

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
	struct split_piece piece; /* data is NULL: it is left out */
};

/* From native byte order to that of the file. */
static bool encode_headers(void *at, Elf_Type type, size_t size, unsigned int order)
{
	Elf_Data data = {
		.d_buf = at,
		.d_type = type,
		.d_size = size,
		.d_version = EV_CURRENT,
	};

	return elf64_xlatetof(&data, &data, order);
}

/* The class is that of the headers: a unit says itself how large its addresses are. */
static void fill_ehdr(Elf64_Ehdr *ehdr, size_t nr_headers, unsigned int order)
{
	memcpy(ehdr->e_ident, ELFMAG, SELFMAG);
	ehdr->e_ident[EI_CLASS] = ELFCLASS64;
	ehdr->e_ident[EI_DATA] = (unsigned char)order;
	ehdr->e_ident[EI_VERSION] = EV_CURRENT;
	ehdr->e_type = ET_REL;
	ehdr->e_version = EV_CURRENT;
	ehdr->e_ehsize = sizeof(*ehdr);
	ehdr->e_shentsize = sizeof(Elf64_Shdr);
	ehdr->e_shoff = sizeof(*ehdr);
	ehdr->e_shnum = (Elf64_Half)nr_headers;
	ehdr->e_shstrndx = NAMES;
}

/* Headers with a section for each part, and names. */
static bool make_image(struct splitunit *u, const struct unit_section *parts, size_t nr,
		       unsigned int order)
{
	static const char own_name[] = ".shstrtab";
	const size_t nr_headers = FIRST_PART + nr;
	const size_t headers = sizeof(Elf64_Ehdr) + nr_headers * sizeof(Elf64_Shdr);
	size_t size = headers + 1 + sizeof(own_name);
	Elf64_Shdr *shdr;
	char *names, *to;

	for (size_t i = 0; i < nr; i++)
		size += strlen(parts[i].name) + 1;
	u->image = calloc(1, size);
	if (!u->image)
		return false;
	u->size = size;
	fill_ehdr(u->image, nr_headers, order);
	shdr = (Elf64_Shdr *)((Elf64_Ehdr *)u->image + 1);
	names = (char *)u->image + headers;
	shdr[NAMES] = (Elf64_Shdr){ .sh_name = 1,
				    .sh_type = SHT_STRTAB,
				    .sh_offset = headers,
				    .sh_size = size - headers };
	to = stpcpy(names + 1, own_name) + 1;
	for (size_t i = 0; i < nr; i++) {
		shdr[FIRST_PART + i] = (Elf64_Shdr){
			.sh_name = (Elf64_Word)(to - names),
			.sh_type = SHT_PROGBITS,
			.sh_size = 1,
		};
		to = stpcpy(to, parts[i].name) + 1;
	}
	return encode_headers(shdr, ELF_T_SHDR, nr_headers * sizeof(*shdr), order) &&
	       encode_headers(u->image, ELF_T_EHDR, sizeof(Elf64_Ehdr), order);
}

/* libdw 0.188 reads sections by elf_getdata(), 0.192 by elf_rawdata(). */
static bool set_section(Elf_Scn *scn, const struct split_piece *p)
{
	Elf_Data *raw = elf_rawdata(scn, NULL);
	Elf_Data *data = raw ? elf_getdata(scn, NULL) : NULL;

	if (!data)
		return false;
	raw->d_buf = data->d_buf = (void *)p->data;
	raw->d_size = data->d_size = p->size;
	return true;
}

static bool make_elf(struct splitunit *u, const struct skeleton *s,
		     const struct elfview *main)
{
	struct unit_section all[SPLIT_NR + NR_OWN] = {
#define SPLIT_PART(id, called) [SPLIT_##id] = { .name = called },
		SPLIT_SECTIONS(SPLIT_PART)
#undef SPLIT_PART
			[SPLIT_NR] = { ".debug_addr", s->addresses },
		[SPLIT_NR + 1] = { ".debug_ranges", s->ranges },
	};
	struct unit_section parts[SPLIT_NR + NR_OWN];
	size_t nr = 0;
	bool done;

	for (int i = 0; i < SPLIT_NR; i++)
		all[i].piece = u->pieces[i];
	for (size_t i = 0; i < SPLIT_NR + NR_OWN; i++) {
		if (all[i].piece.data && all[i].piece.size)
			parts[nr++] = all[i];
	}
	if (!make_image(u, parts, nr, elf_getident(main->elf, NULL)[EI_DATA]))
		return false;
	u->elf = elf_memory(u->image, u->size);
	done = u->elf;
	for (size_t i = 0; i < nr && done; i++)
		done = set_section(elf_getscn(u->elf, FIRST_PART + i), &parts[i].piece);
	return done;
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
	free(u->image);
	free(u);
}

/* Where a DIE's list of ranges begins; -1 when it has none, or a damaged one. */
static ptrdiff_t list_of(const struct splitunit *u, Dwarf_Die *die)
{
	const struct split_piece *lists = &u->pieces[SPLIT_RANGES];
	const uint64_t header = 12; /* of 32-bit DWARF, which split units are */
	Dwarf_Attribute attr;
	Dwarf_Word value;
	uint32_t offset;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_ranges, &attr), &value) != 0)
		return -1;
	if (attr.form != DW_FORM_rnglistx)
		return value < PTRDIFF_MAX ? (ptrdiff_t)value : -1;
	if (!lists->data || lists->size < header + sizeof(offset) ||
	    value > (lists->size - header - sizeof(offset)) / sizeof(offset))
		return -1;
	memcpy(&offset, lists->data + header + value * sizeof(offset), sizeof(offset));
	return (ptrdiff_t)(header + offset);
}

ptrdiff_t splitunit_ranges(const struct splitunit *u, Dwarf_Die *die, ptrdiff_t at,
			   Dwarf_Addr *base, Dwarf_Addr *start, Dwarf_Addr *end)
{
	const ptrdiff_t list = at ? -1 : list_of(u, die);
	ptrdiff_t next;

	if (list > 1) {
		*base = u->address;
		return dwarf_ranges(die, list, base, start, end);
	}
	next = dwarf_ranges(die, at, base, start, end);
	/* The list at offset 0 can only be read this way, and libdw's base is 0. */
	if (next > 0 && list == 0 && !*base) {
		*base = u->address;
		*start += u->address;
		*end += u->address;
	}
	return next;
}
