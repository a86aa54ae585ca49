/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unpack.h - reads a file, uncompressing gzip and zstd
 */
#ifndef CPI_TOOLS_UNPACK_H
#define CPI_TOOLS_UNPACK_H

#include <stddef.h>
#include <sys/types.h>

struct unpack;

/*
 * Opens a file, or standard input for "-". Its first bytes identify the compression.
 * Returns 0, -errno or -ENOMEM.
 */
int unpack_open(const char *path, struct unpack **out);
void unpack_close(struct unpack *u); /* accepts NULL */

/*
 * Reads up to size bytes. Returns their number, 0 at the end, -errno, -CPI_ETRUNCATED,
 * -CPI_ECORRUPT, or -CPI_ELIMIT for a zstd window above 128 MiB (zstd --long=28 and
 * more).
 */
ssize_t unpack_read(struct unpack *u, void *to, size_t size);

#endif
