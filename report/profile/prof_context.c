/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_context.c - names of contexts, and their totals in the database
 *
 * Containers and units are found in the path of the cgroup. A value that is not a path
 * is shown unchanged.
 */
#include "config.h"

#include "report/profile/prof_context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "report/select/containername.h"

unsigned int prof_context_kind(int by)
{
	return prof_contexts[by].name && by != BY_HOST ? 1u << prof_contexts[by].kind
						       : 0;
}

int prof_next_context(const struct prof_request *req, int by)
{
	for (by++; by < NR_PROF_BY; by++) {
		if (prof_contexts[by].name && (by == req->by || req->also & 1u << by))
			return by;
	}
	return -1;
}

unsigned int prof_context_kinds(const struct prof_request *req)
{
	unsigned int kinds = 0;

	for (int by = -1; (by = prof_next_context(req, by)) >= 0;)
		kinds |= prof_context_kind(by);
	return kinds;
}

void prof_context_name(struct db *db, int by, const char *context,
		       struct prof_context_name *out)
{
	const char *missing = prof_contexts[by].missing;
	const char *value = context_value(context, prof_contexts[by].kind, out->value);
	const bool is_path = value && *value == '/';

	out->contained = by == BY_CONTAINER && is_path &&
			 containername_find(db, value, &out->container);
	out->name = value && *value ? value : missing;
	if (by == BY_CONTAINER && is_path)
		out->name = out->contained ? out->container.id : missing;
	if (by == BY_UNIT && is_path)
		out->name = cgroupname_unit(value, out->unit) ? out->unit : missing;
}

bool prof_context_takes_unknown(const char *context)
{
	char value[CONTEXT_NAME_SIZE];
	const char *comm = context_value(context, CONTEXT_COMM, value);

	return !comm || strcmp(comm, UNKNOWN_COMM) != 0;
}

static void take_counted(const struct query_streams *streams,
			 const struct query_loss *l, uint64_t *counted, uint64_t *left)
{
	const struct query_stream *s = query_stream_by_id(streams, l->stream);
	uint64_t n = 0;

	if (s) {
		n = counted[s - streams->stream];
		n = n < l->n ? n : l->n;
		counted[s - streams->stream] -= n;
	}
	*left = l->n - n;
}

/*
 * Counts by context have no reasons. But their processes are known, so they are
 * subtracted from "no_process" only if no other reason is left.
 */
static bool is_last(const struct query_loss *l)
{
	return !strcmp(l->name, "no_process");
}

void prof_context_left(const struct query_streams *streams,
		       const struct query_losses *losses, uint64_t *counted,
		       uint64_t *left)
{
	for (int last = false; last <= true; last++) {
		for (size_t i = 0; i < losses->nr; i++) {
			const struct query_loss *l = &losses->loss[i];

			if (l->class != LOSS_UNKNOWN)
				left[i] = 0;
			else if (is_last(l) == last)
				take_counted(streams, l, counted, &left[i]);
		}
	}
}

/* Replaces each command by the context that has this command. */
static int name_commands(struct query_comms *list)
{
	char name[CONTEXT_NAME_SIZE];

	for (size_t i = 0; i < list->nr; i++) {
		const char *const values[NR_CONTEXT_KINDS] = {
			[CONTEXT_COMM] = list->comm[i].comm,
		};
		char *copy;

		context_make(values, name);
		copy = strdup(name);
		if (!copy)
			return -ENOMEM;
		free(list->comm[i].comm);
		list->comm[i].comm = copy;
	}
	return 0;
}

int prof_context_query(struct db *db, const struct query_selection *sel,
		       unsigned int kinds, struct query_comms *out)
{
	struct query_comms list;
	int err;

	if ((kinds | query_restricted_kinds(sel)) != 1u << CONTEXT_COMM)
		return query_contexts(db, sel, kinds, out);
	err = query_comms(db, sel, &list);
	if (err)
		return err;
	err = name_commands(&list);
	if (err)
		query_comms_fini(&list);
	else
		*out = list;
	return err;
}

int prof_context_query_part(struct db *db, const struct query_selection *sel,
			    unsigned int kinds, struct query_comms *out)
{
	int err = prof_context_query(db, sel, kinds, out);

	if (err != -CPI_EEMPTY)
		return err;
	*out = (struct query_comms){ 0 };
	return query_restricted_kinds(sel) ? 0 : query_contexts(db, sel, 0, out);
}

void prof_context_failed(unsigned int kinds, const struct selection *sel, int err)
{
	if (err != -CPI_EEMPTY || !kinds || !sel->streams.nr)
		select_failed(sel, err);
	else
		select_failed_contexts(sel,
				       kinds | query_restricted_kinds(&sel->query));
}
