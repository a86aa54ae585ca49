/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_context.h - rows by context: their names, and their totals
 *
 * by is an enum prof_by for which prof_contexts has a name.
 */
#ifndef CPI_REPORT_PROF_CONTEXT_H
#define CPI_REPORT_PROF_CONTEXT_H

#include "report/profile/prof.h"

struct prof_context_name {
	const char *name; /* the value's, a constant, or one of what follows */
	bool contained;
	struct cgroup_container container; /* where contained */
	char unit[CGROUPNAME_MAX];
};

/* The name of a context's value ("" for none); value must outlive out. */
void prof_context_name(int by, const char *value, struct prof_context_name *out);

/* The totals of the selection: query_comms() or query_contexts(), and their errors. */
int prof_context_query(struct db *db, const struct query_selection *sel, int by,
		       struct query_comms *out);

/* As select_failed(), and says what to do if profiles by --by are missing. */
void prof_context_failed(int by, const struct selection *sel, int err);

#endif
