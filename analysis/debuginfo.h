/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debuginfo.h - a file's DWARF, and which unit of it has an address
 *
 * A large file that nobody else can write to is mapped: of it only what is asked for
 * is read. Everything else is read whole; so are compressed sections, which take the
 * memory of what they unpack to. Together that is at most 1 GB, else there is no DWARF.
 *
 * What libdw (0.188) takes on trust is checked here: strings end in their section, a
 * unit's lines are few enough. libdw opens no file: it is given all that it may read.
 */
#ifndef CPI_ANALYSIS_DEBUGINFO_H
#define CPI_ANALYSIS_DEBUGINFO_H

#include <elfutils/libdw.h>

#include "analysis/elffile.h"

struct debuginfo;

/*
 * Reads which unit has which addresses. alternate is the file that dwz moved common
 * parts to, or NULL. Both must stay open. Returns 0, -ENOENT when f has no lines,
 * -CPI_ENOIMAGE when it lacks its alternate file, -EFBIG for more than 1 GB, -ENOTSUP
 * when libelf cannot unpack it, -CPI_ECORRUPT, or -ENOMEM.
 */
int debuginfo_open(struct elffile *f, struct elffile *alternate,
		   struct debuginfo **out);
void debuginfo_close(struct debuginfo *d); /* accepts NULL */

/* Whether the DIEs of a unit that was asked for could not be found (a .dwo file). */
bool debuginfo_lacks_units(const struct debuginfo *d);

/*
 * Forgets the lines of units when they are too many; DIEs and files that were given
 * out are gone then. For the beginning of a question.
 */
void debuginfo_trim(struct debuginfo *d);

/* Units are numbered from 0. */
size_t debuginfo_nr_units(const struct debuginfo *d);

/* The unit around a link-time address; false for none. */
bool debuginfo_unit_at(const struct debuginfo *d, uint64_t address, uint32_t *unit);

/* The unit's outermost DIE (of a split unit: the skeleton's). False when damaged. */
bool debuginfo_die(struct debuginfo *d, uint32_t unit, Dwarf_Die *out);

/* The same, but of a split unit where its DIEs are; they may be nowhere. */
bool debuginfo_tree(struct debuginfo *d, uint32_t unit, Dwarf_Die *out);

/* As dwarf_ranges(), for a DIE of the unit's tree. */
ptrdiff_t debuginfo_ranges(const struct debuginfo *d, uint32_t unit, Dwarf_Die *die,
			   ptrdiff_t at, Dwarf_Addr *base, Dwarf_Addr *start,
			   Dwarf_Addr *end);

/* Reads the unit's line program, within bounds; die is the unit's. */
bool debuginfo_load_rows(struct debuginfo *d, uint32_t unit, Dwarf_Die *die);

/* All line programs of the file; NULL for none. */
const uint8_t *debuginfo_lines(const struct debuginfo *d, size_t *size);

/* The unit's files, by the numbers that its DIEs have; NULL when there are none. */
Dwarf_Files *debuginfo_files(struct debuginfo *d, uint32_t unit);

/*
 * A name of one of the unit's files with the unit's directory before it, where it is
 * relative and that is known. The string is d's; NULL when out of memory.
 */
const char *debuginfo_full_name(struct debuginfo *d, uint32_t unit, const char *name);

/* What a unit's string says; NULL for none, and for one that does not end. */
const char *debuginfo_string(const struct debuginfo *d, uint32_t unit,
			     Dwarf_Attribute *attr);

#endif
