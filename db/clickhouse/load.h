/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load.h - loads selected epochs of a store into a temporary database
 *
 * The result is as if the epochs of all machines had been stored in one database. So
 * every query works as on the database of one machine. The database is private and
 * temporary.
 */
#ifndef CPI_DB_STORE_LOAD_H
#define CPI_DB_STORE_LOAD_H

#include <stdbool.h>

#include "db/core/db.h"
#include "db/query/query.h"

/*
 * Limits of what is loaded. If a store has more epochs than the first, spec selects
 * among the newest ones (logged). A selection that exceeds one of the others is refused
 * (logged).
 */
#define LOAD_MAX_EPOCHS   100000u        /* epochs among which spec can select */
#define LOAD_MAX_SELECTED 4096u          /* selected epochs whose counts are loaded */
#define LOAD_MAX_BYTES    (512ULL << 20) /* bytes of the rows of one table */

/* The selected machines: globs, as in query.h; NULL does not restrict. */
struct load_machines {
	const char *host, *platform;
	const char *cluster, *release,
		*machine; /* as set in the configuration of cpi-ship */
	/* As in struct query_selection. Profiles of other images are not loaded. */
	const char *image;
};

/* Which counts of the selected epochs are loaded. */
enum load_what {
	LOAD_LIST, /* no counts */
	LOAD_EACH, /* the counts of each epoch */
	/*
	 * The store adds up the profiles, and the first epoch has all of them. If
	 * times, "all" or a label select more than LOAD_MAX_SELECTED epochs, the store
	 * adds up everything: the result has one or two epochs for each run of cpid,
	 * and there are no call stacks, branches or windows.
	 */
	LOAD_SUMS,
};

/*
 * Loads the epochs that spec selects on some machines, and everything that they refer
 * to. spec is resolved as in a database with the epochs of all machines. Epochs that
 * are not selected are loaded without counts. Returns 0; -EINVAL or -ENOENT if spec
 * selects no epoch (not logged; *out is then the database, as with 0, and the caller's
 * query fails in the same way); -CPI_ELIMIT, -CPI_ECORRUPT, or an error of store.h, all
 * logged.
 */
int store_load(const char *url, const char *spec, const struct load_machines *of,
	       enum load_what what, struct db **out);

#endif
