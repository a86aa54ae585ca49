/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libelf checks offsets and sizes against the size of the file. This does not limit
 * memory, because a sparse file can have any size; so this file has limits of its own.
 * Files with extended numbering of sections and segments (more than 65279) are refused
 * before libelf reads them: linkers do not make such executables, and libelf allocates
 * their tables without a limit.
 */
#include "config.h"

#include "analysis/image/elffile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/search.h"

#define MAX_SECTION_BYTES (1ULL << 30) /* all sections of one file */
#define MAX_NOTE_BYTES    (1u << 20)

static enum machine machine_of_elf(const GElf_Ehdr *ehdr)
{
	switch (ehdr->e_machine) {
	case EM_X86_64:
		return MACHINE_X86_64;
	case EM_AARCH64:
		return MACHINE_AARCH64;
	}
	return MACHINE_UNKNOWN;
}

/* Compares only with 0 and all ones, so the file's byte order does not matter. */
static int check_header(const struct elffile *f)
{
	static const uint8_t zero[8], ones[2] = { 0xff, 0xff };
	uint8_t h[sizeof(Elf64_Ehdr)];
	const size_t narrow = sizeof(Elf32_Ehdr);
	bool wide;

	if (f->size < SELFMAG || elffile_read(f, 0, h, SELFMAG) ||
	    memcmp(h, ELFMAG, SELFMAG) != 0)
		return -CPI_EFORMAT;
	if (f->size < narrow || elffile_read(f, 0, h, narrow))
		return -CPI_ECORRUPT;
	wide = h[EI_CLASS] == ELFCLASS64;
	if (wide && (f->size < sizeof(h) || elffile_read(f, 0, h, sizeof(h))))
		return -CPI_ECORRUPT;
	if (memcmp(h + (wide ? offsetof(Elf64_Ehdr, e_phnum)
			     : offsetof(Elf32_Ehdr, e_phnum)),
		   ones, 2) == 0)
		return -CPI_EFORMAT;
	if (memcmp(h + (wide ? offsetof(Elf64_Ehdr, e_shnum)
			     : offsetof(Elf32_Ehdr, e_shnum)),
		   zero, 2) == 0 &&
	    memcmp(h + (wide ? offsetof(Elf64_Ehdr, e_shoff)
			     : offsetof(Elf32_Ehdr, e_shoff)),
		   zero, wide ? 8 : 4) != 0)
		return -CPI_EFORMAT;
	return 0;
}

static uint64_t clip(const struct elffile *f, uint64_t offset, uint64_t size)
{
	if (offset >= f->size)
		return 0;
	return size < f->size - offset ? size : f->size - offset;
}

static int load_segments(struct elffile *f)
{
	size_t nr;

	if (elf_getphdrnum(f->elf, &nr) < 0)
		return -CPI_ECORRUPT;
	f->segment = calloc(nr + 1, sizeof(*f->segment));
	if (!f->segment)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct elfrange *r = &f->segment[f->nr_segments];
		GElf_Phdr p;

		if (!gelf_getphdr(f->elf, (int)i, &p))
			return -CPI_ECORRUPT;
		if (p.p_type != PT_LOAD)
			continue;
		*r = (struct elfrange){ p.p_vaddr, p.p_offset,
					clip(f, p.p_offset, p.p_filesz),
					p.p_flags & PF_X };
		if (r->size && r->address + r->size > r->address)
			f->nr_segments++;
	}
	return 0;
}

static int compare_address(const void *a, const void *b)
{
	const struct elfrange *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Stripped of their section headers, files still have executable segments. */
static int load_text(struct elffile *f)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr s;
	size_t nr = f->nr_segments, nr_sections;

	if (elf_getshdrnum(f->elf, &nr_sections) == 0)
		nr += nr_sections;
	f->text = calloc(nr + 1, sizeof(*f->text));
	if (!f->text)
		return -ENOMEM;
	while ((scn = elf_nextscn(f->elf, scn))) {
		struct elfrange *r = &f->text[f->nr_text];

		if (!gelf_getshdr(scn, &s) || s.sh_type == SHT_NOBITS ||
		    !(s.sh_flags & SHF_ALLOC) || !(s.sh_flags & SHF_EXECINSTR))
			continue;
		*r = (struct elfrange){ s.sh_addr, s.sh_offset,
					clip(f, s.sh_offset, s.sh_size), true };
		if (r->size && r->address + r->size > r->address)
			f->nr_text++;
	}
	for (size_t i = 0; !f->nr_text && i < f->nr_segments; i++)
		if (f->segment[i].exec)
			f->text[f->nr_text++] = f->segment[i];
	qsort(f->text, f->nr_text, sizeof(*f->text), compare_address);
	return 0;
}

