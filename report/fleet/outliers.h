/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outliers.h - machines that differ from their peers by more than chance
 *
 * The peers of a machine are those of its cluster and type. Two measures are compared,
 * of each procedure or image:
 *	share	its samples beside the machine's other ones. Shares add up to 1, so one
 *		that grows makes all others smaller. Therefore a machine's size is its
 *		samples times the weighted median of its other rows' ratios to their
 *		median share, and a share is of that size.
 *	CPI	cycles over instructions, where both events were sampled
 */
#ifndef CPI_REPORT_FLEET_OUTLIERS_H
#define CPI_REPORT_FLEET_OUTLIERS_H

#include "analysis/compare/outliers.h"
#include "report/fleet/top.h"

enum fleet_measure { FLEET_SHARE, FLEET_CPI };
#define FLEET_MEASURE_WORDS "share|cpi"

/* Rows with a smaller part of all samples, and values expected to have fewer samples,
 * are not tested. */
#define FLEET_MIN_SHARE 0.001
#define FLEET_MIN_COUNT 10

struct fleet_outlier {
	const char *host, *cluster, *machine;
	const char *name, *image; /* as of struct fleet_row */
	double value, peers;      /* the share (0 to 1) or CPI, and that of the peers */
	double change;            /* logarithm of value over peers */
	double q;
};

struct fleet_outliers {
	struct storesums_scope scope;
	struct fleet_sums sums[2]; /* have the texts; one for each event */
	int measure, by;
	struct fleet_outlier *found; /* the surest first */
	size_t nr;
	size_t nr_members, nr_rows;
	size_t nr_tested; /* values */
	size_t nr_alone;  /* machines of which nothing was tested */
};

struct fleet_outliers_request {
	struct fleet_request fleet; /* by procedure or image */
	int measure;                /* enum fleet_measure */
	double fdr;                 /* 0: 0.05 */
};

/* Errors are logged. To be freed with fleet_outliers_fini() if 0 is returned. */
int fleet_outliers_read(const char *url, const struct fleet_outliers_request *req,
			struct fleet_outliers *out);
void fleet_outliers_fini(struct fleet_outliers *f);

#endif
