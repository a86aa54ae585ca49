/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * newfile.h - a file that appears under its name only when it is complete
 */
#ifndef CPI_BASE_NEWFILE_H
#define CPI_BASE_NEWFILE_H

#include <stdbool.h>

struct newfile {
	int fd;       /* to write to */
	char *path;   /* where it will be; a symlink there was followed */
	char *beside; /* where it is so far; NULL: written in place */
};

/*
 * Makes an empty file in path's directory that only its owner can read. Returns its
 * descriptor, and its name in *name, which the caller frees; or -errno, and NULL.
 */
int newfile_beside(const char *path, char **name);

/*
 * Begins the new content of path in a file beside it, with the mode of the file that is
 * there, which stays until newfile_close(). These are written in place: devices and
 * FIFOs, files in a directory that may not be written to, and files whose name is too
 * long for a longer one. Returns 0, or -errno; then there is nothing to close.
 */
int newfile_open(const char *path, struct newfile *f);

/*
 * Puts the file at path if keep is set, else removes it. Returns 0, or -errno; then it
 * is removed as well.
 */
int newfile_close(struct newfile *f, bool keep);

#endif
