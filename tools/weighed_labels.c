/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/weighed_labels.h"

#include <stdio.h>
#include <string.h>

void weighed_labels_add(struct weighed_labels *l, const char *key, const char *value)
{
	l->at[l->nr++] = (struct weighed_label){ key, value };
}

static void add_cgroup(struct weighed_labels *l, const char *path)
{
	if (cgroupname_container(path, &l->container)) {
		weighed_labels_add(l, "container", l->container.id);
		if (*l->container.pod)
			weighed_labels_add(l, "pod", l->container.pod);
	}
	if (cgroupname_unit(path, l->unit))
		weighed_labels_add(l, "unit", l->unit);
}

/* "COMM:PID", where COMM may have colons, too. */
static void add_process(struct weighed_labels *l, const char *process)
{
	const char *colon = strrchr(process, ':');

	if (!colon)
		return;
	snprintf(l->comm, sizeof(l->comm), "%.*s", (int)(colon - process), process);
	weighed_labels_add(l, "comm", l->comm);
	weighed_labels_add(l, "pid", colon + 1);
}

void weighed_labels_make(struct weighed_labels *l, enum context_kind kind,
			 const char *value, const char *host)
{
	l->nr = 0;
	if (value) {
		weighed_labels_add(l, context_kind_str(kind), value);
		if (kind == CONTEXT_CGROUP)
			add_cgroup(l, value);
		else if (kind == CONTEXT_PROCESS)
			add_process(l, value);
	}
	weighed_labels_add(l, "host", host);
}
