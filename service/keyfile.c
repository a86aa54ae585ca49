/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keyfile.c - reads files of certificates, keys and passwords
 *
 * The file is opened once; checks and reads use the descriptor, because the path may
 * lead to another file a moment later.
 */
#include "config.h"

#include "service/keyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

static int read_text(int fd, size_t size, struct buf *out)
{
	char *text = malloc(size + 1);
	int err = text ? file_pread(fd, text, size, 0) : -ENOMEM;

	if (!err)
		buf_put(out, text, size);
	free(text);
	return err ? err : out->err;
}

int keyfile_read(const char *path, bool is_secret, struct buf *out)
{
	int fd = open(path, FILE_OPEN_FLAGS & ~O_NOFOLLOW), err;
	struct stat own;

	if (fd < 0)
		return -errno;
	fd = file_keep_regular(fd, &own);
	if (fd < 0)
		return fd;
	if (is_secret && own.st_mode & S_IRWXO)
		err = -EPERM;
	else if (own.st_size > KEYFILE_MAX_BYTES)
		err = -EFBIG;
	else
		err = read_text(fd, (size_t)own.st_size, out);
	close(fd);
	return err;
}
