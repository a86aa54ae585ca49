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
	const char *name; /* a constant, or one of what follows */
	char value[CONTEXT_VALUE_MAX + 1];
	bool contained;
	struct cgroup_container container; /* where contained */
	char unit[CGROUPNAME_MAX];
};

/* How by shows the context of this name; "" is none. */
void prof_context_name(int by, const char *context, struct prof_context_name *out);

/*
 * The totals of the selection by contexts: query_contexts(), and its errors. Where
 * commands alone matter, every database has them.
 */
int prof_context_query(struct db *db, const struct query_selection *sel,
		       unsigned int kinds, struct query_comms *out);

/* As select_failed(), and says what to do if profiles by kinds are missing. */
void prof_context_failed(unsigned int kinds, const struct selection *sel, int err);

/* 1 << the kind of context of --by, 0: it is none; of all that tell rows apart. */
unsigned int prof_context_kind(int by);
unsigned int prof_context_kinds(const struct prof_request *req);

#endif