/* Whether the table of section headers is inside the file. */
static bool has_section_headers(const struct elffile *f, const GElf_Ehdr *ehdr)
{
	const uint64_t size = (uint64_t)ehdr->e_shnum * ehdr->e_shentsize;

	return size && ehdr->e_shoff <= f->size && size <= f->size - ehdr->e_shoff;
}

/*
 * elf_strptr() would load a table of any size. Without names no section would be found,
 * so a file whose names or headers are there but cannot be read is an error.
 */
static int load_names(struct elffile *f, const GElf_Ehdr *ehdr)
{
	Elf_Scn *scn;
	size_t index;
	GElf_Shdr s;

	if (elf_getshdrstrndx(f->elf, &index) < 0)
		return 0;
	scn = elf_getscn(f->elf, index);
	if (!scn)
		return 0;
	if (!gelf_getshdr(scn, &s))
		return has_section_headers(f, ehdr) ? -EIO : 0;
	if (s.sh_type == SHT_STRTAB && s.sh_size <= f->budget &&
	    s.sh_offset <= f->size && s.sh_size <= f->size - s.sh_offset &&
	    !elf_getdata(scn, NULL))
		return -EIO;
	f->names = elffile_strings(f, scn, &f->names_size);
	return 0;
}

static int load_file(struct elffile *f, bool any_type)
{
	GElf_Ehdr ehdr;
	int err;

	err = check_header(f);
	if (err)
		return err;
	elf_version(EV_CURRENT);
	f->elf = f->memory ? elf_memory(f->memory, f->size)
			   : elf_begin(f->fd, ELF_C_READ, NULL);
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &ehdr))
		return -CPI_ECORRUPT;
	if (!any_type && ehdr.e_type != ET_EXEC && ehdr.e_type != ET_DYN)
		return -CPI_EFORMAT;
	f->machine = machine_of_elf(&ehdr);
	err = load_names(f, &ehdr);
	if (!err)
		err = load_segments(f);
	return err ? err : load_text(f);
}

static int open_either(int fd, void *memory, uint64_t size, bool any_type,
		       struct elffile **out)
{
	struct elffile *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->fd = fd;
	f->memory = memory;
	f->size = size;
	f->budget = MAX_SECTION_BYTES;
	err = load_file(f, any_type);
	if (err) {
		f->fd = -1;
		f->memory = NULL;
		elffile_close(f);
		return err;
	}
	*out = f;
	return 0;
}

static int open_fd(int fd, bool any_type, struct elffile **out)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return open_either(fd, NULL, (uint64_t)st.st_size, any_type, out);
}

int elffile_open_fd(int fd, struct elffile **out)
{
	return open_fd(fd, false, out);
}

int elffile_open_memory(void *bytes, size_t size, struct elffile **out)
{
	return open_either(-1, bytes, size, false, out);
}

int elffile_open_object_fd(int fd, struct elffile **out)
{
	return open_fd(fd, true, out);
}

int elffile_open_object_memory(void *bytes, size_t size, struct elffile **out)
{
	return open_either(-1, bytes, size, true, out);
}

void elffile_close(struct elffile *f)
{
	if (!f)
		return;
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	free(f->memory);
	free(f->segment);
	free(f->text);
	free(f);
}

char *elffile_path(const struct elffile *f)
{
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", f->fd);
	return f->fd < 0 ? NULL : realpath(link, NULL);
}

bool elfrange_offset_of(const struct elfrange *r, size_t nr, uint64_t address,
			uint64_t *offset)
{
	for (size_t i = 0; i < nr; i++) {
		if (address - r[i].address < r[i].size) {
			*offset = address - r[i].address + r[i].offset;
			return true;
		}
	}
	return false;
}

/* Of several segments with one byte of the file, the executable one is meant. */
bool elfrange_address_of(const struct elfrange *r, size_t nr, uint64_t offset,
			 uint64_t *address)
{
	const struct elfrange *found = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (offset - r[i].offset < r[i].size &&
		    (!found || (r[i].exec && !found->exec)))
			found = &r[i];
	}
	if (!found)
		return false;
	*address = offset - found->offset + found->address;
	return true;
}

