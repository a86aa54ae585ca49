/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top.h - what costs most on all machines of a choice
 */
#ifndef CPI_REPORT_FLEET_TOP_H
#define CPI_REPORT_FLEET_TOP_H

#include "report/fleet/amount.h"
#include "report/fleet/sums.h"

enum fleet_by {
	FLEET_PROCEDURE,
	FLEET_IMAGE,
	FLEET_RELEASE,
	FLEET_CLUSTER,
	FLEET_MACHINE,
	FLEET_HOST,
};
#define FLEET_BY_WORDS "procedure|image|release|cluster|machine|host"

struct fleet_request {
	struct store_choice choice;
	const char *times, *event; /* storesums.h; NULL: the defaults */
	int by;                    /* enum fleet_by */
	bool exact;                /* storesums.h */
	bool cpi;                  /* read cycles and instructions, too */
};

struct fleet_row {
	struct hnode node;
	const char *name, *image;                 /* image: only for a procedure */
	struct fleet_amount time;                 /* in ns */
	struct fleet_amount cycles, instructions; /* only if the request asks for CPI */
};

struct fleet_top {
	struct fleet_sums sums; /* owns the scope and the strings of the rows */
	struct hmap map;
	struct fleet_row *row; /* the costliest first */
	size_t nr;
	double ns;      /* of all rows */
	double seconds; /* from the start of the first epoch to the end of the last */
};

/* Errors are logged. If 0 is returned, the caller frees *out with fleet_top_fini(). */
int fleet_top_read(const char *url, const struct fleet_request *req,
		   struct fleet_top *out);
void fleet_top_fini(struct fleet_top *t);

#endif
