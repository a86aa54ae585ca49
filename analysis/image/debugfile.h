/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debugfile.h - finds the debug files of stripped files
 */
#ifndef CPI_ANALYSIS_DEBUGFILE_H
#define CPI_ANALYSIS_DEBUGFILE_H

#include "analysis/image/elffile.h"

/* The folder in which distributions install debug files. */
#define DEBUGFILE_ROOT "/usr/lib/debug"

/*
 * Finds f's separate debug file: by build id below root, then by .gnu_debuglink beside
 * path (unless that is NULL), in .debug beside it, and below root in path's directory.
 * It must have f's build id or, if f has none, the checksum of the link, and must not
 * be f itself. Returns 0, -ENOENT, or -ENOMEM.
 */
int debugfile_find(struct elffile *f, const char *path, const char *root,
		   struct elffile **out);

/*
 * The same in all places: in search's directory, below DEBUGFILE_ROOT, and through
 * search's fetch. path (of the image) and search may be NULL.
 */
int debugfile_search(struct elffile *f, const char *path,
		     const struct image_search *search, struct elffile **out);
/* The same by a build id alone, for a file that is gone. */
int debugfile_search_id(const uint8_t *id, size_t id_size,
			const struct image_search *search, struct elffile **out);
/* The same for the file to which dwz moved parts of f's DWARF. */
int debugfile_search_alternate(struct elffile *f, const char *path,
			       const struct image_search *search, struct elffile **out);

/* Unpacks .gnu_debugdata: a symbol table in an ELF file. As above. */
int debugfile_unpack(struct elffile *f, struct elffile **out);

#endif
