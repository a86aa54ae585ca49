/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * whom.h - rows by context: whose samples they are, and what that is called
 *
 * by is what --by says, one of those that prof_contexts has a name of.
 */
#ifndef CPI_TOOLS_WHOM_H
#define CPI_TOOLS_WHOM_H

#include "tools/prof.h"
#include "tools/table.h"

#define WHOM_COLUMNS 4 /* at most */

struct whom {
	const char *name; /* the value's, a constant, or one of what follows */
	bool contained;
	struct cgroup_container container; /* where contained */
	char unit[CGROUPNAME_MAX];
};

/* What a context's value ("" for none) is called; value stays as long as out. */
void whom_name(int by, const char *value, struct whom *out);

/* The totals of the selection: query_comms() or query_contexts(), and their errors. */
int whom_query(struct db *db, const struct query_selection *sel, int by,
	       struct query_comms *out);

/* The columns of such a name; how many they are. container NULL: it is in none. */
size_t whom_columns(int by, struct column out[WHOM_COLUMNS]);
void whom_cells(struct table *t, int by, const char *name,
		const struct cgroup_container *container);

/* select_failed(), with what to do where profiles by --by are missing. */
int whom_failed(const struct cmd_context *ctx, const struct selection *sel, int err);

#endif
