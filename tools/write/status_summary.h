/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status_summary.h - the status in ten lines: is all well?
 */
#ifndef CPI_TOOLS_STATUS_SUMMARY_H
#define CPI_TOOLS_STATUS_SUMMARY_H

#include <stdbool.h>

/* What is summed up: lines "name value" as "cpi status --all" has them. */
struct status_summary {
	const char *daemon;   /* NULL: none answers */
	bool is_absent;       /* none listens, either */
	const char *database; /* NULL: it cannot be read */
	const char *socket;   /* that was asked */
};

/* Prints it. 0 or -ENOMEM. */
int status_summary_print(const struct status_summary *s);

#endif
