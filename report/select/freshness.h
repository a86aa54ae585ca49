/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * freshness.h - has cpid store its newest samples before a report
 */
#ifndef CPI_REPORT_FRESHNESS_H
#define CPI_REPORT_FRESHNESS_H

#include "base/buf.h"
#include "db/query/query.h"

/*
 * Returns the path of the database that the cpid at socket (client.h) fills, a new
 * string. Waits at most patience_ns. Returns 0, -ENODATA if the reply has no path, or
 * an error of client_call().
 */
int freshness_database(const char *socket, uint64_t patience_ns, char **path);

/*
 * Asks the cpid that listens at socket to store its samples, if this cpid fills
 * the database at path. Waits as two calls of client_call() with patience_ns.
 * Returns 0; -EXDEV if cpid fills another database; or an error of
 * freshness_database(). On failure why gets the reason as text, without a full
 * stop.
 */
int freshness_store(const char *socket, const char *path, uint64_t patience_ns,
		    struct buf *why);

/*
 * Calls freshness_store() for a report of these epochs, if one of them is open
 * and its newest stored samples are more than two seconds old. Waits at most one
 * second for each of two connections, and for each of two replies. Returns whether
 * cpid has stored; then the caller reads the epochs again. If cpid has not stored,
 * logs how old the data are. Logs nothing if no process fills the database, because
 * then it is a copy.
 */
bool freshness_refresh(const char *socket, const char *path,
		       const struct query_epochs *epochs);

#endif
