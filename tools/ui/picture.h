/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * picture.h - a picture's file
 */
#ifndef CPI_TOOLS_PICTURE_H
#define CPI_TOOLS_PICTURE_H

#include "base/buf.h"

/* Writes what was drawn, over what is there. 0 or -errno, logged. */
int picture_write(const char *path, const struct buf *picture);

#endif
