/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfbranches.h - a sample's branch stack, as edges
 */
#ifndef CPI_DAEMON_PERFBRANCHES_H
#define CPI_DAEMON_PERFBRANCHES_H

#include "daemon/attribute.h"
#include "daemon/perfdata.h"

/*
 * Adds all branches of a sample, and the runs between each and the next, to the tally
 * of a, as event's. Branches from or to unknown places are from or to image NULL,
 * offset 0. Returns 0, or -ENOMEM, -EOVERFLOW or -CPI_ELIMIT when some are left out.
 */
int perfbranches_add(struct attribution *a, const struct perfdata *pd,
		     const struct perf_record *r, int event, uint64_t when_ns);

#endif
