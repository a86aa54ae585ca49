/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_epoch.c - the intervals of a database: listed, begun, named
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "db/store.h"
#include "tools/cmd.h"
#include "tools/ctl.h"
#include "tools/select.h"
#include "tools/table.h"

static const struct column columns[] = {
	{ "id", "id", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "from", "from", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "to", "to", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "seconds", "seconds", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "samples", "samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "edge ms", "uncertainty_ms", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "state", "state", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "host", "host", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "", "release", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
	{ "", "boot_id", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
	{ "label", "label", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "database", "db", COLUMN_TEXT, COLUMN_EVERYWHERE }, /* of several */
};

#define NR_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void put_epoch(struct table *t, const struct selection *sel,
		      const struct query_epoch *e)
{
	char id[SELECT_ID_SIZE];

	if (sel->dbs)
		table_text(t, select_epoch_id(sel, e, id));
	else
		table_signed(t, e->id);
	table_time(t, e->from_ns);
	table_time(t, e->to_ns);
	table_real(t, e->to_ns > e->from_ns ? (e->to_ns - e->from_ns) / 1e9 : 0, 1);
	table_number(t, e->samples);
	table_number(t, e->uncertainty_ms);
	table_text(t, e->open ? "open" : "ended");
	table_text(t, e->host);
	table_text(t, e->release);
	table_text(t, e->boot_id);
	table_text(t, e->label);
	if (sel->dbs)
		table_text(t, select_epoch_db(sel, e));
}

static int print_epochs(const struct cmd_context *ctx, const struct selection *sel)
{
	struct table *t = table_new(columns, sel->dbs ? NR_COLUMNS : NR_COLUMNS - 1);
	const struct query_epochs *epochs = &sel->epochs;
	const uint64_t limit = ctx->opt.limit;
	int err;

	if (!t)
		return -ENOMEM;
	/* With a limit, the newest are of interest. */
	for (size_t i = limit && epochs->nr > limit ? epochs->nr - limit : 0;
	     i < epochs->nr; i++)
		put_epoch(t, sel, &epochs->epoch[i]);
	err = table_print(t, ctx->opt.format, "epochs", false);
	table_free(t);
	return err;
}

static int list(const struct cmd_context *ctx)
{
	struct selection sel;
	int err;

	err = select_open_epochs(ctx, ctx->opt.epoch ? ctx->opt.epoch : "all",
				 SELECT_EPOCHS, &sel);
	if (err)
		return EXIT_FAIL;
	err = print_epochs(ctx, &sel);
	select_close(&sel);
	return err ? EXIT_FAIL : EXIT_OK;
}

/* The one epoch that spec names. */
static int find_epoch(const struct cmd_context *ctx, const char *spec, int64_t *id)
{
	struct selection sel;
	int err = select_open_epochs(ctx, spec, SELECT_EPOCHS, &sel);

	if (err)
		return err;
	if (sel.epochs.nr == 1) {
		*id = sel.epochs.epoch[0].id;
	} else {
		log_err("'%s' names %zu epochs: label one at a time", spec,
			sel.epochs.nr);
		err = -CPI_ETOOMANY;
	}
	select_close(&sel);
	return err;
}

static int label(const struct cmd_context *ctx)
{
	struct db *db;
	int64_t id;
	int err;

	if (select_open_db(ctx, DB_WRITE, &db))
		return EXIT_FAIL;
	err = find_epoch(ctx, ctx->args[1], &id);
	if (!err) {
		err = store_label_epoch(db, id, ctx->args[2]);
		if (err)
			log_err("%s: label: %s", db_path(db), err_str(err));
	}
	db_close(db);
	return err ? EXIT_FAIL : EXIT_OK;
}

static int run(struct cmd_context *ctx)
{
	const char *verb = ctx->args[0];

	if (!strcmp(verb, "list") && ctx->nr_args == 1)
		return list(ctx);
	if (!strcmp(verb, "new") && ctx->nr_args <= 2)
		return ctl_run(ctx, CPI_CONTROL_EPOCH,
			       ctx->nr_args == 2 ? ctx->args[1] : "");
	if (!strcmp(verb, "label") && ctx->nr_args == 3)
		return label(ctx);
	return cmd_usage_error(ctx->cmd, "say %s", ctx->cmd->args);
}

static const struct opt opts[] = {
	OPTS_EPOCHS, OPT_LIMIT, OPT_FORMAT, OPT_SOCKET, OPT_END,
};

const struct cmd cmd_epoch = {
	.name = "epoch",
	.args = "list | new [LABEL] | label EPOCH NAME",
	.summary = "List epochs, begin a new one, or name one",
	.min_args = 1,
	.max_args = 3,
	.words = "list|new|label",
	.opts = opts,
	.run = run,
};
