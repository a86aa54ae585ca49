/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file.c - opens, reads, writes and replaces files with care
 *
 * Interrupted reads and writes are repeated, and short ones are continued. Functions
 * for paths that another user may have prepared never wait, and never follow a symlink
 * at the end of the path.
 */
#include "config.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/path.h"
#include "base/times.h"

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

/* The part of path that begins at *at goes to name, and *at behind it. */
static bool next_part(const char **at, char name[NAME_MAX + 1])
{
	size_t len;

	*at += strspn(*at, "/");
	len = strcspn(*at, "/");
	if (!len || len > NAME_MAX)
		return false;
	memcpy(name, *at, len);
	name[len] = '\0';
	*at += len;
	return true;
}

static int open_part(int dirfd, const char *name, int flags)
{
	int fd = openat(dirfd, name, flags | O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;
	struct stat st;

	if (err == -ENOTDIR && !fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) &&
	    S_ISLNK(st.st_mode))
		err = -ELOOP;
	return err ? err : fd;
}

int file_open_in_steps(int dirfd, const char *path, int flags)
{
	char name[NAME_MAX + 1];
	const char *at = path;
	int next, fd = openat(dirfd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	while (next_part(&at, name)) {
		const bool is_last = !at[strspn(at, "/")];

		next = strcmp(name, "..")
			       ? open_part(fd, name, is_last ? flags : O_DIRECTORY)
			       : -EXDEV;
		close(fd);
		if (next < 0)
			return next;
		fd = next;
	}
	if (!*at)
		return fd;
	close(fd);
	return -ENAMETOOLONG;
}

/* What file_open_dir() does without openat2(). */
static int open_dir_in_steps(const char *path)
{
	int root, fd;

	if (!*path)
		return -ENOENT;
	root = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = file_open_in_steps(root, path, O_DIRECTORY);
	close(root);
	return fd;
}

int file_open_dir(const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	if (fd < 0 && errno == ENOSYS)
		return open_dir_in_steps(path);
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

/* A new file under a name that no other writer has. */
static int write_temporary(int dirfd, const char *name, mode_t mode, const void *data,
			   size_t size, char temporary[NAME_MAX + 1])
{
	uint64_t random;
	int err;

	do {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -EAGAIN;
		if (snprintf(temporary, NAME_MAX + 1, ".%s.%016" PRIx64 ".tmp", name,
			     random) > NAME_MAX)
			return -ENAMETOOLONG;
		err = write_new(dirfd, temporary, mode, data, size);
	} while (err == -EEXIST);
	return err;
}

int file_replace(int dirfd, const char *name, mode_t mode, const void *data,
		 size_t size)
{
	char temporary[NAME_MAX + 1] = "";
	int err = write_temporary(dirfd, name, mode, data, size, temporary);

	if (!err && renameat(dirfd, temporary, dirfd, name) < 0)
		err = -errno;
	if (err && err != -ENAMETOOLONG)
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

struct file_stamp file_stamp_of(const struct stat *st)
{
	return (struct file_stamp){ st->st_dev, st->st_ino, (uint64_t)st->st_size,
				    time_to_ns(&st->st_mtim),
				    time_to_ns(&st->st_ctim) };
}

void file_close_from(int first)
{
	if (!close_range((unsigned int)first, ~0U, 0))
		return;
	for (int fd = first; fd < getdtablesize(); fd++) /* before Linux 5.9 */
		close(fd);
}

/* Whether user or everybody has the right: S_IROTH, or S_IXOTH. */
static int check_mode(int fd, uid_t user, mode_t right)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid == user)
		right <<= 6;
	return st.st_mode & right ? 0 : -EACCES;
}

/* Goes down to the directory, through no symlink. A descriptor, or -errno. */
static int open_directory(char *directory, uid_t user)
{
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), below, err;
	const char *name;

	while (fd >= 0 && (name = strsep(&directory, "/"))) {
		if (!*name)
			continue;
		err = check_mode(fd, user, S_IXOTH);
		below = err ? err
			    : openat(fd, name,
				     O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below == -1)
			below = -errno;
		close(fd);
		fd = below;
	}
	return fd;
}

/*
 * Opens the file first and checks the descriptor, so that replacing the file cannot
 * bypass the check.
 */
static int open_last(int directory, const char *name, uid_t user)
{
	int fd = openat(directory, name, FILE_OPEN_FLAGS), err;

	if (fd < 0)
		return -errno;
	err = check_mode(fd, user, S_IROTH);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int file_open_as(const char *path, uid_t user)
{
	char *directory = strndup(path, (size_t)(path_base(path) - path));
	char *real = directory ? realpath(directory, NULL) : NULL;
	int fd = real ? open_directory(real, user) : -errno, file;

	free(directory);
	free(real);
	if (fd < 0)
		return fd;
	file = check_mode(fd, user, S_IXOTH);
	if (!file)
		file = open_last(fd, path_base(path), user);
	close(fd);
	return file;
}
