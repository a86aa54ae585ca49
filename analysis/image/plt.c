/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No table says which stub belongs to which function. The stub jumps through a slot of
 * the global offset table, and the relocation of the slot has the symbol.
 */
#include "config.h"

#include "analysis/image/plt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"

#define MAX_PLT_BYTES (1u << 24)
#define MAX_SLOTS     (1u << 20)

/* A relocation that fills a slot with a function's address. */
struct slot {
	uint64_t address;
	const char *name;  /* NULL: see resolver */
	uint64_t resolver; /* address */
};

struct stub {
	size_t start, end; /* bytes in the section */
	enum { STUB_NONE, STUB_SLOT, STUB_INDEX, STUB_FIRST } kind;
	uint64_t value; /* the slot's address, or the index into .rela.plt */
};

struct plt_code {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
	size_t step; /* bytes a stub, from the section's name and header */
};

struct plt_machine {
	uint32_t jump_slot, glob_dat, irelative;
	/* Describes the stub at s->start; sets s->end. */
	void (*decode)(const struct plt_code *c, struct stub *s);
};

struct plt {
	struct elffile *f;
	struct symtab *t;
	const struct plt_machine *machine;
	struct slot *slot; /* by address */
	size_t nr_slots;
	uint64_t *index; /* slot addresses in .rela.plt's order */
	size_t nr_indices;
};

