/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * epochspec.h - how a specification of epochs differs from what it found
 */
#ifndef CPI_REPORT_EPOCHSPEC_H
#define CPI_REPORT_EPOCHSPEC_H

#include "db/query/query.h"

/* The forms of a time, for a message. */
#define EPOCHSPEC_TIMES                                                              \
	"2026-11-20T10:15, 10:15, today, 'yesterday 14:00', now, -2h; UTC, or with " \
	"+01:00"

/*
 * Logs that spec names no epoch of db: nothing is stored of that time, or it is neither
 * a time nor a label, with the word that was probably meant.
 */
void epochspec_failed(struct db *db, const char *spec);

/* Logs which times are shown, where spec asks for times and the epochs have more. */
void epochspec_mention_whole(struct db *db, const char *spec,
			     const struct query_epochs *epochs);

/*
 * Where shown is what "recent" names (spec is that, or NULL): logs that its hour has
 * epochs from before the collector was started, and how to see them.
 */
void epochspec_mention_before(struct db *db, const char *spec,
			      const struct query_epochs *shown);

#endif
