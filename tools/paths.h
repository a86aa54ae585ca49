/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * paths.h - the paths through a procedure, as a report
 */
#ifndef CPI_TOOLS_PATHS_H
#define CPI_TOOLS_PATHS_H

#include "analysis/pathcount.h"
#include "tools/explaining.h"

struct paths_report {
	const struct listing *l;
	const struct cfg *cfg;
	struct image *im;
	struct pathcount count;
	size_t nr;           /* paths that are to be shown */
	char **caller;       /* by path: "main+0x12", or NULL */
	char **caller_image; /* its name, or NULL */
};

/* All of it, in the format of the options. 0 or -ENOMEM. */
int paths_print(const struct paths_report *r);

#endif
