/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tip_records.h - writes the samples that a TIP core would take of a trace
 */
#ifndef CPI_TOOLS_TIP_RECORDS_H
#define CPI_TOOLS_TIP_RECORDS_H

#include "analysis/trace/tip.h"

struct tip_records;

/*
 * From now on t's samples go to a new file, which gets the name path when it is
 * complete (base/newfile.h); trace is the name of what ran. Returns 0, or a negative
 * error, which is logged.
 */
int tip_records_begin(const char *path, const char *trace, struct tip *t,
		      const struct tip_sampling *sampling, struct tip_records **out);

/*
 * Writes the code, completes the file and frees r. Returns 0, or a negative error,
 * which is logged.
 */
int tip_records_end(struct tip_records *r, const struct tip_result *result);

/* After a failure: removes the file and frees r. Accepts NULL. */
void tip_records_abandon(struct tip_records *r);

#endif
