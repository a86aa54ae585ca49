/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select.h - from the selection options to what the database knows of them
 */
#ifndef CPI_TOOLS_SELECT_H
#define CPI_TOOLS_SELECT_H

#include "base/buf.h"
#include "db/query.h"
#include "tools/cmd.h"

struct selection {
	struct db *db;                /* of several: their epochs, joined */
	const struct cmd_list *dbs;   /* those several; NULL with one */
	struct query_epochs epochs;   /* at least one, but as SELECT_EPOCHS says */
	struct query_streams streams; /* of --event, where it is given */
	struct query_losses losses;
	struct query_gaps gaps;
	struct query_selection query; /* for query_profiles() and the like */
	char *image_glob;             /* query's */
};

/*
 * A new pattern, or NULL when out of memory: text itself, but a name that
 * reports show in brackets, "[kernel]", means that name and no set of letters.
 */
char *select_glob(const char *text);

/*
 * Opens the one database that the options name, to write or to look at it as a
 * whole. What fails is said, with what to do about it. Returns 0, -errno or
 * -CPI_E….
 */
int select_open_db(const struct cmd_context *ctx, enum db_mode mode, struct db **out);
int select_open_path(const char *path, enum db_mode mode, struct db **out);

/* The one database, to write to; it is made when there is none. */
int select_make_db(const struct cmd_context *ctx, struct db **out);

/*
 * Opens the database, finds the epochs of --host and --platform that spec names,
 * and what is known of them: streams, losses and gaps. Of several databases each
 * gives the epochs that spec names in it; "2:SPEC" is for the second one alone. The
 * same about errors. sel is to be closed when 0 is returned.
 */
enum select_how {
	SELECT_EPOCHS,   /* find the epochs alone; "all" may be none */
	SELECT_APART,    /* each epoch is looked at by itself */
	SELECT_TOGETHER, /* they are added up: of one platform, or it is refused */
};

int select_open_epochs(const struct cmd_context *ctx, const char *spec,
		       enum select_how how, struct selection *sel);

/* The same with --epoch's, added up. */
int select_open(const struct cmd_context *ctx, struct selection *sel);
void select_close(struct selection *sel);

/* The newest of the selected epochs: its machine and clock stand for all. */
const struct query_epoch *select_newest(const struct selection *sel);

/* Appends the names of the machines, with commas between. */
void select_hosts(const struct selection *sel, struct buf *out);

/* "12"; with several databases "2:12", which --epoch takes as well. */
#define SELECT_ID_SIZE 44
char *select_epoch_id(const struct selection *sel, const struct query_epoch *e,
		      char out[SELECT_ID_SIZE]);

/* The database that an epoch is of, where there are several; else NULL. */
const char *select_epoch_db(const struct selection *sel, const struct query_epoch *e);

/* Says why spec names no epoch of db, which is open. */
void select_failed_epochs(const struct cmd_context *ctx, struct db *db,
			  const char *spec, int err);

/* Says that there are no profiles by a kind of context, and how to have them. */
void select_failed_contexts(const struct selection *sel, enum context_kind kind);

/* Says what a query's failure means for this selection; returns EXIT_FAIL. */
int select_failed(const struct cmd_context *ctx, const struct selection *sel, int err);

#endif
