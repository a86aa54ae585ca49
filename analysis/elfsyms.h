/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfsyms.h - the procedures of an ELF file, in image offsets
 */
#ifndef CPI_ANALYSIS_ELFSYMS_H
#define CPI_ANALYSIS_ELFSYMS_H

#include "analysis/elffile.h"
#include "analysis/symtab.h"

/*
 * Fills the empty t: symbol tables of all files, main's PLT, and frame
 * descriptions where neither says anything. The other files are debug files of
 * main (NULL where there are none); all must stay open as long as t. 0, -ENOMEM.
 */
int elfsyms_load(struct elffile *main, struct elffile *const *others, size_t nr_others,
		 struct symtab *t);

#endif
