/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tip_records.h - what a TIP core would have sampled of a trace, as a file
 */
#ifndef CPI_TOOLS_TIP_RECORDS_H
#define CPI_TOOLS_TIP_RECORDS_H

#include "analysis/trace/tip.h"

struct tip_records;

/*
 * From now on t's samples go to the file at path, which is made; trace names what ran.
 * 0 or a negative error, logged.
 */
int tip_records_begin(const char *path, const char *trace, struct tip *t,
		      const struct tip_sampling *sampling, struct tip_records **out);

/* Adds the code, ends the file and frees r. 0 or a negative error, logged. */
int tip_records_end(struct tip_records *r, const struct tip_result *result);

/* What a failure leaves: the file goes. Accepts NULL. */
void tip_records_abandon(struct tip_records *r);

#endif
