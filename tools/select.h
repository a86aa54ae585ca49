/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select.h - from the selection options to what the database knows of them
 */
#ifndef CPI_TOOLS_SELECT_H
#define CPI_TOOLS_SELECT_H

#include "db/query.h"
#include "tools/cmd.h"

struct selection {
	struct db *db;
	struct query_epochs epochs;   /* at least one */
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
 * Opens the database that the options name. What fails is said, with what to
 * do about it. Returns 0, -errno or -CPI_E….
 */
int select_open_db(const struct cmd_context *ctx, enum db_mode mode, struct db **out);

/*
 * select_open_db(), then finds epochs, streams, losses and gaps of the
 * selection. The same about errors. sel is to be closed when 0 is returned.
 */
int select_open(const struct cmd_context *ctx, struct selection *sel);
void select_close(struct selection *sel);

/* The newest of the selected epochs: its machine and clock stand for all. */
const struct query_epoch *select_newest(const struct selection *sel);

/* Says what query_epochs()'s failure means; spec may be NULL. */
void select_failed_epochs(struct db *db, const char *spec, int err);

/* Says that there are no profiles by a kind of context, and how to have them. */
void select_failed_contexts(const struct selection *sel, enum context_kind kind);

/* Says what a query's failure means for this selection; returns EXIT_FAIL. */
int select_failed(const struct cmd_context *ctx, const struct selection *sel, int err);

#endif
