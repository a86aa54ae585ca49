/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_sums.c - checksums of source files, from any .debug_line
 *
 * An input is that section, of a file with one unit of DWARF 5 and nothing else. The
 * corpus is from .debug_line of clang 19, 32-bit and 64-bit, and of gcc 12.
 */
#include "config.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/image/image.h"
#include "base/buf.h"
#include "base/file.h"
#include "t/fuzz/fuzz.h"

enum section { NONE, ABBREV, INFO, LINES, STRINGS, NAMES, NR_SECTIONS };

/* A unit, its directory, and where its lines begin. */
static const uint8_t abbrev[] = {
	1,
	DW_TAG_compile_unit,
	0,
	DW_AT_comp_dir,
	DW_FORM_string,
	DW_AT_stmt_list,
	DW_FORM_sec_offset,
	0,
	0,
	0,
};
static const uint8_t info[] = {
	18, 0,   0,   0,   5,   0, DW_UT_compile,
	8,  0,   0,   0,   0, /* header */
	1,  '/', 's', 'r', 'c', 0, 0,
	0,  0,   0,
};
static const char strings[] = "/src\0a.c\0/usr/include\0b.h";
static const char names[] =
	"\0.debug_abbrev\0.debug_info\0.debug_line\0.debug_line_str\0"
	".shstrtab";

static void put_section(struct buf *file, Elf64_Shdr *header, const char *name,
			const void *data, size_t size)
{
	header->sh_name = (Elf64_Word)(name - names);
	header->sh_type = SHT_PROGBITS;
	header->sh_offset = file->len;
	header->sh_size = size;
	header->sh_addralign = 1;
	if (size)
		buf_put(file, data, size);
}

static const char *name_of(const char *text)
{
	return memmem(names, sizeof(names), text, strlen(text) + 1);
}

static void make_file(struct buf *file, const uint8_t *lines, size_t size)
{
	Elf64_Shdr section[NR_SECTIONS] = { { .sh_type = SHT_NULL } };
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
		.e_shoff = sizeof(header),
		.e_shentsize = sizeof(*section),
		.e_shnum = NR_SECTIONS,
		.e_shstrndx = NAMES,
	};

	buf_put(file, &header, sizeof(header));
	buf_put(file, section, sizeof(section));
	put_section(file, &section[ABBREV], name_of(".debug_abbrev"), abbrev,
		    sizeof(abbrev));
	put_section(file, &section[INFO], name_of(".debug_info"), info, sizeof(info));
	put_section(file, &section[LINES], name_of(".debug_line"), lines, size);
	put_section(file, &section[STRINGS], name_of(".debug_line_str"), strings,
		    sizeof(strings));
	put_section(file, &section[NAMES], name_of(".shstrtab"), names, sizeof(names));
	section[NAMES].sh_type = SHT_STRTAB;
	fuzz_check(!file->err);
	memcpy(file->data + sizeof(header), section, sizeof(section));
}

static int on_sum(void *ctx, const char *file, const uint8_t sum[IMAGE_SUM_SIZE])
{
	uint8_t *last = ctx;

	fuzz_check(*file);
	memcpy(last, sum, IMAGE_SUM_SIZE);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_desc desc = { .kind = IMAGE_FILE, .name = "fuzz" };
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	uint8_t last[IMAGE_SUM_SIZE];
	struct buf file = { 0 };
	struct image *im;

	make_file(&file, data, size);
	fuzz_check(fd >= 0 && file_write(fd, file.data, file.len) == 0);
	buf_fini(&file);
	fuzz_check(image_open_fd(&desc, fd, NULL, &im) == 0);
	fuzz_check(image_each_sum(im, on_sum, last) == 0);
	image_close(im);
	return 0;
}
