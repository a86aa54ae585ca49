/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path.h - the last part of a path
 */
#ifndef CPI_BASE_PATH_H
#define CPI_BASE_PATH_H

#include <string.h>

/* What is behind the last '/', in path itself; all of it where nothing is. */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

#endif
