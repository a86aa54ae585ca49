/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_fleet.c - a store for many machines: makes it
 */
#include "config.h"

#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "db/clickhouse/storeschema.h"
#include "db/clickhouse/storeurl.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/ui/out.h"

struct options {
	struct view_options view;
};

/* The store that --db or $CPI_DB names. */
static const char *store_of(const struct select_request *req)
{
	const char *url = req->dbs.nr == 1 ? req->dbs.item[0]
			  : req->dbs.nr    ? NULL
					   : db_env_path();

	if (url && storeurl_is(url))
		return url;
	log_err("name one store: --db=clickhouse://HOST:PORT/DATABASE, or CPI_DB");
	return NULL;
}

static int init(const char *url)
{
	struct ch_store *store;
	unsigned int before = 0;
	int err = ch_store_open(url, &store);

	if (err)
		return err;
	err = storeschema_init(store, &before);
	if (!err)
		out_line("database %s: version %d%s", ch_store_database(store),
			 STORESCHEMA_VERSION,
			 before == STORESCHEMA_VERSION ? ", as before"
			 : before                      ? ", brought up to date"
						       : ", made");
	ch_store_close(store);
	return err;
}

static int run_fleet(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const char *url;

	if (strcmp(ctx->args[0], "init"))
		return cmd_usage_error(ctx->cmd, "say %s", ctx->cmd->args);
	url = store_of(&o->view.select);
	if (!url)
		return EXIT_USAGE;
	return init(url) ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPT_SELECT("db", "URL", "the store: clickhouse://HOST:PORT/DATABASE", OPT_LIST,
		   dbs),
	OPT_END,
};

const struct cmd cmd_fleet = {
	.name = "fleet",
	.args = "init",
	.summary = "Make a store for the profiles of many machines",
	.min_args = 1,
	.max_args = 1,
	.words = "init",
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_fleet,
};
