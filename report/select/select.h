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
 * The selection options; NULL or 0 if one is not given. The caller owns the texts,
 * which must outlive everything that is made from the request.
 */
struct select_request {
	struct text_list dbs; /* none: the default one, default_db.h */
	bool daemons;         /* that of cpid, even where one lies in this folder */
	const char *epoch, *host, *platform, *event, *image;
	const char *cluster, *release, *machine; /* of a store's hosts; globs */
	const char *context[NR_CONTEXT_KINDS];
	const char *container, *unit; /* what cgroups' paths say */
	bool merge_platforms;
	const char *debug_dir;
	bool debuginfod;
	const char *socket; /* cpid's, as in client.h; NULL: the default one */
	bool verbose;       /* head and end the report with everything that is known */
	bool as_stored;     /* do not have cpid store what it has sampled since */
};

/*
 * The one database of the request, a new string: that of --db or CPI_DB; else, where
 * socket or CPI_SOCKET names a cpid that answers, its database; else the system's.
 * Returns 0 or -ENOMEM.
 */
int select_db_path(const struct select_request *req, char **path);

struct selection {
	struct db *db;                /* of several: their epochs, joined */
	const struct text_list *dbs;  /* those several; NULL with one */
	struct query_epochs epochs;   /* at least one, but as SELECT_EPOCHS says */
	struct query_streams streams; /* of --event, where it is given */
	struct query_losses losses;
	struct query_gaps gaps;
	struct query_marks marks; /* of their machines, from the first to the last */
	bool verbose;             /* the request's */
	struct query_selection query; /* for query_profiles() and the like */
	char *image_glob;             /* query's */
};

/*
 * A new pattern, or NULL when out of memory: text itself, but a name that
 * reports show in brackets, "[kernel]", means that name and no set of letters.
 */
char *select_glob(const char *text);

/*
 * Opens the one database of the request, to write to it or to look at it as a whole.
 * Logs why it fails, and what to do. Returns 0, -errno or -CPI_E….
 */
int select_open_db(const struct select_request *req, enum db_mode mode,
		   struct db **out);
int select_open_path(const char *path, enum db_mode mode, struct db **out);

/* The one database, to write to; it is made when there is none. */
int select_make_db(const struct select_request *req, struct db **out);

/*
 * Opens the database, finds the epochs of --host and --platform that spec names,
 * and what is known of them: streams, losses, gaps and marks. Of several databases each
 * gives the epochs that spec names in it; "2:SPEC" is for the second one alone. The
 * same about errors. sel is to be closed when 0 is returned.
 *
 * Unless SELECT_EPOCHS or as_stored says not to, cpid is asked to store first if an
 * epoch is open (freshness.h). In a store "release:NAME" is all epochs of a release.
 * Where spec asks for times, and whole epochs have more than those, a line of the log
 * says so.
 */
enum select_how {
	SELECT_EPOCHS,   /* find the epochs alone; "all" may be none */
	SELECT_APART,    /* each epoch is looked at by itself */
	SELECT_TOGETHER, /* they are added up: of one platform, or it is refused */
	SELECT_SUMS,     /* the same, and what each one counted is not looked at */
};

int select_open_epochs(const struct select_request *req, const char *spec,
		       enum select_how how, struct selection *sel);

/* The same with --epoch's, added up. */
int select_open(const struct select_request *req, struct selection *sel);
void select_close(struct selection *sel);

/* The newest of the selected epochs: its machine and clock stand for all. */
const struct query_epoch *select_newest(const struct selection *sel);

/* Appends the names of the machines, with commas between. */
void select_hosts(const struct selection *sel, struct buf *out);

/* The same for one line: the first few names, and how many there are besides. */
void select_some_hosts(const struct selection *sel, struct buf *out);

/* "12"; with several databases "2:12", which --epoch takes as well. */
#define SELECT_ID_SIZE 44
char *select_epoch_id(const struct selection *sel, const struct query_epoch *e,
		      char out[SELECT_ID_SIZE]);

/* The database that an epoch is of, where there are several; else NULL. */
const char *select_epoch_db(const struct selection *sel, const struct query_epoch *e);

/* Logs why spec names no epoch of db, which is open. */
void select_failed_epochs(const struct select_request *req, struct db *db,
			  const char *spec, int err);

/* Whether only samples of some contexts are asked for, or are selected. */
bool select_asks_contexts(const struct select_request *req);
bool select_has_contexts(const struct selection *sel);

/* Logs that there are no profiles by kinds of context, and how to collect them. */
void select_failed_contexts(const struct selection *sel, unsigned int kinds);

/* Logs what a query's failure means for this selection. */
void select_failed(const struct selection *sel, int err);

#endif