static uint32_t le32(const uint8_t *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

/*
 * [endbr64] [bnd] jmp *slot(%rip), or [endbr64] push $index; [bnd] jmp plt0,
 * or push got+8(%rip); [bnd] jmp *got+16(%rip).
 */
static void decode_x86_64(const struct plt_code *c, struct stub *s)
{
	size_t at = s->start;
	uint8_t b[16] = { 0 };
	size_t i = 0;

	s->end = c->step < c->size - at ? at + c->step : c->size;
	memcpy(b, c->bytes + at, s->end - at < 16 ? s->end - at : 16);
	if (memcmp(b, "\xf3\x0f\x1e\xfa", 4) == 0)
		i += 4;
	if (b[i] == 0xf2)
		i++;
	if (b[i] == 0xff && b[i + 1] == 0x25) {
		s->kind = STUB_SLOT;
		s->value = c->address + at + i + 6 + (uint64_t)(int32_t)le32(b + i + 2);
	} else if (b[i] == 0x68) {
		s->kind = STUB_INDEX;
		s->value = le32(b + i + 1);
	} else if (b[i] == 0xff && b[i + 1] == 0x35) {
		s->kind = STUB_FIRST;
	}
}

#define A64_BTI_C 0xd503245fu
#define A64_STP   0xa9bf7bf0u /* stp x16, x30, [sp, #-16]! */

static bool is_adrp_x16(uint32_t insn)
{
	return (insn & 0x9f00001f) == 0x90000010;
}

/* Whether a stub begins at this byte of the section. */
static bool begins_aarch64(const struct plt_code *c, size_t at)
{
	if (at + 8 > c->size)
		return false;
	if (le32(c->bytes + at) == A64_BTI_C)
		return is_adrp_x16(le32(c->bytes + at + 4)) ||
		       le32(c->bytes + at + 4) == A64_STP;
	return is_adrp_x16(le32(c->bytes + at));
}

/* [bti c] adrp x16, page; ldr x17, [x16, #low]; add; br x17; after stp: plt0. */
static void decode_aarch64(const struct plt_code *c, struct stub *s)
{
	size_t at = s->start, next;
	uint32_t adrp, ldr;
	uint64_t page;

	if (at + 4 <= c->size && le32(c->bytes + at) == A64_BTI_C)
		at += 4;
	next = at + 4;
	if (at + 4 <= c->size && le32(c->bytes + at) == A64_STP) {
		s->kind = STUB_FIRST;
		next += 4; /* its adrp begins no stub */
	}
	while (next < c->size && !begins_aarch64(c, next))
		next += 4;
	s->end = next < c->size ? next : c->size;
	if (s->kind == STUB_FIRST || at + 8 > c->size)
		return;
	adrp = le32(c->bytes + at);
	ldr = le32(c->bytes + at + 4);
	if (!is_adrp_x16(adrp) || (ldr & 0xffc003ff) != 0xf9400211)
		return;
	page = (adrp >> 29 & 3) | (uint64_t)(adrp >> 5 & 0x7ffff) << 2;
	page = (page ^ 1u << 20) - (1u << 20); /* 21 bits with a sign */
	s->kind = STUB_SLOT;
	s->value = ((c->address + at) & ~0xfffULL) + (page << 12) +
		   (ldr >> 10 & 0xfff) * 8;
}

static const struct plt_machine machines[] = {
	[MACHINE_X86_64] = {
		.jump_slot = R_X86_64_JUMP_SLOT,
		.glob_dat = R_X86_64_GLOB_DAT,
		.irelative = R_X86_64_IRELATIVE,
		.decode = decode_x86_64,
	},
	[MACHINE_AARCH64] = {
		.jump_slot = R_AARCH64_JUMP_SLOT,
		.glob_dat = R_AARCH64_GLOB_DAT,
		.irelative = R_AARCH64_IRELATIVE,
		.decode = decode_aarch64,
	},
};

static int add_slot(struct plt *p, const struct slot *slot)
{
	if (p->nr_slots == MAX_SLOTS)
		return 0;
	if (GROW(p->slot, p->nr_slots))
		return -ENOMEM;
	p->slot[p->nr_slots++] = *slot;
	return 0;
}

/* The symbol table and strings that a relocation section refers to. */
struct names {
	Elf_Data *symbols;
	const char *strings;
	size_t size;
};

static struct names names_of(struct elffile *f, const GElf_Shdr *rela)
{
	struct names n = { 0 };
	Elf_Scn *symbols = elf_getscn(f->elf, rela->sh_link), *strings;
	GElf_Shdr shdr;

	if (!rela->sh_link || !symbols || !gelf_getshdr(symbols, &shdr) ||
	    (shdr.sh_type != SHT_DYNSYM && shdr.sh_type != SHT_SYMTAB))
		return n;
	strings = elf_getscn(f->elf, shdr.sh_link);
	n.symbols = elffile_data(f, symbols);
	n.strings = strings ? elffile_strings(f, strings, &n.size) : NULL;
	return n;
}

static bool name_slot(const struct plt *p, const struct names *n, const GElf_Rela *rela,
		      struct slot *slot)
{
	const uint32_t type = (uint32_t)GELF_R_TYPE(rela->r_info);
	GElf_Sym sym;

	*slot = (struct slot){ .address = rela->r_offset };
	if (type == p->machine->irelative) {
		slot->resolver = (uint64_t)rela->r_addend;
		return true;
	}
	if ((type != p->machine->jump_slot && type != p->machine->glob_dat) ||
	    !n->strings || !n->symbols ||
	    !gelf_getsym(n->symbols, (int)GELF_R_SYM(rela->r_info), &sym) ||
	    sym.st_name >= n->size || !n->strings[sym.st_name] ||
	    strnlen(n->strings + sym.st_name, SYMTAB_MAX_NAME + 1) > SYMTAB_MAX_NAME)
		return false;
	slot->name = n->strings + sym.st_name;
	return true;
}

static int load_relocations(struct plt *p, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	const bool indexed = strcmp(elffile_section_name(p->f, shdr), ".rela.plt") == 0;
	Elf_Data *data = elffile_data(p->f, scn);
	struct names names = names_of(p->f, shdr);
	struct slot slot;
	GElf_Rela rela;
	int err = 0;

	if (!data)
		return 0;
	if (indexed && !p->index) {
		p->index = calloc(data->d_size / sizeof(Elf32_Rela) + 1,
				  sizeof(*p->index));
		if (!p->index)
			return -ENOMEM;
		for (int i = 0; gelf_getrela(data, i, &rela); i++)
			p->index[p->nr_indices++] = rela.r_offset;
	}
	for (int i = 0; !err && gelf_getrela(data, i, &rela); i++)
		if (name_slot(p, &names, &rela, &slot))
			err = add_slot(p, &slot);
	return err;
}

static int compare_slot(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int load_slots(struct plt *p)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	int err = 0;

	while (!err && (scn = elf_nextscn(p->f->elf, scn)))
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_RELA)
			err = load_relocations(p, scn, &shdr);
	if (!err && p->nr_slots)
		qsort(p->slot, p->nr_slots, sizeof(*p->slot), compare_slot);
	return err;
}

