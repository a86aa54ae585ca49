/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file.c - opens, reads, writes and replaces files with care
 *
 * Every call that a signal can interrupt is repeated, and short reads and writes are
 * continued. Opening never waits and never follows a symlink at the end of a path.
 */
#include "config.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"

int file_keep_regular(int fd, struct stat *st)
{
	struct stat own;
	int err = 0;

	if (fstat(fd, &own) < 0)
		err = -errno;
	else if (!S_ISREG(own.st_mode))
		err = -ENODEV;
	if (err) {
		close(fd);
		return err;
	}
	if (st)
		*st = own;
	return fd;
}

int file_open_dir(const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

static int write_new(int dirfd, const char *name, mode_t mode, const void *data,
		     size_t size)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int err;

	if (fd < 0)
		return -errno;
	err = file_write(fd, data, size);
	if (!err && fchmod(fd, mode) < 0)
		err = -errno;
	if (close(fd) < 0 && !err)
		err = -errno;
	return err;
}

int file_replace(int dirfd, const char *name, mode_t mode, const void *data,
		 size_t size)
{
	char temporary[NAME_MAX + 1];
	int err;

	if (snprintf(temporary, sizeof(temporary), ".%s.tmp", name) > NAME_MAX)
		return -ENAMETOOLONG;
	unlinkat(dirfd, temporary, 0); /* left by a writer that was killed */
	err = write_new(dirfd, temporary, mode, data, size);
	if (!err && renameat(dirfd, temporary, dirfd, name) < 0)
		err = -errno;
	if (err && err != -EEXIST)
		unlinkat(dirfd, temporary, 0);
	return err;
}

int file_read_all(int dirfd, const char *path, size_t max, struct buf *out)
{
	const size_t start = out->len;
	int fd, err = 0;

	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	for (;;) {
		size_t want = out->cap - out->len > 4096 ? out->cap - out->len : 65536;
		char *to = buf_reserve(out, want);
		ssize_t got;

		if (!to) {
			err = out->err;
			break;
		}
		got = read(fd, to, want);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			err = got < 0 ? -errno : 0;
			break;
		}
		out->len += got;
		if (out->len - start > max) {
			err = -EFBIG;
			break;
		}
	}
	if (err)
		out->len = start;
	close(fd);
	return err;
}

int file_pread(int fd, void *data, size_t size, off_t off)
{
	char *to = data;

	while (size) {
		ssize_t got = pread(fd, to, size, off);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return -CPI_ETRUNCATED;
		to += got;
		off += got;
		size -= got;
	}
	return 0;
}

int file_write(int fd, const void *data, size_t size)
{
	const char *from = data;

	while (size) {
		ssize_t put = write(fd, from, size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		from += put;
		size -= put;
	}
	return 0;
}

int file_create(const char *path, mode_t mode)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int err;

	if (fd < 0)
		return -errno;
	err = fchmod(fd, mode) < 0 ? -errno : 0;
	close(fd);
	return err;
}

static int sync_path(const char *path, int flags)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | flags), err;

	if (fd < 0)
		return -errno;
	err = fsync(fd) < 0 ? -errno : 0;
	close(fd);
	return err;
}

int file_sync(const char *path)
{
	return sync_path(path, 0);
}

int file_sync_folder(const char *path)
{
	char *copy = strdup(path);
	int err = copy ? sync_path(dirname(copy), O_DIRECTORY) : -ENOMEM;

	free(copy);
	return err;
}

bool file_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

void file_close_from(int first)
{
	if (!close_range((unsigned int)first, ~0U, 0))
		return;
	for (int fd = first; fd < getdtablesize(); fd++) /* before Linux 5.9 */
		close(fd);
}
