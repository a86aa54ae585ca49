/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfview.h - an ELF file as libdw reads it: mapped if that is safe
 */
#ifndef CPI_ANALYSIS_ELFVIEW_H
#define CPI_ANALYSIS_ELFVIEW_H

#include "analysis/image/elffile.h"

struct elfview {
	const struct elffile *file;
	Elf *elf;        /* the file's own, or that of the mapping */
	void *data;      /* the mapping, or NULL */
	uint64_t memory; /* bytes that its debugging sections need besides the file */
};

/*
 * Starts as { 0 }, and is closed also after a failure. A large file that nobody else
 * can write to is mapped. f must stay open. Returns 0, or -EFBIG if its debugging
 * sections that are not mapped need more than 1 GB of memory.
 */
int elfview_open(struct elffile *f, struct elfview *out);
void elfview_close(struct elfview *v);

/*
 * The bytes of the first section called name or packed_name (".zdebug_…"), unpacked.
 * NULL for none. They stay until the view is closed.
 */
Elf_Data *elfview_section(const struct elfview *v, const char *name,
			  const char *packed_name);

#endif
