/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitimage.c - an ELF file in memory with two sections, .eh_frame and its name
 *
 * The file is written in one piece: its head, then a hole where the code would be, then
 * the tables. The hole is never written, so it takes no memory.
 */
#include "config.h"

#include "daemon/jit/jitimage.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "daemon/os/arch.h"

#define NAMES "\0.eh_frame\0.shstrtab"

enum { NAME_TABLES = 1, NAME_NAMES = 11 };
enum { SECTION_NONE, SECTION_TABLES, SECTION_NAMES, NR_SECTIONS };

struct jitimage {
	uint64_t tables_at;
	size_t tables_size;
	struct head { /* of the file */
		Elf64_Ehdr elf;
		Elf64_Phdr load;
		Elf64_Shdr section[NR_SECTIONS];
		char names[sizeof(NAMES)];
	} head;
	char tables[];
};

_Static_assert(sizeof(struct head) <= JITIMAGE_CODE_AT, "the code is behind");

static void make_head(struct jitimage *i)
{
	i->head = (struct head){
		.elf = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
				     ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN,
			.e_machine = arch_native.elf_machine,
			.e_version = EV_CURRENT,
			.e_phoff = offsetof(struct head, load),
			.e_shoff = offsetof(struct head, section),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = NR_SECTIONS,
			.e_shstrndx = SECTION_NAMES,
		},
		.load = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_filesz = i->tables_at + i->tables_size,
			.p_memsz = i->tables_at + i->tables_size,
		},
		.section[SECTION_TABLES] = {
			.sh_name = NAME_TABLES,
			.sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC,
			.sh_addr = i->tables_at,
			.sh_offset = i->tables_at,
			.sh_size = i->tables_size,
			.sh_addralign = 8,
		},
		.section[SECTION_NAMES] = {
			.sh_name = NAME_NAMES,
			.sh_type = SHT_STRTAB,
			.sh_offset = offsetof(struct head, names),
			.sh_size = sizeof(NAMES),
			.sh_addralign = 1,
		},
		.names = NAMES,
	};
}

struct jitimage *jitimage_new(uint64_t code_size, size_t tables_size)
{
	struct jitimage *i = malloc(sizeof(*i) + tables_size);

	if (!i)
		return NULL;
	i->tables_at = JITIMAGE_CODE_AT + ((code_size + 7) & ~(uint64_t)7);
	i->tables_size = tables_size;
	make_head(i);
	return i;
}

void jitimage_free(struct jitimage *i)
{
	free(i);
}

void *jitimage_tables(struct jitimage *i)
{
	return i->tables;
}

int jitimage_open(const struct jitimage *i)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE,
		  fd = memfd_create("jit", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int err;

	if (fd < 0)
		return -errno;
	err = file_write(fd, &i->head, sizeof(i->head));
	if (!err && lseek(fd, (off_t)i->tables_at, SEEK_SET) < 0)
		err = -errno;
	if (!err)
		err = file_write(fd, i->tables, i->tables_size);
	if (!err && fcntl(fd, F_ADD_SEALS, seals))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}
