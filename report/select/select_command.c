/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select_command.c - selections by a command without profiles by command
 *
 * Recordings of one command keep no profiles by command by default, since all their
 * samples are the command's. The totals by command tell whether that is so.
 */
#include "config.h"

#include "report/select/select_command.h"

#include <fnmatch.h>
#include <string.h>

#include "base/err.h"

#define MAX_NAMES 8

/* The totals by command of all images; they are sorted by command. */
static int read_commands(const struct selection *sel, struct query_comms *out)
{
	const struct query_selection all = { .epochs = &sel->epochs,
					     .event = sel->query.event };

	return query_comms(sel->db, &all, out);
}

static bool takes_all(const struct query_comms *list, const char *glob)
{
	for (size_t i = 0; i < list->nr; i++) {
		if (list->comm[i].n && fnmatch(glob, list->comm[i].comm, 0) != 0)
			return false;
	}
	return list->nr;
}

int select_command(struct selection *sel)
{
	const unsigned int comm = 1u << CONTEXT_COMM;
	struct query_comms list;
	int err;

	if (query_restricted_kinds(&sel->query) != comm)
		return 0;
	err = query_need_contexts(sel->db, &sel->epochs, comm);
	if (err != -CPI_EEMPTY)
		return err;
	err = read_commands(sel, &list);
	if (err)
		return err;
	if (takes_all(&list, sel->query.context[CONTEXT_COMM]))
		sel->query.context[CONTEXT_COMM] = NULL;
	query_comms_fini(&list);
	return 0;
}

int select_put_commands(const struct selection *sel, struct buf *out)
{
	struct query_comms list;
	int err = read_commands(sel, &list);
	size_t nr = 0;

	if (err)
		return err;
	for (size_t i = 0; i < list.nr && nr <= MAX_NAMES; i++) {
		const char *before = i ? list.comm[i - 1].comm : "";

		if (!strcmp(list.comm[i].comm, before))
			continue;
		nr++;
		buf_printf(out, "%s%s", nr > 1 ? ", " : "",
			   nr > MAX_NAMES ? "..." : list.comm[i].comm);
	}
	buf_str(out);
	query_comms_fini(&list);
	return out->err;
}
