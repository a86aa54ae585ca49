/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_labels.h - what a context and a machine say of samples, as keys and values
 *
 *	comm      comm
 *	cgroup    cgroup, container, pod, unit
 *	label     label
 *	process   process, pid, comm unless that is a kind
 *	any       host
 */
#ifndef CPI_REPORT_EXPORT_LABELS_H
#define CPI_REPORT_EXPORT_LABELS_H

#include "db/profile/context.h"
#include "report/calls/export_stack.h"
#include "report/select/cgroupname.h"

#define EXPORT_LABELS_MAX 14

struct export_labels {
	struct export_label
		at[EXPORT_LABELS_MAX]; /* point into value, host and what follows */
	size_t nr;
	struct cgroup_container container;
	char unit[CGROUPNAME_MAX];
	char value[NR_CONTEXT_KINDS][CONTEXT_VALUE_MAX + 1];
	char comm[CONTEXT_VALUE_MAX + 1];
};

/*
 * Of the kinds (1 << kind) of a context's name, NULL for none. host stays as long as l,
 * which stays where it is.
 */
void export_labels_make(struct export_labels *l, unsigned int kinds,
			const char *context, const char *host);

/* Another one; there is room for one. Both strings stay. */
void export_labels_add(struct export_labels *l, const char *key, const char *value);

#endif
