/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_open.c - opens files
 *
 * It is apart from file.c because cpi-capture may open no file and has its own
 * implementation of these functions.
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
