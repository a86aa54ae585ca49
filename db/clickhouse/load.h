/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load.h - chosen epochs of a store, as a database
 *
 * The result is as if the epochs of all their machines had been stored in one database,
 * so every query gives what it gives of a machine's own. It is private and temporary.
 */
#ifndef CPI_DB_STORE_LOAD_H
#define CPI_DB_STORE_LOAD_H

#include <stdbool.h>

#include "db/core/db.h"
#include "db/query/query.h"

/*
 * Bounds of what is loaded. Beyond the first, only the newest epochs are looked at, and
 * a line of the log says so; beyond the others the choice is refused.
 */
#define LOAD_MAX_EPOCHS   100000u        /* that may be chosen from */
#define LOAD_MAX_SELECTED 4096u          /* with what they counted */
#define LOAD_MAX_BYTES    (512ULL << 20) /* of one table's rows */

/* Which machines: globs, as in query.h; NULL does not restrict. */
struct load_machines {
	const char *host, *platform;
	const char *cluster, *release, *machine; /* as cpi-ship was told */
	/* As in struct query_selection; profiles of other images are left out. */
	const char *image;
};

/* What is loaded of the chosen epochs. */
enum load_what {
	LOAD_LIST, /* nothing that they counted */
	LOAD_EACH, /* what each counted */
	/*
	 * The store adds up profiles, and the first epoch has them all. Beyond
	 * LOAD_MAX_SELECTED epochs that times, "all" or a label choose, it adds up
	 * everything: each run is then one or two epochs, and there are no call stacks,
	 * branches or windows.
	 */
	LOAD_SUMS,
};

/*
 * Loads the epochs of spec, on some machines, and all that tells of them. spec is
 * resolved as in a database, which has the epochs of all machines. Those that were not
 * chosen are there without counts. 0, -EINVAL
 * or -ENOENT for a spec that names none (not logged: then *out is the database, as with
 * 0, and the caller's query fails in the same way), -CPI_ELIMIT, -CPI_ECORRUPT, or an
 * error of store.h, all logged.
 */
int store_load(const char *url, const char *spec, const struct load_machines *of,
	       enum load_what what, struct db **out);

#endif
