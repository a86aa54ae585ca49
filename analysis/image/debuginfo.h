/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debuginfo.h - a file's DWARF, and the unit of each address
 *
 * A large file that no other user can write to is mapped, so only the needed parts are
 * read. All other data are read completely. Compressed sections take the memory of
 * their decompressed size. If a file needs more than 1 GB for this, DWARF is not used.
 *
 * libdw (0.188) trusts its input, so this file checks that strings end in their section
 * and that a unit does not have too many lines. libdw opens no file by itself.
 */
#ifndef CPI_ANALYSIS_DEBUGINFO_H
#define CPI_ANALYSIS_DEBUGINFO_H

#include <elfutils/libdw.h>

#include "analysis/image/elffile.h"

struct debuginfo;

/*
 * Reads the table of units and addresses. alternate is the file to which dwz moved
 * common parts, or NULL. Both must stay open. Returns 0, -ENOENT when f has no lines,
 * -CPI_ENOIMAGE when it lacks its alternate file, -EFBIG for more than 1 GB, -ENOTSUP
 * when libelf cannot unpack it, -CPI_ECORRUPT, or -ENOMEM.
 */
int debuginfo_open(struct elffile *f, struct elffile *alternate,
		   struct debuginfo **out);
void debuginfo_close(struct debuginfo *d); /* accepts NULL */

/* Whether the DIEs of a requested unit were not found (a .dwo file). */
bool debuginfo_lacks_units(const struct debuginfo *d);

/*
 * Drops the lines of units if there are too many. Invalidates DIEs and files that were
 * given out, so call it only when a question begins.
 */
void debuginfo_trim(struct debuginfo *d);

/* Units are numbered from 0. */
size_t debuginfo_nr_units(const struct debuginfo *d);

/* The unit that holds a link-time address; false if there is none. */
bool debuginfo_unit_at(const struct debuginfo *d, uint64_t address, uint32_t *unit);

/* The unit's outermost DIE (of a split unit: the skeleton's). False when damaged. */
bool debuginfo_die(struct debuginfo *d, uint32_t unit, Dwarf_Die *out);

/* The same, but for a split unit that of its own DIEs, which may be missing. */
bool debuginfo_tree(struct debuginfo *d, uint32_t unit, Dwarf_Die *out);

/* As dwarf_ranges(), for a DIE of the unit's tree. */
ptrdiff_t debuginfo_ranges(const struct debuginfo *d, uint32_t unit, Dwarf_Die *die,
			   ptrdiff_t at, Dwarf_Addr *base, Dwarf_Addr *start,
			   Dwarf_Addr *end);

/* Reads the unit's line program, within bounds; die is the unit's. */
bool debuginfo_load_rows(struct debuginfo *d, uint32_t unit, Dwarf_Die *die);

/* All line programs of the file; NULL for none. */
const uint8_t *debuginfo_lines(const struct debuginfo *d, size_t *size);

/* The unit's files, by the numbers in its DIEs; NULL if there are none. */
Dwarf_Files *debuginfo_files(struct debuginfo *d, uint32_t unit);

/*
 * The name of one of the unit's files; the unit's directory, if known, is put before a
 * relative name. The string belongs to d; NULL when out of memory.
 */
const char *debuginfo_full_name(struct debuginfo *d, uint32_t unit, const char *name);

/* A unit's string; NULL if there is none or it does not end. */
const char *debuginfo_string(const struct debuginfo *d, uint32_t unit,
			     Dwarf_Attribute *attr);

#endif
