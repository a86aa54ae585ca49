/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status_summary.h - the status in ten lines: is all well?
 */
#ifndef CPI_TOOLS_STATUS_SUMMARY_H
#define CPI_TOOLS_STATUS_SUMMARY_H

#include <stdbool.h>

#include "base/buf.h"

/* What is summed up: lines "name value" as "cpi status --all" has them. */
struct status_summary {
	const char *daemon;   /* NULL: none answers */
	bool is_absent;       /* none listens, either */
	const char *database; /* NULL: it cannot be read */
	const char *socket;   /* that was asked */
	double least_hz;      /* the rate below which cpid does not go */
};

/* Prints it. 0 or -ENOMEM. */
int status_summary_print(const struct status_summary *s);

/*
 * If the cost is above the budget and cpid cannot lower it, appends why and what to do,
 * and returns true. daemon and least_hz are as above.
 */
bool status_summary_advise(const char *daemon, double least_hz, struct buf *out);

#endif
