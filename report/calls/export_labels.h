/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_labels.h - the context and machine of samples, as keys and values
 *
 *	kind      keys
 *
 *	comm      comm
 *	cgroup    cgroup, container, pod, container_name, unit
 *	label     label
 *	process   process, pid; comm, if the context does not have the kind comm
 *	thread    thread, tid
 *	(always)  host
 */
#ifndef CPI_REPORT_EXPORT_LABELS_H
#define CPI_REPORT_EXPORT_LABELS_H

#include "db/profile/context.h"
#include "report/calls/export_stack.h"
#include "report/select/cgroupname.h"

#define EXPORT_LABELS_MAX 15

struct export_labels {
	struct export_label
		at[EXPORT_LABELS_MAX]; /* point into host and the members below */
	size_t nr;
	struct db *db;
	struct cgroup_container container;
	char unit[CGROUPNAME_MAX];
	char value[NR_CONTEXT_KINDS][CONTEXT_VALUE_MAX + 1];
	char comm[CONTEXT_VALUE_MAX + 1];
};

/*
 * Makes the labels from the name of a context, which may be NULL, and its kinds (1 <<
 * kind). db, or NULL, has the names of containers. host must outlive l. l must not be
 * copied or moved, because labels point into it.
 */
void export_labels_make(struct export_labels *l, struct db *db, unsigned int kinds,
			const char *context, const char *host);

/* Adds one more label; there is room for one. Both strings must outlive l. */
void export_labels_add(struct export_labels *l, const char *key, const char *value);

#endif
