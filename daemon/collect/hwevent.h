/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hwevent.h - events of hardware that records instructions
 *
 * AMD's ibs_op and ibs_fetch, Arm's arm_spe, and precise samples of any other event.
 * None of them counts time: an op is tagged where it is dispatched, however long it
 * waits after that, so that their unit is EVENT_EVENTS, cycles though some count.
 */
#ifndef CPI_DAEMON_HWEVENT_H
#define CPI_DAEMON_HWEVENT_H

#include "base/buf.h"
#include "daemon/collect/event.h"

/*
 * Takes the event from name: a PMU that records instructions, "ibs_op", or any PMU
 * with terms, "ibs_op/cnt_ctl=1/", "cpu/mem-loads,ldlat=30/". clock_hz as for
 * event_parse(). 0, -ENOENT when name has neither form, or -EINVAL, logged.
 */
int hwevent_find(const char *sysfs, const char *name, uint64_t clock_hz,
		 struct event *e);

/*
 * Does what modifiers ask for, once they are in e: where there is IBS, cycles:p is
 * its op sampling, as the kernel has it. 0 or -EINVAL, logged.
 */
int hwevent_apply_modifiers(const char *sysfs, uint64_t clock_hz, struct event *e);

/* The PERF_SAMPLE_* with which the kernel hands out what e records. */
uint64_t hwevent_sample_type(const struct event *e);

/* Appends what e takes that this machine seems not to have. */
void hwevent_explain(const struct event *e, struct buf *out);

#endif
