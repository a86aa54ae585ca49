/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path.h - the last parts of a path
 */
#ifndef CPI_BASE_PATH_H
#define CPI_BASE_PATH_H

#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

/* The part of path after the last '/'; the whole path if there is none. */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/*
 * Whether a glob matches a path, or as many of its last components as the glob has:
 * "bin/cc*" matches /usr/bin/cc1, and so does "./cc1".
 */
static inline bool path_matches(const char *glob, const char *path)
{
	const char *end = path;

	if (!fnmatch(glob, path, 0))
		return true;
	if (strncmp(glob, "./", 2) == 0)
		glob += 2;
	do {
		if (!fnmatch(glob, end, FNM_PATHNAME))
			return true;
	} while ((end = strchr(end, '/')) && *++end);
	return false;
}

#endif