static const struct slot *find_slot(const struct plt *p, const struct stub *s)
{
	struct slot key = { .address = s->value };

	if (s->kind == STUB_INDEX) {
		if (s->value >= p->nr_indices)
			return NULL;
		key.address = p->index[s->value];
	}
	if (!p->nr_slots)
		return NULL;
	return bsearch(&key, p->slot, p->nr_slots, sizeof(key), compare_slot);
}

/* The raw name of a resolver; failing that, its offset in buffer. */
static const char *name_resolver(struct plt *p, uint64_t address, char buffer[32])
{
	const struct symbol *s;
	uint64_t offset;

	if (!elffile_offset_of(p->f, address, &offset))
		return NULL;
	s = symtab_at(p->t, offset);
	if (s)
		return s->raw;
	snprintf(buffer, 32, "[0x%" PRIx64 "]", offset);
	return buffer;
}

static int add_stub(struct plt *p, const struct stub *s, uint64_t section_offset)
{
	struct symtab_entry e = { .start = section_offset + s->start,
				  .size = s->end - s->start,
				  .limit = section_offset + s->end };
	const struct slot *slot;
	const char *name = NULL;
	char buffer[32];

	if (s->kind == STUB_NONE)
		return 0;
	if (s->kind == STUB_FIRST)
		return symtab_add_named(p->t, &e, "[plt0]", "", "");
	slot = find_slot(p, s);
	if (slot)
		name = slot->name ? slot->name
				  : name_resolver(p, slot->resolver, buffer);
	return name ? symtab_add_named(p->t, &e, "", name, "@plt") : 0;
}

/* Bytes a stub on x86-64: linkers set .plt.got's entry size, but not always. */
static size_t step_of(const struct elffile *f, const GElf_Shdr *shdr,
		      const uint8_t *bytes)
{
	if (strcmp(elffile_section_name(f, shdr), ".plt.got") == 0 &&
	    shdr->sh_size >= 4)
		return memcmp(bytes, "\xf3\x0f\x1e\xfa", 4) == 0 ? 16 : 8;
	return 16;
}

static int load_stubs(struct plt *p, const GElf_Shdr *shdr)
{
	struct plt_code c = { .size = shdr->sh_size, .address = shdr->sh_addr };
	uint8_t *bytes;
	int err;

	if (!shdr->sh_size || shdr->sh_size > MAX_PLT_BYTES ||
	    shdr->sh_type == SHT_NOBITS || !elffile_text_at(p->f, shdr->sh_addr))
		return 0;
	bytes = malloc(shdr->sh_size);
	if (!bytes)
		return -ENOMEM;
	err = elffile_read(p->f, shdr->sh_offset, bytes, shdr->sh_size);
	if (err)
		goto out;
	if (!p->slot)
		err = load_slots(p);
	c.bytes = bytes;
	c.step = step_of(p->f, shdr, bytes);
	for (size_t at = 0; !err && at < c.size;) {
		struct stub s = { .start = at };

		p->machine->decode(&c, &s);
		err = add_stub(p, &s, shdr->sh_offset);
		at = s.end;
	}
out:
	free(bytes);
	return err == -CPI_ETRUNCATED ? 0 : err; /* damaged: no stubs */
}

int plt_load(struct elffile *f, struct symtab *t)
{
	static const char *const sections[] = { ".plt", ".plt.sec", ".plt.got",
						".iplt" };
	struct plt p = { .f = f, .t = t };
	GElf_Shdr shdr;
	int err = 0;

	if (f->machine == MACHINE_UNKNOWN)
		return 0;
	p.machine = &machines[f->machine];
	for (size_t i = 0; !err && i < sizeof(sections) / sizeof(*sections); i++)
		if (elffile_section(f, sections[i], &shdr))
			err = load_stubs(&p, &shdr);
	free(p.slot);
	free(p.index);
	return err;
}
