/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - what the command line of cpi-ship says
 */
#ifndef CPI_SHIP_OPTIONS_H
#define CPI_SHIP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "ship/rows.h"

struct ship_options {
	const char *store; /* storeurl.h */
	const char *db;    /* a path */
	struct ship_origin origin;
	uint64_t every_ns;
	uint64_t rate; /* bytes a second; 0: any */
	double budget; /* percent of one CPU */
	bool once;     /* ship what is due, and end */
};

/*
 * Reads the options; texts point into argv or the environment. 0; 1 if help or the
 * version was shown; -EINVAL, logged.
 */
int ship_options_read(int argc, char **argv, struct ship_options *o);

#endif
