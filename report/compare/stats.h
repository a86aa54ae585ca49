/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats.h - how much rows differ from epoch to epoch (dcpistats)
 */
#ifndef CPI_REPORT_STATS_H
#define CPI_REPORT_STATS_H

#include "analysis/math/spread.h"
#include "report/compare/matrix.h"
#include "report/compare/stats_busy.h"
#include "report/explain/explainer.h"
#include "report/profile/prof.h"

/* In the order of the values of --normalize. */
enum stats_normalize { NORMALIZE_NONE, NORMALIZE_TIME, NORMALIZE_TOTAL };

/* An epoch's value. */
struct stats_value {
	const struct query_epoch *epoch; /* NULL: none */
	double value;
};

/* The epochs that may be outliers: the greatest and the least values of a row. */
#define STATS_EXTREMES 4

/* A row of the matrix, or a category. */
struct stats_row {
	const struct matrix_row *row; /* NULL: a category */
	const char *category, *group;
	struct spread spread;
	struct spread_test test;
	struct stats_value most[STATS_EXTREMES], least[STATS_EXTREMES];
};

struct stats_request {
	struct select_request select;
	int by;           /* enum prof_by */
	int normalize;    /* enum stats_normalize */
	double fdr;       /* 0: the default */
	const char *sort; /* or NULL */
};

struct stats {
	const struct stats_request *req;
	struct selection sel;
	struct events ev;
	struct matrix m;
	struct stats_row *row;
	size_t nr_rows;
	struct spread_runs runs;
	double cv;  /* the variation between epochs that all rows share */
	double sum; /* of all rows */
};

/*
 * Gathers the statistics, in the order of sort. Errors are logged. Returns 0 or a
 * negative error.
 */
int stats_open(const struct stats_request *req, struct stats *s);
void stats_close(struct stats *s);

/*
 * The values of a row that are more than two standard deviations from its mean: the
 * greatest first, then the least; at most 2 * STATS_EXTREMES. Returns how many.
 */
size_t stats_outliers(const struct stats_row *row,
		      struct stats_value out[2 * STATS_EXTREMES]);

/* The unit of values: "samples", "ms", "ms/s", "%" ... */
const char *stats_unit(const struct stats *s);

/*
 * Adds the categories of an epoch: where the cycles of its busy procedures went.
 * Returns 0, -ENOMEM, or -ECANCELED for an error that was logged.
 */
int stats_add_categories(struct stats *s, const struct stats_busy *busy,
			 struct explainer_kept *kept, const struct query_epoch *epoch);

/*
 * *unit becomes the time that the value 1 stands for in this epoch (values are time
 * / *unit), and *exposure the mean number of samples in that time. If values are
 * normalized by the total, an epoch without samples is treated as if it had one
 * sample.
 */
void stats_scale(const struct stats *s, const struct matrix_column *c, double *unit,
		 double *exposure);

#endif
