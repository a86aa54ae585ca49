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

struct ship_options {
	const char *store; /* storeurl.h */
	const char *db;    /* a path */
	struct ship_origin origin;
	struct ship_how how;
	const char *metrics; /* a file, or NULL */
	uint64_t every_ns;   /* 0: shipper_every_ns() says it */
	uint64_t rate;       /* bytes per second; 0: no limit */
	double percent;      /* of one CPU; the budget's bytes are in how */
	bool once;           /* ship the complete epochs, and end */
	bool check;          /* only check the options */
	char *own_metrics;   /* the default of metrics */
	struct service_settings settings; /* owns the texts above */
};

/*
 * Fills in *o with service_options_read(), from the section [cpi-ship]. The default of
 * store is $CPI_STORE. Call ship_options_fini() also after a failure.
 */
int ship_options_read(int argc, char **argv, struct ship_options *o);
void ship_options_fini(struct ship_options *o);

/* For the functions of service/options.h. */
const struct service_program *ship_options_program(void);

/*
 * Copies from `*now` to `*o` the values that can change while cpi-ship runs; the caller
 * still frees now. Returns 0 or a negative error; then some texts of o are invalid.
 */
int ship_options_take(struct ship_options *o, struct ship_options *now);

#endif
