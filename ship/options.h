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
	uint64_t rate;                    /* bytes a second; 0: any */
	double budget;                    /* percent of one CPU */
	bool once;                        /* ship what is due, and end */
	bool check;                       /* only check the options */
	char *own_metrics;                /* the default of metrics */
	struct service_settings settings; /* whose values the texts above are */
};

/*
 * Fills *o, as service_options_read() does with the section [cpi-ship]. Without a
 * store, $CPI_STORE is it. ship_options_fini() is due in each case.
 */
int ship_options_read(int argc, char **argv, struct ship_options *o);
void ship_options_fini(struct ship_options *o);

/* For the functions of service/options.h. */
const struct service_program *ship_options_program(void);

/*
 * Takes the values that can change while it runs from now, which is left to be freed. 0
 * or a negative error; then some texts of o are no longer there.
 */
int ship_options_take(struct ship_options *o, struct ship_options *now);

#endif
