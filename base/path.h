/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path.h - the last parts of a path
 */
#ifndef CPI_BASE_PATH_H
#define CPI_BASE_PATH_H

#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

/* What is behind the last '/', in path itself; all of it where nothing is. */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/*
 * Does the glob match the path, or its last components, as many as it has? "bin/cc*"
 * does /usr/bin/cc1, and so does "./cc1", as people write it.
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
