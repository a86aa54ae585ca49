/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outliers.h - machines that differ from their peers by more than chance
 *
 * The peers of a machine are the machines of the same cluster and type. Two measures of
 * each procedure or image are compared:
 *	share	its part of the machine's time. Shares add up to 1, so one that grows
 *		makes all others smaller. Therefore the share is relative to the
 *		machine's size for this row: its time, times the weighted median of
 *		the ratios of its other rows' shares to their median shares.
 *	CPI	cycles over instructions, where both events were sampled
 */
#ifndef CPI_REPORT_FLEET_OUTLIERS_H
#define CPI_REPORT_FLEET_OUTLIERS_H

#include "analysis/compare/outliers.h"
#include "report/fleet/top.h"

enum fleet_measure { FLEET_SHARE, FLEET_CPI };
#define FLEET_MEASURE_WORDS "share|cpi"

/* Rows with a smaller part of the event's total, and values expected to have fewer
 * samples, are not tested. */
#define FLEET_MIN_SHARE 0.001
#define FLEET_MIN_COUNT 10

struct fleet_outlier {
	const char *host, *cluster, *machine;
	const char *name, *image; /* as of struct fleet_row */
	double value, peers;      /* the share (0 to 1) or CPI, and that of the peers */
	double change;            /* logarithm of value over peers */
	double q;                 /* false discovery rate at which it is found */
};

struct fleet_outliers {
	struct storesums_scope scope;
	struct fleet_sums sums[2]; /* one for each event; own the strings */
	int measure, by;
	struct fleet_outlier *found; /* the smallest q first */
	size_t nr;
	size_t nr_members, nr_rows;
	size_t nr_tested; /* values */
	size_t nr_alone;  /* machines without a tested value */
};

struct fleet_outliers_request {
	struct fleet_request fleet; /* by procedure or image */
	int measure;                /* enum fleet_measure */
	double fdr;                 /* 0: 0.05 */
};

/*
 * Tests the sums of f, whose measure and by are set; fdr as in the request. Used by
 * fleet_outliers_read(), and by tests.
 */
int fleet_outliers_find(struct fleet_outliers *f, double fdr);

/*
 * Errors are logged. If 0 is returned, the caller frees *out (fleet_outliers_fini()).
 */
int fleet_outliers_read(const char *url, const struct fleet_outliers_request *req,
			struct fleet_outliers *out);
void fleet_outliers_fini(struct fleet_outliers *f);

#endif
