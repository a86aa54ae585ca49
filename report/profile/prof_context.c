/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_context.c - names of contexts, and their totals in the database
 *
 * Containers and units are not stored: both are read off a cgroup's path. A value that
 * is no path is shown as it is.
 */
#include "config.h"

#include "report/profile/prof_context.h"

#include "base/err.h"

void prof_context_name(int by, const char *value, struct prof_context_name *out)
{
	const struct prof_context *context = &prof_contexts[by];
	const bool is_path = *value == '/';

	out->contained = by == BY_CONTAINER && is_path &&
			 cgroupname_container(value, &out->container);
	out->name = *value ? value : context->missing;
	if (by == BY_CONTAINER && is_path)
		out->name = out->contained ? out->container.id : context->missing;
	if (by == BY_UNIT && is_path)
		out->name = cgroupname_unit(value, out->unit) ? out->unit
							      : context->missing;
}

int prof_context_query(struct db *db, const struct query_selection *sel, int by,
		       struct query_comms *out)
{
	if (by == BY_COMM)
		return query_comms(db, sel, out);
	return query_contexts(db, sel, prof_contexts[by].kind, out);
}

void prof_context_failed(int by, const struct selection *sel, int err)
{
	const struct prof_context *context = &prof_contexts[by];

	if (err != -CPI_EEMPTY || !context->name || !sel->streams.nr)
		select_failed(sel, err);
	else
		select_failed_contexts(sel, context->kind);
}
