/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keyfile.h - reads files of certificates, keys and passwords
 */
#ifndef CPI_SERVICE_KEYFILE_H
#define CPI_SERVICE_KEYFILE_H

#include <stdbool.h>

#include "base/buf.h"

#define KEYFILE_MAX_BYTES 262144

/*
 * Appends a regular file to out. It follows a symlink, because renewed certificates
 * often use one. Returns 0; -EPERM if the file is secret and other users can read or
 * change it; -EFBIG; or -errno.
 */
int keyfile_read(const char *path, bool is_secret, struct buf *out);

#endif
