/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * paths.h - the paths through a procedure that windows saw, as a report
 */
#ifndef CPI_REPORT_PATHS_H
#define CPI_REPORT_PATHS_H

#include "analysis/windows/pathcount.h"
#include "report/explain/explainer.h"

struct paths_report {
	const struct scope *scope;
	const struct found_place *place;
	const struct cfg *cfg;
	struct image *im;
	struct pathcount count;
	size_t nr;           /* paths to show */
	char **caller;       /* by path: "main+0x12", or NULL */
	char **caller_image; /* its name, or NULL */
};

/*
 * The paths through a place, at most limit of them. Errors are logged, except -ENOMEM.
 * r is valid until x explains something else. The caller frees r, also after an error.
 */
int paths_find(struct explainer *x, const struct found_place *place, size_t limit,
	       struct paths_report *r);
void paths_fini(struct paths_report *r);

#endif
