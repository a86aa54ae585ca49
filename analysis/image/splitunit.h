/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * splitunit.h - one split unit as a DWARF file of its own, for libdw
 */
#ifndef CPI_ANALYSIS_SPLITUNIT_H
#define CPI_ANALYSIS_SPLITUNIT_H

#include <elfutils/libdw.h>

#include "analysis/image/splitfile.h"

/* A program's description of a unit that is in another file. */
struct skeleton {
	uint64_t id;
	const char *name, *directory; /* of the .dwo; directory may be NULL */
	uint64_t address;             /* where the unit begins */
	struct split_piece addresses; /* its part of .debug_addr */
	struct split_piece ranges;    /* DWARF 4: its part of .debug_ranges */
};

/*
 * False when die is no skeleton. The strings are left to the caller, who checks them;
 * directory->cu is NULL where there is none.
 */
bool skeleton_read(Dwarf_Die *die, const struct elfview *main, struct skeleton *out,
		   Dwarf_Attribute *name, Dwarf_Attribute *directory);

struct splitunit {
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_Die die;
	void *image; /* the file in memory: headers and names */
	size_t size;
	uint64_t address;
	struct split_piece pieces[SPLIT_NR];
};

/*
 * Makes one unit of its skeleton and its pieces. The bytes of both must outlive it. 0,
 * -ENOENT, -ENOMEM.
 */
int splitunit_open(const struct skeleton *s, const struct split_piece pieces[SPLIT_NR],
		   const struct elfview *main, struct splitunit **out);
void splitunit_close(struct splitunit *u); /* accepts NULL */

/*
 * As dwarf_ranges(): at is 0 first. DIEs of the unit have addresses relative to its
 * skeleton's, which libdw does not see.
 */
ptrdiff_t splitunit_ranges(const struct splitunit *u, Dwarf_Die *die, ptrdiff_t at,
			   Dwarf_Addr *base, Dwarf_Addr *start, Dwarf_Addr *end);

#endif
