/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_labels.c - splits a context into keys and values
 *
 * The path of a cgroup may contain a container, a pod and a unit, so it becomes several
 * labels. Values point into the context, or into the struct if they had to be made.
 */
#include "config.h"

#include "report/calls/export_labels.h"

#include <stdio.h>
#include <string.h>

#include "report/select/containername.h"

void export_labels_add(struct export_labels *l, const char *key, const char *value)
{
	l->at[l->nr++] = (struct export_label){ key, value };
}

static void add_cgroup(struct export_labels *l, const char *path)
{
	if (containername_find(l->db, path, &l->container)) {
		export_labels_add(l, "container", l->container.id);
		if (*l->container.pod)
			export_labels_add(l, "pod", l->container.pod);
		if (*l->container.name)
			export_labels_add(l, "container_name", l->container.name);
	}
	if (cgroupname_unit(path, l->unit))
		export_labels_add(l, "unit", l->unit);
}

/* "COMM:PID", where COMM may have colons, too. */
static void add_process(struct export_labels *l, const char *process, bool has_comm)
{
	const char *colon = strrchr(process, ':');

	if (!colon)
		return;
	snprintf(l->comm, sizeof(l->comm), "%.*s", (int)(colon - process), process);
	if (!has_comm)
		export_labels_add(l, "comm", l->comm);
	export_labels_add(l, "pid", colon + 1);
}

/* "NAME:TID"; a name may have colons. */
static void add_thread(struct export_labels *l, const char *thread)
{
	const char *colon = strrchr(thread, ':');

	if (colon)
		export_labels_add(l, "tid", colon + 1);
}

static void add_kind(struct export_labels *l, enum context_kind kind, const char *value,
		     bool has_comm)
{
	export_labels_add(l, context_kind_str(kind), value);
	if (kind == CONTEXT_CGROUP)
		add_cgroup(l, value);
	else if (kind == CONTEXT_PROCESS)
		add_process(l, value, has_comm);
	else if (kind == CONTEXT_THREAD)
		add_thread(l, value);
}

void export_labels_make(struct export_labels *l, struct db *db, unsigned int kinds,
			const char *context, const char *host)
{
	const bool has_comm = context && kinds & 1u << CONTEXT_COMM &&
			      context_kinds(context) & 1u << CONTEXT_COMM;

	l->nr = 0;
	l->db = db;
	for (int kind = 0; context && kind < NR_CONTEXT_KINDS; kind++) {
		const char *value = kinds & 1u << kind ? context_value(context, kind,
								       l->value[kind])
						       : NULL;

		if (value)
			add_kind(l, kind, value, has_comm);
	}
	export_labels_add(l, "host", host);
}
