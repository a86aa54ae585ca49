/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select.h - a request's selection: its database, epochs, streams and losses
 */
#ifndef CPI_REPORT_SELECT_H
#define CPI_REPORT_SELECT_H

#include "base/buf.h"
#include "base/textlist.h"
#include "db/profile/context.h"
#include "db/query/marks.h"
#include "db/query/query.h"
#include "report/select/default_db.h"

/*
 * The selection options; an option that was not given is NULL or 0. The caller owns the
 * strings, which must outlive everything that is made from the request.
 */
struct select_request {
	struct text_list dbs; /* none: the default database, default_db.h */
	bool daemons;         /* cpid's database, even if this folder has one */
	const char *epoch, *host, *platform, *event, *image;
	const char *cluster, *release,
		*machine; /* globs; only with --db clickhouse://…, a store of many
			     machines */
	const char *context[NR_CONTEXT_KINDS];
	const char *container, *unit; /* found in the paths of cgroups */
	bool merge_platforms;
	const char *debug_dir;
	bool debuginfod;
	const char *socket; /* of cpid, as in client.h; NULL: the default one */
	bool verbose;       /* print all details before and after the rows */
	bool as_stored;     /* do not ask cpid to store first */
};

/*
 * Returns the path of the request's only database, a new string: of --db, else of
 * $CPI_DB, else the database of the cpid that socket or $CPI_SOCKET names, if it
 * answers, else the default (with daemons: always cpid's database). Returns 0,
 * -EACCES (logged) if that cpid may not be asked, or -ENOMEM.
 */
int select_db_path(const struct select_request *req, char **path);

struct selection {
	struct db *db;                /* the joined epochs if there are several --db */
	const struct text_list *dbs;  /* these databases; NULL if there is only one */
	struct query_epochs epochs;   /* at least one; but see SELECT_EPOCHS */
	struct query_streams streams; /* only of --event if it is given */
	struct query_losses losses;
	struct query_gaps gaps;
	struct query_marks marks;     /* of the epochs' machines and times */
	bool verbose;                 /* as in the request */
	struct query_selection query; /* for query_profiles() and the like */
	char *image_glob;             /* used by query */
	struct query_keeper keeper;   /* likewise */
};

/*
 * Returns a new glob pattern for text, or NULL when out of memory. A name in brackets,
 * as reports show it ("[kernel]"), matches itself: it is not a set of letters.
 */
char *select_glob(const char *text);

/*
 * Opens the request's only database, for commands that write to it or that do not
 * select epochs. A failure is logged with its reason and what to do. Returns 0, -errno
 * or -CPI_E….
 */
int select_open_db(const struct select_request *req, enum db_mode mode,
		   struct db **out);
int select_open_path(const char *path, enum db_mode mode, struct db **out);

/*
 * Opens the request's only database for writing, and creates it if it does not exist.
 */
int select_make_db(const struct select_request *req, struct db **out);

/*
 * Closes such a database, whole. If this handle created it and it has no epoch, it is
 * deleted. Accepts NULL.
 */
void select_close_made(struct db *db);

/*
 * Opens the database, finds the epochs of --host and --platform that spec selects, and
 * reads their streams, losses, gaps and marks. With several databases, spec selects
 * epochs in each; "2:SPEC" selects only in the second one. Errors are logged. If 0 is
 * returned, the caller closes sel.
 *
 * If an epoch is open, cpid is asked to store first (freshness.h), except with
 * SELECT_EPOCHS or as_stored. In a store "release:NAME" selects all epochs of a
 * release. If spec has times and the epochs cover more than these, that is logged.
 */
enum select_how {
	SELECT_EPOCHS,   /* only find the epochs; "all" may find none */
	SELECT_APART,    /* the caller examines each epoch separately */
	SELECT_TOGETHER, /* the caller adds them; refused unless they are comparable */
	SELECT_SUMS,     /* the same, and the caller needs only the sums */
};

int select_open_epochs(const struct select_request *req, const char *spec,
		       enum select_how how, struct selection *sel);

/*
 * Except with SELECT_EPOCHS, all queries from the opening on read one moment's content,
 * so the rows add up to the totals, whatever cpid stores meanwhile. Reports call this
 * when they have read everything: while they wait for a pager, the WAL can be emptied.
 * Accepts a selection that is not open.
 */
void select_end_read(struct selection *sel);

/* Does the same for --epoch with SELECT_TOGETHER. */
int select_open(const struct select_request *req, struct selection *sel);
void select_close(struct selection *sel);

/* Returns the newest selected epoch; reports use its machine and clock for all. */
const struct query_epoch *select_newest(const struct selection *sel);

/* Appends the names of the machines, separated by commas. */
void select_hosts(const struct selection *sel, struct buf *out);

/* Appends only the first few names and the number of the others, for one line. */
void select_some_hosts(const struct selection *sel, struct buf *out);

/* Writes "12", or "2:12" with several databases; --epoch accepts both. Returns out. */
#define SELECT_ID_SIZE 44
char *select_epoch_id(const struct selection *sel, const struct query_epoch *e,
		      char out[SELECT_ID_SIZE]);

/* Whether it is of a store, which adds up machines with SELECT_SUMS. */
bool select_is_store(const struct selection *sel);

/* Returns the path of an epoch's database if there are several; else NULL. */
const char *select_epoch_db(const struct selection *sel, const struct query_epoch *e);

/* Logs why spec selects no epoch of db. */
void select_failed_epochs(const struct select_request *req, struct db *db,
			  const char *spec, int err);

/* Whether a request or selection is restricted to some contexts. */
bool select_asks_contexts(const struct select_request *req);
bool select_has_contexts(const struct selection *sel);

/*
 * Logs that there are no profiles by these kinds of context, and how to collect them.
 */
void select_failed_contexts(const struct selection *sel, unsigned int kinds);

/* Logs the failure of a query, and what it means for this selection. */
void select_failed(const struct selection *sel, int err);

#endif
