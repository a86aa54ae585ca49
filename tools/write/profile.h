/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile.h - the rows of a profile
 *
 * Functions that return an int return 0 or -ENOMEM, unless stated otherwise.
 */
#ifndef CPI_TOOLS_WRITE_PROFILE_H
#define CPI_TOOLS_WRITE_PROFILE_H

#include "report/profile/prof.h"
#include "report/profile/prof_context.h"
#include "tools/ui/cmd.h"
#include "tools/ui/table.h"

/* Text or CSV; an object. */
int prof_print_table(const struct prof *p, const struct out_options *out);
void prof_print_json(const struct prof *p, uint64_t limit, uint64_t max_epochs);

/*
 * Draws the time of the busiest rows over the interval, as prof_over_time()
 * computed it, with axes. 0 or -errno, logged.
 */
int prof_write_svg(const struct prof *p, const char *path);

#define CONTEXT_COLUMNS 5 /* at most */

/*
 * context_columns() fills the columns of a name of prof_context_name(), and returns
 * their number. context_cells() fills their cells; container is NULL if there is none.
 */
size_t context_columns(int by, struct column out[CONTEXT_COLUMNS]);
void context_cells(struct table *t, int by, const char *name,
		   const struct cgroup_container *container);

#endif
