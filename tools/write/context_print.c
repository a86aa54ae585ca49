/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * context_print.c - the columns that rows by context have
 *
 * A container has more to say than its name, so it has several columns.
 */
#include "config.h"

#include "tools/write/profile.h"

size_t context_columns(int by, struct column out[CONTEXT_COLUMNS])
{
	const struct prof_context *context = &prof_contexts[by];
	size_t nr = 0;

	out[nr++] = (struct column){ context->title, context->name, COLUMN_TEXT,
				     COLUMN_EVERYWHERE };
	if (by != BY_CONTAINER)
		return nr;
	out[nr++] =
		(struct column){ "runtime", "runtime", COLUMN_TEXT, COLUMN_EVERYWHERE };
	out[nr++] = (struct column){ "pod", "pod", COLUMN_TEXT, COLUMN_EVERYWHERE };
	out[nr++] = (struct column){ "", "qos", COLUMN_TEXT, COLUMN_NOT_IN_TEXT };
	out[nr++] = (struct column){ "name", "container_name", COLUMN_TEXT,
				     COLUMN_EVERYWHERE };
	return nr;
}

void context_cells(struct table *t, int by, const char *name,
		   const struct cgroup_container *container)
{
	const struct cgroup_container *c = container;

	table_text(t, name);
	if (by != BY_CONTAINER)
		return;
	table_text(t, c ? c->runtime : NULL);
	table_text(t, c && *c->pod ? c->pod : NULL);
	table_text(t, c ? c->qos : NULL);
	table_text(t, c && *c->name ? c->name : NULL);
}
