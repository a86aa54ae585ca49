/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfrecords.h - reads hardware records from the samples of a recording
 */
#ifndef CPI_DAEMON_PERFRECORDS_H
#define CPI_DAEMON_PERFRECORDS_H

#include "decode/hwrecord.h"
#include "daemon/import/perfdata.h"

/*
 * Reads the registers of IBS, or, for a sample with an exact PC, the fields that PEBS
 * and similar hardware fill in. Returns false if the sample has neither.
 */
bool perfrecords_read(const struct perfdata *pd, const struct perf_record *r,
		      struct hw_record *out);

/*
 * Whether an event is of IBS. Its samples then have an exact PC, whatever precise_ip
 * says.
 */
bool perfrecords_is_ibs(const struct perfdata *pd, int event);

#endif
