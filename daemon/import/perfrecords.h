/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfrecords.h - what hardware told of the samples of a recording
 */
#ifndef CPI_DAEMON_PERFRECORDS_H
#define CPI_DAEMON_PERFRECORDS_H

#include "decode/hwrecord.h"
#include "daemon/import/perfdata.h"

/*
 * Reads the registers of IBS, and what PEBS and its like left in the fields of a sample
 * whose PC is exact. False when there is nothing of that kind.
 */
bool perfrecords_read(const struct perfdata *pd, const struct perf_record *r,
		      struct hw_record *out);

/* Whether an event's samples have a PC of their own, whatever precise_ip says. */
bool perfrecords_is_ibs(const struct perfdata *pd, int event);

#endif
