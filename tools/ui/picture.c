/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * picture.c - writes a picture to a file, whole or not at all
 */
#include "config.h"

#include "tools/ui/picture.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/newfile.h"

int picture_write(const char *path, const struct buf *picture)
{
	struct newfile file;
	int err = newfile_open(path, &file), end;

	if (!err) {
		err = file_write(file.fd, picture->data, picture->len);
		end = newfile_close(&file, !err);
		err = err ? err : end;
	}
	if (err)
		log_err("%s: %s", path, err_str(err));
	return err;
}
