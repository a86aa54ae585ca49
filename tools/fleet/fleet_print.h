/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet_print.h - answers about all machines of a store, as text, CSV or JSON
 */
#ifndef CPI_TOOLS_FLEET_PRINT_H
#define CPI_TOOLS_FLEET_PRINT_H

#include "report/fleet/outliers.h"
#include "report/fleet/top.h"
#include "tools/ui/out.h"
#include "tools/ui/cmd.h"

struct fleet_show {
	double price; /* of a CPU-hour; 0: no cost is shown */
	bool cpi;     /* of each row, with the 95 % interval of its sampling error */
};

/* Returns 0 or -ENOMEM. */
int fleet_top_print(const struct fleet_top *t, int by, const struct fleet_show *show,
		    const struct out_options *out);

int fleet_outliers_print(const struct fleet_outliers *f, const struct out_options *out);

/* Prints the line "HOSTS, TIMES, EVENT", and lines that say what the sums lack. */
void fleet_scope_print(const struct storesums_scope *s);

struct json;
void fleet_scope_json(const struct storesums_scope *s, struct json *j);

#endif
