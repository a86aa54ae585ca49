/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * newfile.h - a file that appears under its name only when it is complete
 */
#ifndef CPI_BASE_NEWFILE_H
#define CPI_BASE_NEWFILE_H

#include <stdbool.h>

struct newfile {
	int fd;       /* to write to; newfile_close() closes it */
	char *path;   /* the final path; a symlink to a file was followed */
	char *beside; /* the temporary path; NULL if the file is written in place */
};

/*
 * Makes an empty file in path's directory that only its owner can read. Returns its
 * descriptor and, in *name, its name, which the caller frees; or -errno, and NULL.
 */
int newfile_beside(const char *path, char **name);

/*
 * Begins the new content of path in a file beside it, with the old file's mode. The old
 * file stays until newfile_close(). Devices and FIFOs, files in a directory without the
 * right to write, and files whose name is too long to be extended are written in place.
 * Returns 0, or -errno; then there is nothing to close.
 */
int newfile_open(const char *path, struct newfile *f);

/*
 * Renames the file to path if keep is set, else removes it. Returns 0, or -errno; then
 * it is removed as well.
 */
int newfile_close(struct newfile *f, bool keep);

#endif
