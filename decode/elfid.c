/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfid.c - reads the build id and hashes the executable segments
 *
 * Uses only program headers, because section headers may be stripped. libelf checks all
 * offsets against the size of the file. The file is read, not mapped, because it may
 * shrink meanwhile.
 */
#include "config.h"

#include "decode/elfid.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <nettle/sha2.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"

#define NOTES_MAX  65536
#define PHDRS_MAX  4096
#define CHUNK_SIZE 4096

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

static int hash_bytes_at(int fd, uint64_t at, uint64_t size, struct sha256_ctx *hash)
{
	uint8_t chunk[CHUNK_SIZE];
	int err = 0;

	while (size && !err) {
		size_t n = size < sizeof(chunk) ? size : sizeof(chunk);

		err = file_pread(fd, chunk, n, at);
		if (!err)
			sha256_update(hash, n, chunk);
		at += n;
		size -= n;
	}
	return err;
}

/*
 * All of a segment, or ELFID_SPREAD chunks evenly spread over it. The segment's
 * address and size are hashed, too.
 */
static int hash_segment(int fd, const GElf_Phdr *ph, bool spread,
			struct sha256_ctx *hash)
{
	uint64_t step = ph->p_filesz / ELFID_SPREAD;
	int err = 0;

	sha256_update(hash, sizeof(ph->p_vaddr), (const uint8_t *)&ph->p_vaddr);
	sha256_update(hash, sizeof(ph->p_filesz), (const uint8_t *)&ph->p_filesz);
	if (!spread || step <= CHUNK_SIZE)
		return hash_bytes_at(fd, ph->p_offset, ph->p_filesz, hash);
	for (uint64_t i = 0; i < ELFID_SPREAD && !err; i++)
		err = hash_bytes_at(fd, ph->p_offset + i * step, CHUNK_SIZE, hash);
	return err;
}

/* Calls fn for each program header until it returns non-zero, which is returned. */
static int each_header(Elf *elf, int (*fn)(void *ctx, const GElf_Phdr *ph), void *ctx)
{
	size_t nr;
	int err = 0;

	if (elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &nr))
		return -CPI_EFORMAT;
	if (nr > PHDRS_MAX)
		return -CPI_ELIMIT;
	for (size_t i = 0; i < nr && !err; i++) {
		GElf_Phdr ph;

		err = gelf_getphdr(elf, i, &ph) ? fn(ctx, &ph) : -CPI_ECORRUPT;
	}
	return err;
}

struct elfid_reader {
	int fd;
	Elf *elf;
	struct elfid id;
	struct sha256_ctx hash;
	uint64_t total; /* bytes of executable segments so far ... */
	int nr;         /* ... and how many these are */
};

static int on_note(void *ctx, const GElf_Phdr *ph)
{
	struct elfid_reader *r = ctx;

	if (ph->p_type == PT_NOTE && !r->id.build_id_size)
		read_notes(r->elf, ph, &r->id);
	return 0;
}

static int on_segment(void *ctx, const GElf_Phdr *ph)
{
	struct elfid_reader *r = ctx;

	if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
		return 0;
	if (++r->nr > ELFID_MAX_SEGMENTS || ph->p_filesz > ELFID_MAX_BYTES ||
	    (r->total += ph->p_filesz) > ELFID_MAX_BYTES)
		return -CPI_ELIMIT;
	return hash_segment(r->fd, ph,
			    r->id.build_id_size || r->total > ELFID_WHOLE_BYTES,
			    &r->hash);
}

int elfid_read(int fd, struct elfid *out)
{
	struct elfid_reader r = { .fd = fd };
	int err;

	elf_version(EV_CURRENT);
	r.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!r.elf)
		return -CPI_EFORMAT;
	sha256_init(&r.hash);
	err = each_header(r.elf, on_note, &r);
	if (!err)
		err = each_header(r.elf, on_segment, &r);
	elf_end(r.elf);
	if (err)
		return err;
	sha256_digest(&r.hash, sizeof(r.id.content), r.id.content);
	*out = r.id;
	return 0;
}
