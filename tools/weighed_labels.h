/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * weighed_labels.h - what a context and a machine say of samples, as keys and values
 *
 *	comm      comm
 *	cgroup    cgroup, container, pod, unit
 *	label     label
 *	process   process, comm, pid
 *	any       host
 */
#ifndef CPI_TOOLS_WEIGHED_LABELS_H
#define CPI_TOOLS_WEIGHED_LABELS_H

#include "db/context.h"
#include "tools/cgroupname.h"
#include "tools/weighed.h"

#define WEIGHED_LABELS_MAX 6

struct weighed_labels {
	struct weighed_label
		at[WEIGHED_LABELS_MAX]; /* point into value, host and what follows */
	size_t nr;
	struct cgroup_container container;
	char unit[CGROUPNAME_MAX];
	char comm[CONTEXT_VALUE_MAX + 1];
};

/* value, of this kind, may be NULL. Both strings stay as long as l, which stays too. */
void weighed_labels_make(struct weighed_labels *l, enum context_kind kind,
			 const char *value, const char *host);

/* Another one; there is room for one. Both strings stay. */
void weighed_labels_add(struct weighed_labels *l, const char *key, const char *value);

#endif
