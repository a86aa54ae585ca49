/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Apart from file.c, for cpi-capture, which may open nothing, has its own.
 */
#include "config.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>

int file_open_regular(int dirfd, const char *path, struct stat *st)
{
	int fd = openat(dirfd, path, FILE_OPEN_FLAGS);

	return fd < 0 ? -errno : file_keep_regular(fd, st);
}
