/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unpack.h - a file as it was before gzip or zstd, a piece at a time
 */
#ifndef CPI_TOOLS_UNPACK_H
#define CPI_TOOLS_UNPACK_H

#include <stddef.h>
#include <sys/types.h>

struct unpack;

/* A file, "-" for standard input. What it is packed with, its first bytes say. 0,
 * -errno or -ENOMEM. */
int unpack_open(const char *path, struct unpack **out);
void unpack_close(struct unpack *u); /* accepts NULL */

/* Up to size bytes; 0 at the end. -errno, or -CPI_ECORRUPT for what is no such file. */
ssize_t unpack_read(struct unpack *u, void *to, size_t size);

#endif
