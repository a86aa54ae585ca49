/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfsyms.h - the procedures of an ELF file, in image offsets
 */
#ifndef CPI_ANALYSIS_ELFSYMS_H
#define CPI_ANALYSIS_ELFSYMS_H

#include "analysis/image/elffile.h"
#include "analysis/image/symtab.h"

/*
 * Fills the empty t from the symbol tables of all files, main's PLT and, for code that
 * neither covers, frame descriptions. The other files are debug files of main (NULL:
 * there are none); all must stay open as long as t. Returns 0, -ENOMEM, or
 * another -errno if a file cannot be read.
 */
int elfsyms_load(struct elffile *main, struct elffile *const *others, size_t nr_others,
		 struct symtab *t);

#endif
