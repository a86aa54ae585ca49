/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleetid.h - ids that every machine gives the same image, stream or context
 *
 * The first 63 bits of SHA-256 over what makes the thing itself: so machines need not
 * ask each other, and a machine that sends a description under another thing's id is
 * found out by who computes the id again.
 */
#ifndef CPI_DB_FLEETID_H
#define CPI_DB_FLEETID_H

#include <sqlite3.h>

/*
 * Makes the SQL function fleet_id(…) known to a connection: the id of its arguments,
 * whose types count. 0 or -ENOMEM.
 */
int fleetid_register(sqlite3 *h);

/* What gives the ids of rows of tables image i, stream s and context c. */
#define FLEETID_IMAGE(i)                                                     \
	"iif(" i ".id = 0, 0, fleet_id('image', " i ".name, " i ".kind, " i  \
	".build_id, " i ".content, iif(" i ".build_id = x'' AND " i          \
	".content = x'', fleet_id(" i ".device, " i ".inode, " i ".size, " i \
	".mtime_ns), 0)))"
#define FLEETID_STREAM(s)                                                              \
	"fleet_id('stream', " s ".event, " s ".source, " s ".cpu_type, " s ".unit, " s \
	".mean_period, " s ".landing)"
#define FLEETID_CONTEXT(c) "iif(" c ".id = 0, 0, fleet_id('context', " c ".name))"

#endif
