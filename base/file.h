/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file.h - files that others may have prepared
 */
#ifndef CPI_BASE_FILE_H
#define CPI_BASE_FILE_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/buf.h"

/* Neither a symlink at the end nor a FIFO's missing writer, nor a terminal. */
#define FILE_OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

/* Takes fd over: returns it when it is a regular file, else closes it; as below. */
int file_keep_regular(int fd, struct stat *st);

/*
 * Opens a regular file for reading without following a symlink at its end and
 * without waiting for a FIFO's writer. dirfd as for openat. Returns a
 * descriptor, or -errno; -ENODEV for what is no regular file, -ELOOP for a
 * symlink. *st, when not NULL, gets the open file's status.
 */
int file_open_regular(int dirfd, const char *path, struct stat *st);

/*
 * The same, with path resolved below the directory rootfd as if that were "/",
 * through no symlink and no magic link at all: for names that the kernel
 * reported, of processes that nobody trusts.
 */
int file_open_in_root(int rootfd, const char *path, struct stat *st);

/* A directory, to work in; -ELOOP when the path leads through a symlink, or -errno. */
int file_open_dir(const char *path);

/*
 * Makes the file name of the directory have this content and this mode, at once:
 * whoever reads it sees all of the old one or of the new one. A symlink there is
 * replaced itself. What is called .name.tmp there goes. 0 or -errno.
 */
int file_replace(int dirfd, const char *name, mode_t mode, const void *data,
		 size_t size);

/* Appends at most max bytes of a (possibly virtual) file. 0, -errno, -EFBIG. */
int file_read_all(int dirfd, const char *path, size_t max, struct buf *out);

/* Reads exactly size bytes at off. 0, -errno, or -CPI_ETRUNCATED. */
int file_pread(int fd, void *data, size_t size, off_t off);

/* Writes all of it. 0 or -errno. */
int file_write(int fd, const void *data, size_t size);

#endif
