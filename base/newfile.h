/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * newfile.h - a file that gets its name when it is whole
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
 * A new, empty file beside path, for its owner alone. Returns its descriptor, and its
 * name, which the caller frees; -errno, and NULL.
 */
int newfile_beside(const char *path, char **name);

/*
 * Begins what will be path, beside it; what is there stays until the end, and gives its
 * mode. Written in place are devices, FIFOs and the like, files of directories that
 * are not for writing, and those whose name has no room for more. 0 or -errno; then
 * there is nothing to end.
 */
int newfile_open(const char *path, struct newfile *f);

/* Ends it: in path's place with keep, else gone. 0; -errno, and it is gone, too. */
int newfile_close(struct newfile *f, bool keep);

#endif
