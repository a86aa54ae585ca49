/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * freshness.h - is the database up to date? asks the cpid that fills it
 */
#ifndef CPI_REPORT_FRESHNESS_H
#define CPI_REPORT_FRESHNESS_H

#include "base/buf.h"
#include "db/query/query.h"

/*
 * The database that the cpid at socket (client.h) fills, a new string. Waits no longer
 * than patience_ns. Returns 0, -ENODATA if it does not say, or as client_call().
 */
int freshness_database(const char *socket, uint64_t patience_ns, char **path);

/*
 * Has the cpid at socket store what it has sampled, if it fills the database at path.
 * Waits no longer than patience_ns for each of two answers. Returns 0; -EXDEV, if cpid
 * fills another database; or as freshness_database(). On failure why has a reason for
 * people, without a full stop.
 */
int freshness_store(const char *socket, const char *path, uint64_t patience_ns,
		    struct buf *why);

/*
 * The same for a report of these epochs, in two seconds, if one of them is open and
 * some seconds old. Returns whether cpid has stored: then they are to be read again. If
 * it has not, logs how old they are; unless no process fills the database, as it is a
 * copy.
 */
bool freshness_refresh(const char *socket, const char *path,
		       const struct query_epochs *epochs);

#endif
