/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hwevent.h - events of instruction-sampling hardware: AMD IBS (ibs_op, ibs_fetch), Arm
 * SPE (arm_spe), and precise samples of other events (:p, such as PEBS)
 *
 * The number of IBS and SPE samples is not proportional to time: an op is tagged when
 * it is dispatched, and a long wait afterwards adds no samples. So these events have
 * the unit EVENT_EVENTS, even if their counter counts cycles. Events in the form
 * PMU/TERMS/ have it too. Other precise events keep the unit of the event.
 */
#ifndef CPI_DAEMON_HWEVENT_H
#define CPI_DAEMON_HWEVENT_H

#include "base/buf.h"
#include "daemon/collect/event.h"

/*
 * Looks up name and fills *e. name is a PMU that records instructions ("ibs_op"), or
 * any PMU with terms ("ibs_op/cnt_ctl=1/", "cpu/mem-loads,ldlat=30/"). clock_hz is as
 * for event_parse(). Returns 0, -ENOENT if name has neither form, or -EINVAL (logged).
 */
int hwevent_find(const char *sysfs, const char *name, uint64_t clock_hz,
		 struct event *e);

/*
 * Completes e after its modifiers were parsed. On a machine with IBS a precise event
 * such as cycles:p becomes IBS op sampling, as in the kernel. Returns 0 or -EINVAL
 * (logged).
 */
int hwevent_apply_modifiers(const char *sysfs, uint64_t clock_hz, struct event *e);

/*
 * Returns the PERF_SAMPLE_* flags by which samples of e include the hardware's records.
 */
uint64_t hwevent_sample_type(const struct event *e);

/* Appends to out what e needs, for a message that this machine seems to lack it. */
void hwevent_explain(const struct event *e, struct buf *out);

#endif
