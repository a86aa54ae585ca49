/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - options of cpi-ship: from files, and from the command line
 */
#ifndef CPI_SHIP_OPTIONS_H
#define CPI_SHIP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "service/options.h"
#include "ship/rows.h"

#define SHIP_CONFIG_FILE "/etc/cpi/cpi-ship.conf"

struct ship_options {
	const char *store; /* storeurl.h */
	const char *db;    /* a path */
	struct ship_origin origin;
	const char *metrics; /* a file, or NULL */
	uint64_t every_ns;
	uint64_t rate;                /* bytes a second; 0: any */
	double budget;                /* percent of one CPU */
	bool once;                    /* ship what is due, and end */
	bool check;                   /* only check the options */
	char *own_metrics;            /* the default of metrics */
	struct service_value *values; /* of files; the texts above may be theirs */
};

/*
 * Fills *o: from its config files, which are those of service/unitfile.h with the
 * section [cpi-ship], then from the command line. Without a store in either, $CPI_STORE
 * is it. 0; 1 if there is nothing more to do: help or the version was shown, or
 * --check-config found no mistake; or -EINVAL, logged. ship_options_fini() is due in
 * each case.
 */
int ship_options_read(int argc, char **argv, struct ship_options *o);
void ship_options_fini(struct ship_options *o);

#endif
