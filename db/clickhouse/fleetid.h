/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleetid.h - ids of images, streams and contexts that are the same on every machine
 *
 * An id is the first 63 bits of SHA-256 over the description of the image, stream or
 * context. So machines need no common register of ids. If a machine sends a description
 * under a wrong id, a reader that computes the id again detects it.
 */
#ifndef CPI_DB_FLEETID_H
#define CPI_DB_FLEETID_H

#include <sqlite3.h>

/*
 * Adds the SQL function fleet_id(…) to a connection. It returns the id of its
 * arguments; arguments of different types have different ids. Returns 0 or -ENOMEM.
 */
int fleetid_register(sqlite3 *h);

/* SQL expressions for the ids of rows of the tables image i, stream s and context c. */
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