bool elffile_offset_of(const struct elffile *f, uint64_t address, uint64_t *offset)
{
	return elfrange_offset_of(f->segment, f->nr_segments, address, offset);
}

bool elffile_address_of(const struct elffile *f, uint64_t offset, uint64_t *address)
{
	return elfrange_address_of(f->segment, f->nr_segments, offset, address);
}

const struct elfrange *elffile_text_at(const struct elffile *f, uint64_t address)
{
	const size_t low = SEARCH(i, f->nr_text, f->text[i].address > address);

	if (!low || address - f->text[low - 1].address >= f->text[low - 1].size)
		return NULL;
	return &f->text[low - 1];
}

const char *elffile_section_name(const struct elffile *f, const GElf_Shdr *shdr)
{
	return shdr->sh_name < f->names_size ? f->names + shdr->sh_name : "";
}

Elf_Scn *elffile_section(const struct elffile *f, const char *name, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(f->elf, scn)))
		if (gelf_getshdr(scn, shdr) &&
		    strcmp(elffile_section_name(f, shdr), name) == 0)
			return scn;
	return NULL;
}

Elf_Data *elffile_data(struct elffile *f, Elf_Scn *scn)
{
	GElf_Shdr s;
	Elf_Data *data;

	if (!gelf_getshdr(scn, &s) || s.sh_type == SHT_NOBITS ||
	    s.sh_size > f->budget || (s.sh_flags & SHF_COMPRESSED))
		return NULL;
	data = elf_getdata(scn, NULL);
	if (!data || !data->d_buf || !data->d_size)
		return NULL;
	f->budget -= s.sh_size;
	return data;
}

const char *elffile_strings(struct elffile *f, Elf_Scn *scn, size_t *size)
{
	Elf_Data *data = elffile_data(f, scn);
	const char *end;

	if (!data)
		return NULL;
	end = memrchr(data->d_buf, '\0', data->d_size);
	if (!end)
		return NULL;
	*size = (size_t)(end - (const char *)data->d_buf) + 1;
	return data->d_buf;
}

int elffile_read(const struct elffile *f, uint64_t offset, void *out, size_t size)
{
	if (offset > f->size || size > f->size - offset)
		return -CPI_ETRUNCATED;
	if (!f->memory)
		return file_pread(f->fd, out, size, (off_t)offset);
	memcpy(out, (const char *)f->memory + offset, size);
	return 0;
}

static size_t build_id_of_notes(const struct elffile *f, uint64_t offset, uint64_t size,
				Elf_Type type, uint8_t id[BUILD_ID_MAX])
{
	Elf_Data *data;
	GElf_Nhdr note;
	size_t at = 0, name, desc;

	if (!size || size > MAX_NOTE_BYTES)
		return 0;
	data = elf_getdata_rawchunk(f->elf, (int64_t)offset, size, type);
	if (!data)
		return 0;
	while ((at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		const char *bytes = data->d_buf;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp(bytes + name, "GNU", 4) != 0)
			continue;
		if (!note.n_descsz || note.n_descsz > BUILD_ID_MAX)
			return 0;
		memcpy(id, bytes + desc, note.n_descsz);
		return note.n_descsz;
	}
	return 0;
}

size_t elffile_build_id(const struct elffile *f, uint8_t id[BUILD_ID_MAX])
{
	uint64_t left = MAX_NOTE_BYTES;
	size_t nr = 0, size = 0;
	GElf_Phdr p;
	GElf_Shdr s;

	if (elf_getphdrnum(f->elf, &nr) < 0)
		nr = 0;
	for (size_t i = 0; i < nr && !size; i++) {
		if (!gelf_getphdr(f->elf, (int)i, &p) || p.p_type != PT_NOTE ||
		    p.p_filesz > left)
			continue;
		left -= p.p_filesz;
		size = build_id_of_notes(f, p.p_offset, p.p_filesz,
					 p.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR, id);
	}
	if (!size && elffile_section(f, ".note.gnu.build-id", &s) &&
	    s.sh_type == SHT_NOTE)
		size = build_id_of_notes(f, s.sh_offset, s.sh_size, ELF_T_NHDR, id);
	return size;
}
