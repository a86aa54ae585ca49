/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * splitfile.h - the files to which -gsplit-dwarf moves most of the DWARF
 *
 * A program's skeleton units name a .dwo file each; a package beside the program,
 * PROGRAM.dwp, may hold all of them.
 */
#ifndef CPI_ANALYSIS_SPLITFILE_H
#define CPI_ANALYSIS_SPLITFILE_H

#include "analysis/image/elfview.h"

/* The sections of a split unit, as libdw calls them. */
#define SPLIT_SECTIONS(X)                \
	X(INFO, ".debug_info")           \
	X(ABBREV, ".debug_abbrev")       \
	X(STR, ".debug_str")             \
	X(OFFSETS, ".debug_str_offsets") \
	X(LINE, ".debug_line")           \
	X(RANGES, ".debug_rnglists")

enum split_section {
#define SPLIT_ENUM(id, name) SPLIT_##id,
	SPLIT_SECTIONS(SPLIT_ENUM)
#undef SPLIT_ENUM
		SPLIT_NR
};

struct split_piece {
	const char *data; /* NULL: missing */
	size_t size;
};

struct splitfile {
	struct elffile *file;
	struct elfview view;
};

/*
 * *out starts as { 0 }; close it also after a failure. path is relative to directory
 * (which may be NULL) unless it begins with '/'. A package stays open and may be
 * mapped; a .dwo is read, up to max bytes, and takes no descriptor. 0, -ENOENT, -EFBIG
 * as elfview_open(), or -ENOMEM.
 */
int splitfile_open(const char *directory, const char *path, size_t max,
		   struct splitfile *out);
int splitfile_open_package(const char *path, struct splitfile *out);
void splitfile_close(struct splitfile *s);

/* Where the unit with this id has its sections; its strings are shared. 0 or -ENOENT.
 */
int splitfile_find(const struct splitfile *s, uint64_t id,
		   struct split_piece out[SPLIT_NR]);

#endif
