/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * newfile.c - writes a file beside its path and renames it at the end
 *
 * 	newfile_open() -> beside, or in place -> newfile_close(keep) -> at its path
 * 	                                                            \-> gone
 *
 * A reader sees the old file or the whole new one. Where no file can be made beside the
 * path, the path itself is written to; then a failure may leave a part there.
 */
#include "config.h"

#include "base/newfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static mode_t mode_of_new(void)
{
	const mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

static int open_in_place(struct newfile *f)
{
	f->fd = open(f->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY,
		     0666);
	return f->fd < 0 ? -errno : 0;
}

int newfile_beside(const char *path, char **name)
{
	const char *slash = strrchr(path, '/');
	const int dir = slash ? (int)(slash - path) + 1 : 0;
	int fd;

	if (asprintf(name, "%.*s.%s.XXXXXX", dir, path, path + dir) < 0) {
		*name = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(*name, O_CLOEXEC);
	if (fd < 0) {
		fd = -errno;
		free(*name);
		*name = NULL;
	}
	return fd;
}

/* old is the file at the path, or NULL. */
static int open_beside(struct newfile *f, const struct stat *old)
{
	f->fd = newfile_beside(f->path, &f->beside);
	if (f->fd == -EACCES || f->fd == -EPERM || f->fd == -ENAMETOOLONG)
		return open_in_place(f);
	if (f->fd < 0)
		return f->fd;
	/*
	 * If the user may not keep the old owner, the new file becomes the user's, as
	 * with an editor.
	 */
	if (old && fchown(f->fd, old->st_uid, old->st_gid) < 0)
		errno = 0;
	return fchmod(f->fd, old ? old->st_mode & 07777 : mode_of_new()) < 0 ? -errno
									     : 0;
}

int newfile_open(const char *path, struct newfile *f)
{
	struct stat st;
	const bool is_there = !stat(path, &st);
	int err;

	*f = (struct newfile){ .fd = -1 };
	f->path = is_there ? realpath(path, NULL) : strdup(path);
	if (!f->path)
		return -errno;
	err = is_there && !S_ISREG(st.st_mode) ? open_in_place(f)
					       : open_beside(f, is_there ? &st : NULL);
	if (err)
		newfile_close(f, false);
	return err;
}

int newfile_close(struct newfile *f, bool keep)
{
	int err = 0;

	if (f->fd >= 0 && close(f->fd) < 0)
		err = -errno;
	if (f->beside && keep && !err && rename(f->beside, f->path) < 0)
		err = -errno;
	if (f->beside && (!keep || err))
		unlink(f->beside);
	free(f->beside);
	free(f->path);
	*f = (struct newfile){ .fd = -1 };
	return err;
}
