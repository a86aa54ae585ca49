/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines.h - source lines, from a file's debugging information
 */
#ifndef CPI_ANALYSIS_LINES_H
#define CPI_ANALYSIS_LINES_H

#include "analysis/elffile.h"

struct lines;

/*
 * Reads which unit of f's DWARF has which addresses. alternate is the file that
 * dwz moved common parts to, or NULL. Both must stay open. Returns 0, -ENOENT
 * when f says nothing about lines (or lacks its alternate file), or -ENOMEM.
 */
int lines_open(struct elffile *f, struct elffile *alternate, struct lines **out);
void lines_close(struct lines *l); /* accepts NULL */

/* The line of a link-time address; { NULL, 0 } for none. Names are l's. */
struct line lines_at(struct lines *l, uint64_t address);

#endif
