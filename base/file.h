/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file.h - opening, reading and writing files that an attacker may have prepared
 */
#ifndef CPI_BASE_FILE_H
#define CPI_BASE_FILE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/buf.h"

/* Follows no symlink at the end, waits for no FIFO's writer, gets no terminal. */
#define FILE_OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

/* Takes over fd: returns it if it is a regular file, else closes it. Errors as below.
 */
int file_keep_regular(int fd, struct stat *st);

/*
 * Opens a regular file for reading without following a symlink at its end and
 * without waiting for a FIFO's writer. dirfd is openat()'s. Returns a descriptor,
 * -ELOOP for a symlink, -ENODEV for anything else that is not a regular file, or
 * -errno. st may be NULL; else *st gets the file's status.
 */
int file_open_regular(int dirfd, const char *path, struct stat *st);

/* Opens a directory with O_PATH. -ELOOP if any part of path is a symlink, or -errno. */
int file_open_dir(const char *path);

/*
 * Opens path below dirfd with O_PATH and flags, one part after the other, where
 * openat2() is missing: kernels before 5.6 have none, and in a unit with
 * RestrictSUIDSGID= it fails with ENOSYS. Follows no symlink: -ELOOP, or the link
 * itself if it is the last part and flags lack O_DIRECTORY. -EXDEV for "..", or -errno.
 */
int file_open_in_steps(int dirfd, const char *path, int flags);

/*
 * Opens a file for reading if everybody or user may read it by the modes of the file
 * and of each directory. The caller may have more rights than that, for example root's.
 * Symlinks in the path's directory are followed, one at its end is not. A descriptor,
 * -EACCES or -errno.
 */
int file_open_as(const char *path, uid_t user);

/*
 * Replaces the file called name in a directory atomically: a reader sees all of the old
 * content or all of the new one, whoever else writes it. A symlink of that name is
 * replaced, not followed. A writer that is killed may leave .name.RANDOM.tmp there.
 * Returns 0 or -errno.
 */
int file_replace(int dirfd, const char *name, mode_t mode, const void *data,
		 size_t size);

/*
 * Appends a file, which may be virtual, to out. Follows symlinks and opens files of any
 * kind, so only for trusted paths. 0, -EFBIG above max bytes, or -errno.
 */
int file_read_all(int dirfd, const char *path, size_t max, struct buf *out);

/* Reads exactly size bytes at off. 0, -errno, or -CPI_ETRUNCATED. */
int file_pread(int fd, void *data, size_t size, off_t off);

/*
 * Makes an empty file with this mode, whatever the umask is. 0 or -errno; -EEXIST where
 * anything is at path.
 */
int file_create(const char *path, mode_t mode);

/* Waits until the file's content is on the disk. 0 or -errno. */
int file_sync(const char *path);

/* The same of its folder: that the file is there, or is not. */
int file_sync_folder(const char *path);

/* Whether both are the same file. */
bool file_same(const struct stat *a, const struct stat *b);

/* Which file it is, and how it was when it was looked at. All 0: no file. */
struct file_stamp {
	uint64_t device, inode, size, mtime_ns, ctime_ns;
};

struct file_stamp file_stamp_of(const struct stat *st);

/* Closes every descriptor from first on. Safe after a fork() beside threads. */
void file_close_from(int first);

/* Writes all of it. 0 or -errno. */
int file_write(int fd, const void *data, size_t size);

#endif
