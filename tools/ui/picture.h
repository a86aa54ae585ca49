/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * picture.h - writes the file of a picture
 */
#ifndef CPI_TOOLS_PICTURE_H
#define CPI_TOOLS_PICTURE_H

#include "base/buf.h"

/* Writes a picture, replacing the file. Returns 0, or -errno, which is logged. */
int picture_write(const char *path, const struct buf *picture);

#endif
