/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_fleet.c - a store for many machines: makes it, and lists who sends to it
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "db/clickhouse/storehosts.h"
#include "db/clickhouse/storeschema.h"
#include "db/clickhouse/storeurl.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/ui/out.h"
#include "tools/ui/table.h"

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
	int err = ch_store_open(url, -1, &store);

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

static const struct column columns[] = {
	{ "host", "host", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "CPUs", "cpus", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "epochs", "epochs", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "samples", "samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "lost", "lost", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "dropped", "flushes_dropped", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "from", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
	{ "until", "to", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "s ago", "lag_s", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "kernel", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
	{ "", "machine", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
	{ "cluster", "cluster", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "release", "release", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "version", "version", COLUMN_TEXT, COLUMN_EVERYWHERE },
};

static void put_host(struct table *t, const struct storehost *h, uint64_t now_ns)
{
	table_text(t, h->name);
	table_number(t, h->nr_cpus);
	table_number(t, h->nr_epochs);
	table_number(t, h->received);
	table_number(t, h->lost);
	table_number(t, h->dropped);
	table_time(t, h->from_ns);
	table_time(t, h->to_ns);
	table_number(t, now_ns > h->to_ns ? (now_ns - h->to_ns) / NSEC_PER_SEC : 0);
	table_text(t, h->kernel);
	table_text(t, h->machine);
	table_text(t, h->cluster);
	table_text(t, h->release);
	table_text(t, h->version);
}

static int hosts(const char *url, const struct view_options *o)
{
	const uint64_t limit = o->out.limit, now_ns = time_real_ns();
	const struct select_request *req = &o->select;
	const struct store_choice choice = { req->host, req->cluster, req->release,
					     req->machine };
	struct storehosts list = { 0 };
	struct table *t = NULL;
	int err = storehosts_read(url, &choice, &list);

	if (err)
		return err;
	t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	err = t ? 0 : -ENOMEM;
	for (size_t i = 0; !err && i < list.nr && (!limit || i < limit); i++)
		put_host(t, &list.host[i], now_ns);
	if (!err)
		err = table_print(t, o->out.format, "hosts", false);
	table_free(t);
	storehosts_fini(&list);
	return err;
}

static int run_fleet(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const bool lists = !strcmp(ctx->args[0], "hosts");
	const char *url;
	int err;

	if (!lists && strcmp(ctx->args[0], "init"))
		return cmd_usage_error(ctx->cmd, "say %s", ctx->cmd->args);
	url = store_of(&o->view.select);
	if (!url)
		return EXIT_USAGE;
	err = lists ? hosts(url, &o->view) : init(url);
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPT_SELECT("db", "URL", "the store: clickhouse://HOST:PORT/DATABASE", OPT_LIST,
		   dbs),
	OPT_HOST,
	OPTS_ORIGIN,
	OPT_LIMIT,
	OPT_FORMAT,
	OPT_END,
};

const struct cmd cmd_fleet = {
	.name = "fleet",
	.args = "init | hosts",
	.summary = "Make a store for many machines, or list who sends to it",
	.min_args = 1,
	.max_args = 1,
	.words = "init|hosts",
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_fleet,
};
