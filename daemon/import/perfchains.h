/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfchains.h - the callers of a recording's samples, as stacks
 */
#ifndef CPI_DAEMON_PERFCHAINS_H
#define CPI_DAEMON_PERFCHAINS_H

#include "daemon/attribute/attribute.h"
#include "daemon/import/perfdata.h"

/* Whether a sample's event has chains, of however few frames. */
bool perfchains_has(const struct perfdata *pd, const struct perf_record *r);

/*
 * Adds a sample's chain to the stacks of a: what the kernel walked; of processors that
 * record calls, what they did; where the stack was copied instead, the kernel's part
 * and the instruction, marked as STACK_COPIED.
 */
void perfchains_add(struct attribution *a, const struct perfdata *pd,
		    const struct perf_record *r, uint64_t when_ns);

/* Whether its branches are calls that have not returned, and no path. */
bool perfchains_are_calls(const struct perfdata_event *e);

#endif
