/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_open.c - which debug files a hostile image may name
 *
 * The image's author chose the path. Files that everybody may read are opened without
 * CAP_DAC_READ_SEARCH. Debug files in a private home need that capability, and are
 * opened with file_open_as() for the image's owner. So a program never makes the server
 * read another user's private file.
 */
#include "config.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/image/debugfile.h"
#include "base/file.h"
#include "base/path.h"
#include "helpers/capture.h"

static bool is_below_root(const char *path)
{
	return strncmp(path, DEBUGFILE_ROOT "/", sizeof(DEBUGFILE_ROOT)) == 0;
}

static bool is_debug_name(const char *path)
{
	static const char *const suffixes[] = { ".debug", ".dwo", ".dwp", ".dwz" };
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (strcmp(dot, suffixes[i]) == 0)
			return true;
	return false;
}

static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return !file_pread(fd, magic, SELFMAG, 0) && !memcmp(magic, ELFMAG, SELFMAG);
}

static int open_private(const char *path, int64_t author)
{
	int fd, err = author < 0 ? -EACCES : sandbox_read(true);

	if (err)
		return err;
	fd = file_open_as(path, (uid_t)author);
	err = sandbox_read(false);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}

/* Distributions make symlinks below root, which is root's: those are followed. */
static int open_public(const char *path)
{
	char *real = is_below_root(path) ? realpath(path, NULL) : NULL;
	int fd = open(real ? real : path, FILE_OPEN_FLAGS), err = errno;

	free(real);
	return fd < 0 ? -err : fd;
}

int capture_open(const char *path, int64_t author)
{
	int fd;

	if (path[0] != '/' || strstr(path, "/../"))
		return -EPERM;
	if (!is_below_root(path) && !is_debug_name(path))
		return -EPERM;
	fd = open_public(path);
	if (fd == -EACCES)
		fd = open_private(path, author);
	if (fd >= 0)
		fd = file_keep_regular(fd, NULL);
	if (fd < 0 || is_elf(fd))
		return fd;
	close(fd);
	return -EPERM;
}
