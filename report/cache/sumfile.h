/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sumfile.h - sums of profiles over closed epochs, kept between runs
 *
 * Each file has the sums of some ten days of one database (db/query/kept_sums.h), at
 * most 64 MiB for all.
 */
#ifndef CPI_REPORT_SUMFILE_H
#define CPI_REPORT_SUMFILE_H

#include "db/profile/selection.h"

/*
 * Sets k for the database in this file. Returns 0; or the -errno of stat(), after which
 * k must not be used.
 */
int sumfile_keeper(const char *database, struct query_keeper *k);

#endif
