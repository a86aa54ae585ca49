/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfbranches.h - adds the branch stacks of a recording's samples as edges
 */
#ifndef CPI_DAEMON_PERFBRANCHES_H
#define CPI_DAEMON_PERFBRANCHES_H

#include "daemon/attribute/attribute.h"
#include "daemon/import/perfdata.h"

/*
 * Calls attribute_branches() for the branch stack of a sample, with the kind of its
 * event (branches.h).
 */
int perfbranches_add(struct attribution *a, const struct perfdata *pd,
		     const struct perf_record *r, int event, uint64_t when_ns);

#endif
