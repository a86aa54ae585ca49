/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Program headers only: section headers may be stripped, and the daemon parses
 * nothing that it does not need. libelf checks what it hands out against the
 * size of the file; the file is read, not mapped, for it may shrink meanwhile.
 */
#include "config.h"

#include "daemon/elfid.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"

#define NOTES_MAX  65536
#define PHDRS_MAX  4096
#define CHUNK_SIZE 65536

static size_t align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

int elfid_from_notes(const void *notes, size_t size, uint8_t build_id[BUILD_ID_MAX],
		     uint8_t *build_id_size)
{
	const uint8_t *p = notes;

	while (size >= sizeof(Elf64_Nhdr)) { /* the same for 32 bits */
		Elf64_Nhdr h;
		size_t name, desc;

		memcpy(&h, p, sizeof(h));
		p += sizeof(h);
		size -= sizeof(h);
		if (h.n_namesz > size || h.n_descsz > size)
			break;
		name = align4(h.n_namesz);
		desc = align4(h.n_descsz);
		if (name > size || h.n_descsz > size - name)
			break;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    !memcmp(p, "GNU", 4) && h.n_descsz && h.n_descsz <= BUILD_ID_MAX) {
			memcpy(build_id, p + name, h.n_descsz);
			*build_id_size = h.n_descsz;
			return 0;
		}
		if (desc > size - name)
			break;
		p += name + desc;
		size -= name + desc;
	}
	return -ENOENT;
}

static void read_notes(Elf *elf, const GElf_Phdr *ph, struct elfid *id)
{
	Elf_Data *data;

	if (ph->p_filesz > NOTES_MAX)
		return;
	data = elf_getdata_rawchunk(elf, ph->p_offset, ph->p_filesz, ELF_T_BYTE);
	if (data)
		elfid_from_notes(data->d_buf, data->d_size, id->build_id,
				 &id->build_id_size);
}

static int hash_segment(int fd, const GElf_Phdr *ph, struct sha256_ctx *hash)
{
	uint8_t *chunk = malloc(CHUNK_SIZE);
	uint64_t left = ph->p_filesz, at = ph->p_offset;
	int err = 0;

	if (!chunk)
		return -ENOMEM;
	/* Where the bytes stand is part of what they are. */
	sha256_update(hash, sizeof(ph->p_vaddr), (const uint8_t *)&ph->p_vaddr);
	while (left && !err) {
		size_t n = left < CHUNK_SIZE ? left : CHUNK_SIZE;

		err = file_pread(fd, chunk, n, at);
		if (!err)
			sha256_update(hash, n, chunk);
		at += n;
		left -= n;
	}
	free(chunk);
	return err;
}

static int read_segments(int fd, Elf *elf, struct elfid *id)
{
	uint64_t total = 0;
	struct sha256_ctx hash;
	size_t nr;
	int err = 0;

	if (elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &nr))
		return -CPI_EFORMAT;
	if (nr > PHDRS_MAX)
		return -CPI_ELIMIT;
	sha256_init(&hash);
	for (size_t i = 0; i < nr && !err; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, i, &ph))
			return -CPI_ECORRUPT;
		if (ph.p_type == PT_NOTE && !id->build_id_size) {
			read_notes(elf, &ph, id);
		} else if (ph.p_type == PT_LOAD && ph.p_flags & PF_X) {
			if (ph.p_filesz > ELFID_MAX_BYTES ||
			    (total += ph.p_filesz) > ELFID_MAX_BYTES)
				return -CPI_ELIMIT;
			err = hash_segment(fd, &ph, &hash);
		}
	}
	sha256_digest(&hash, sizeof(id->content), id->content);
	return err;
}

int elfid_read(int fd, struct elfid *out)
{
	struct elfid id = { 0 };
	Elf *elf;
	int err;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return -CPI_EFORMAT;
	err = read_segments(fd, elf, &id);
	elf_end(elf);
	if (!err)
		*out = id;
	return err;
}
