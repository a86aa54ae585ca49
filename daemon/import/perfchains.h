/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfchains.h - adds the call chains of a recording's samples as call stacks
 */
#ifndef CPI_DAEMON_PERFCHAINS_H
#define CPI_DAEMON_PERFCHAINS_H

#include "daemon/attribute/attribute.h"
#include "daemon/import/perfdata.h"

/* Whether the event of a sample has call chains. */
bool perfchains_has(const struct perfdata *pd, const struct perf_record *r);

/*
 * Adds the call chain of a sample to the stacks of a. It is the chain that the kernel
 * found; or the calls that the processor recorded; or, if the recording has a copy of
 * the stack instead, the kernel's frames and the instruction, with the mark
 * STACK_COPIED.
 */
void perfchains_add(struct attribution *a, const struct perfdata *pd,
		    const struct perf_record *r, uint64_t when_ns);

/*
 * Whether the branch stacks of an event contain calls that have not returned, not the
 * last branches.
 */
bool perfchains_are_calls(const struct perfdata_event *e);

#endif
