/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/picture.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"

int picture_write(const char *path, const struct buf *picture)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int err = fd < 0 ? -errno : 0;

	if (!err)
		err = file_write(fd, picture->data, picture->len);
	if (fd >= 0 && close(fd) < 0 && !err)
		err = -errno;
	if (err)
		log_err("%s: %s", path, err_str(err));
	return err;
}
