/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowexclude.h - processes that are excluded from windows
 */
#ifndef CPI_DAEMON_WINDOWEXCLUDE_H
#define CPI_DAEMON_WINDOWEXCLUDE_H

#include <stdbool.h>

#include "daemon/procmap/procmap.h"

#define WINDOWEXCLUDE_MAX 64

enum windowexclude_what { EXCLUDE_COMM, EXCLUDE_LABEL, EXCLUDE_CGROUP };

/*
 * Parses "comm=GLOB", "label=GLOB" (fnmatch(3)), or "cgroup=PATH" below the root of
 * version 2. *value points into text. 0 or -EINVAL.
 */
int windowexclude_parse(const char *text, enum windowexclude_what *what,
			const char **value);

/*
 * Opens the cgroup folder of each "cgroup=" text, in the order of the texts.
 * Returns the number of descriptors, which the caller closes; or -errno (logged),
 * or -CPI_ELIMIT if there are more than max.
 */
int windowexclude_open_cgroups(const char *const *text, int nr, int *fd, int max);

/* Whether one of the texts excludes p; the program in the kernel checks cgroups. */
bool windowexclude_matches(const char *const *text, int nr, const struct process *p);

/* Whether any of the texts is about labels. */
bool windowexclude_needs_labels(const char *const *text, int nr);

#endif
