/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libdw unpacks compressed sections into memory and keeps them. So the sizes that the
 * sections claim are added up first, and a file whose sum exceeds MAX_DEBUG_BYTES has
 * no DWARF. Large files are mapped instead of read, if nobody else can write to them.
 */
#include "config.h"

#include "analysis/image/elfview.h"

#include <errno.h>
#include <string.h>

#include "base/mapping.h"

#define MAX_DEBUG_BYTES (1ULL << 30) /* of debugging sections in memory */
#define MAP_FROM_BYTES  (16u << 20)  /* smaller files are read */

/* Bytes that libdw will hold for a section, which it unpacks where it must. */
static uint64_t memory_of(const struct elffile *f, Elf_Scn *scn, const GElf_Shdr *shdr,
			  bool in_memory)
{
	uint8_t old[12]; /* "ZLIB" and the size, most significant byte first */
	uint64_t size = 0;
	GElf_Chdr chdr;

	if (shdr->sh_type == SHT_NOBITS)
		return 0;
	if (shdr->sh_flags & SHF_COMPRESSED)
		return shdr->sh_size < MAX_DEBUG_BYTES && /* gelf_getchdr() reads it */
				       gelf_getchdr(scn, &chdr) &&
				       chdr.ch_size < MAX_DEBUG_BYTES
			       ? chdr.ch_size + shdr->sh_size
			       : UINT64_MAX;
	if (strncmp(elffile_section_name(f, shdr), ".zdebug", 7) != 0)
		return in_memory ? 0 : shdr->sh_size;
	if (shdr->sh_size < sizeof(old) ||
	    elffile_read(f, shdr->sh_offset, old, sizeof(old)))
		return UINT64_MAX;
	for (int i = 4; i < 12; i++)
		size = size << 8 | old[i];
	return size < MAX_DEBUG_BYTES ? size + shdr->sh_size : UINT64_MAX;
}

/* Whether what is needed of all debugging sections fits in memory. */
static bool is_affordable(struct elfview *v)
{
	const bool in_memory = v->data || v->file->memory;
	uint64_t sum = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(v->elf, scn))) {
		uint64_t size;

		if (!gelf_getshdr(scn, &shdr) ||
		    !strstr(elffile_section_name(v->file, &shdr), "debug"))
			continue;
		size = memory_of(v->file, scn, &shdr, in_memory);
		if (size > MAX_DEBUG_BYTES - sum)
			return false;
		sum += size;
	}
	v->memory = sum;
	return true;
}

/* What cannot be mapped is read. */
static void map_file(struct elfview *v)
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

int elfview_open(struct elffile *f, struct elfview *out)
{
	out->file = f;
	map_file(out);
	return is_affordable(out) ? 0 : -EFBIG;
}

void elfview_close(struct elfview *v)
{
	if (!v->data)
		return;
	elf_end(v->elf);
	mapping_close(v->data, v->file->size);
	v->data = NULL;
}

/* libelf reports what is unpacked already as an error. */
static Elf_Data *unpacked(Elf_Scn *scn, const GElf_Shdr *shdr, bool old)
{
	Elf_Data *data;

	if (old)
		elf_compress_gnu(scn, 0, 0);
	else if ((shdr->sh_flags & SHF_COMPRESSED) && elf_compress(scn, 0, 0) < 0)
		return NULL;
	data = elf_getdata(scn, NULL);
	return data && data->d_buf && data->d_size ? data : NULL;
}

Elf_Data *elfview_section(const struct elfview *v, const char *name,
			  const char *packed_name)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(v->elf, scn))) {
		const char *called;
		bool old;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		called = elffile_section_name(v->file, &shdr);
		old = strcmp(called, packed_name) == 0;
		if (old || strcmp(called, name) == 0)
			return unpacked(scn, &shdr, old);
	}
	return NULL;
}
