/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowexclude.h - whom windows leave alone
 */
#ifndef CPI_DAEMON_WINDOWEXCLUDE_H
#define CPI_DAEMON_WINDOWEXCLUDE_H

#include <stdbool.h>

#include "daemon/procmap/procmap.h"

#define WINDOWEXCLUDE_MAX 64

enum windowexclude_what { EXCLUDE_COMM, EXCLUDE_LABEL, EXCLUDE_CGROUP };

/*
 * "comm=GLOB", "label=GLOB" (fnmatch(3)), or "cgroup=PATH" below the root of version 2.
 * *value is in the text. 0 or -EINVAL.
 */
int windowexclude_parse(const char *text, enum windowexclude_what *what,
			const char **value);

/*
 * Opens the folders of the texts that are cgroups, in their order. Returns how many
 * they are, which the caller closes; or -errno, which is logged, or -CPI_ELIMIT beyond
 * max.
 */
int windowexclude_open_cgroups(const char *const *text, int nr, int *fd, int max);

/* Whether one of the texts says so of p; cgroups are the program's to look at. */
bool windowexclude_matches(const char *const *text, int nr, const struct process *p);

/* Whether any of the texts is about labels, which have to be known for it. */
bool windowexclude_needs_labels(const char *const *text, int nr);

#endif
