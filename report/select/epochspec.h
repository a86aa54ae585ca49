/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * epochspec.h - messages if a specification (--epoch) selects no epoch, or more
 * time than was asked for
 */
#ifndef CPI_REPORT_EPOCHSPEC_H
#define CPI_REPORT_EPOCHSPEC_H

#include "db/query/query.h"

/* Lists the forms of a time, for messages. */
#define EPOCHSPEC_TIMES                                                              \
	"2026-11-20T10:15, 10:15, today, 'yesterday 14:00', now, -2h, 'last hour'; " \
	"UTC, or with +01:00"

/*
 * Logs why spec selects no epoch of db: nothing is stored of that time, or spec is
 * neither a time nor a label. Suggests the word that was probably meant.
 */
void epochspec_failed(struct db *db, const char *spec);

/* Logs which times the report shows if these are more than the times in spec. */
void epochspec_mention_whole(struct db *db, const char *spec,
			     const struct query_epochs *epochs);

/*
 * "recent" (or NULL) selects only epochs since the collector was started. If the hour
 * before the end of shown also has older epochs, logs how to see them.
 */
void epochspec_mention_before(struct db *db, const char *spec,
			      const struct query_epochs *shown);

#endif
