/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfbranches.h - a sample's branch stack, as edges
 */
#ifndef CPI_DAEMON_PERFBRANCHES_H
#define CPI_DAEMON_PERFBRANCHES_H

#include "daemon/attribute/attribute.h"
#include "daemon/import/perfdata.h"

/* attribute_branches() of a sample, as event's (branches.h). */
int perfbranches_add(struct attribution *a, const struct perfdata *pd,
		     const struct perf_record *r, int event, uint64_t when_ns);

#endif
