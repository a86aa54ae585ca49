/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/whom.h"

#include "base/err.h"

void whom_name(int by, const char *value, struct whom *out)
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

int whom_query(struct db *db, const struct query_selection *sel, int by,
	       struct query_comms *out)
{
	if (by == BY_COMM)
		return query_comms(db, sel, out);
	return query_contexts(db, sel, prof_contexts[by].kind, out);
}

size_t whom_columns(int by, struct column out[WHOM_COLUMNS])
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
	return nr;
}

void whom_cells(struct table *t, int by, const char *name,
		const struct cgroup_container *container)
{
	const struct cgroup_container *c = container;

	table_text(t, name);
	if (by != BY_CONTAINER)
		return;
	table_text(t, c ? c->runtime : NULL);
	table_text(t, c && *c->pod ? c->pod : NULL);
	table_text(t, c ? c->qos : NULL);
}

int whom_failed(const struct cmd_context *ctx, const struct selection *sel, int err)
{
	const struct prof_context *context = &prof_contexts[ctx->opt.by];

	if (err != -CPI_EEMPTY || !context->name || !sel->streams.nr)
		return select_failed(ctx, sel, err);
	select_failed_contexts(sel, context->kind);
	return EXIT_FAIL;
}
