/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_fleet.c - a store for many machines: makes it, lets machines send to it, asks it
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/number.h"
#include "base/times.h"
#include "db/clickhouse/daysums.h"
#include "db/clickhouse/storehosts.h"
#include "db/clickhouse/storekeep.h"
#include "db/clickhouse/storereject.h"
#include "db/clickhouse/storeschema.h"
#include "db/clickhouse/storesettings.h"
#include "db/clickhouse/storeurl.h"
#include "tools/commands.h"
#include "tools/fleet/fleet_join.h"
#include "tools/fleet/fleet_print.h"
#include "tools/options.h"
#include "tools/ui/out.h"
#include "tools/ui/table.h"

#define DAY_NS (86400 * NSEC_PER_SEC)

struct options {
	struct view_options view;
	int by; /* enum fleet_by */
	double price, fdr;
	bool exact, cpi;
	int measure; /* enum fleet_measure */
	const char *quota, *keep, *on_cluster;
};

/* The store's settings, as given; NULL: as before. */
struct limits {
	uint64_t *quota, *keep;
	uint64_t quota_rows, keep_days;
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

/* 0, or -EINVAL, logged. "none" is no limit. */
static int parse_limits(const struct options *o, struct limits *out)
{
	uint64_t ns;

	*out = (struct limits){ 0 };
	if (o->quota) {
		if (strcmp(o->quota, "none") != 0 &&
		    (number_parse(o->quota, 10, &out->quota_rows) ||
		     !out->quota_rows)) {
			log_err("--quota: '%s' is no number of rows: give one, such as "
				"50000000, or none",
				o->quota);
			return -EINVAL;
		}
		out->quota = &out->quota_rows;
	}
	if (o->keep) {
		if (strcmp(o->keep, "none") != 0 &&
		    (time_parse_duration(o->keep, &ns) ||
		     !(out->keep_days = ns / DAY_NS) || ns % DAY_NS)) {
			log_err("--keep: '%s' is no number of days: give one, such as "
				"90d, or none",
				o->keep);
			return -EINVAL;
		}
		out->keep = &out->keep_days;
	}
	return 0;
}

static int set_limits(struct ch_store *store, const struct limits *limits)
{
	int err = 0;

	if (limits->quota)
		err = store_settings_set(store, STORE_QUOTA, *limits->quota);
	if (!err && limits->keep)
		err = store_settings_set(store, STORE_KEEP, *limits->keep);
	return err;
}

static void show_cluster(const struct ch_store *store)
{
	const struct ch_cluster *c = ch_store_cluster(store);

	if (c)
		out_line("cluster %s: %llu servers, %llu replicas of each shard",
			 c->name, (unsigned long long)c->servers,
			 (unsigned long long)c->replicas);
}

static int show_limits(struct ch_store *store)
{
	struct store_settings now;
	int err = store_settings_read(store, &now);

	if (err)
		return err;
	if (now.quota)
		out_line("quota: %llu rows of profiles for each host and day",
			 (unsigned long long)now.quota);
	if (now.keep)
		out_line("kept: %llu days", (unsigned long long)now.keep);
	return 0;
}

static int init(const char *url, const struct options *o)
{
	struct ch_store *store;
	struct limits limits;
	unsigned int before = 0;
	uint64_t added = 0;
	int err = parse_limits(o, &limits);

	if (err)
		return err;
	err = ch_store_open(url, NULL, &store);
	if (err)
		return err;
	err = storeschema_init(store, o->on_cluster, &before, &added);
	if (!err)
		err = set_limits(store, &limits);
	if (!err)
		out_line("database %s: version %d%s", ch_store_database(store),
			 STORESCHEMA_VERSION,
			 before == STORESCHEMA_VERSION ? ", as before"
			 : before                      ? ", brought up to date"
						       : ", made");
	if (!err)
		show_cluster(store);
	if (!err && added)
		out_line("%llu server%s added", (unsigned long long)added,
			 added == 1 ? "" : "s");
	if (!err)
		err = show_limits(store);
	ch_store_close(store);
	return err;
}

static int roll(const char *url)
{
	struct ch_store *store;
	struct daysums_made made;
	struct store_settings settings;
	struct store_rejected rejected = { 0 };
	size_t days = 0;
	int err = ch_store_open(url, NULL, &store);

	if (err)
		return err;
	err = storeschema_check(store);
	if (!err)
		err = store_settings_read(store, &settings);
	if (!err)
		err = store_keep(store, &settings, &days);
	if (!err)
		err = store_reject(store, &settings, &rejected);
	if (!err)
		err = daysums_make(store, &made);
	if (!err)
		out_line("%zu days and %zu hours added up, %zu old sums removed",
			 made.days, made.hours, made.removed);
	if (!err && rejected.nr)
		out_line("%llu epochs with %llu rows rejected: 'cpi fleet hosts' says "
			 "of which hosts",
			 (unsigned long long)rejected.nr,
			 (unsigned long long)rejected.nr_rows);
	if (!err && days)
		out_line("%zu days removed, which the store no longer keeps", days);
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
	{ "rejected", "rejected_rows", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "rejected_epochs", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	{ "one in", "one_in", COLUMN_NUMBER, COLUMN_EVERYWHERE },
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
	table_number(t, h->rejected_rows);
	table_number(t, h->rejected);
	table_number(t, h->one_in);
}

static int hosts(const char *url, const struct options *options)
{
	const struct view_options *o = &options->view;
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

static struct fleet_request request_of(const struct options *o)
{
	const struct select_request *req = &o->view.select;

	return (struct fleet_request){
		.choice = { req->host, req->cluster, req->release, req->machine },
		.times = req->epoch,
		.event = req->event,
		.by = o->by,
		.exact = o->exact,
		.cpi = o->cpi,
	};
}

static int top(const char *url, const struct options *o)
{
	const struct fleet_request request = request_of(o);
	const struct fleet_show show = { .price = o->price, .cpi = o->cpi };
	struct fleet_top t;
	int err = fleet_top_read(url, &request, &t);

	if (err)
		return err;
	err = fleet_top_print(&t, o->by, &show, &o->view.out);
	fleet_top_fini(&t);
	return err;
}

static int outliers(const char *url, const struct options *o)
{
	const struct fleet_outliers_request request = {
		.fleet = request_of(o),
		.measure = o->measure,
		.fdr = o->fdr,
	};
	struct fleet_outliers f;
	int err = fleet_outliers_read(url, &request, &f);

	if (err)
		return err;
	err = fleet_outliers_print(&f, &o->view.out);
	fleet_outliers_fini(&f);
	return err;
}

static bool is_word(const char *word)
{
	return !strcmp(word, "init") || !strcmp(word, "hosts") ||
	       !strcmp(word, "roll") || !strcmp(word, "top") ||
	       !strcmp(word, "outliers") || !strcmp(word, "join");
}

static int run_fleet(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const char *word = ctx->args[0], *url;
	int err;

	if (!is_word(word))
		return cmd_usage_error(ctx->cmd, "say %s", ctx->cmd->args);
	if (!strcmp(word, "outliers") && o->by > FLEET_IMAGE)
		return cmd_usage_error(ctx->cmd,
				       "outliers are --by procedure or image");
	url = store_of(&o->view.select);
	if (!url)
		return EXIT_USAGE;
	if (!strcmp(word, "top"))
		err = top(url, o);
	else if (!strcmp(word, "outliers"))
		err = outliers(url, o);
	else if (!strcmp(word, "roll"))
		err = roll(url);
	else if (!strcmp(word, "join"))
		err = fleet_join(url);
	else
		err = strcmp(word, "init") ? hosts(url, o) : init(url, o);
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPT_SELECT("db", "URL", "the store: clickhouse://HOST:PORT/DATABASE", OPT_LIST,
		   dbs),
	OPT_HOST,
	OPTS_ORIGIN,
	OPT_SELECT("epoch", "TIMES", "only epochs of these times: A..B, -2h..",
		   OPT_STRING, epoch),
	OPT_LOCAL_TIME,
	OPT_EVENT,
	OPT("by", 0, FLEET_BY_WORDS, "what a row stands for", OPT_CHOICE, by),
	OPT("price", 0, "PRICE", "of a CPU-hour: also show the cost", OPT_REAL, price),
	OPT("cpi", 0, NULL, "also show cycles per instruction", OPT_FLAG, cpi),
	OPT("exact", 0, NULL, "read all rows, even if there are very many", OPT_FLAG,
	    exact),
	OPT("measure", 0, FLEET_MEASURE_WORDS, "what outliers are compared by",
	    OPT_CHOICE, measure),
	OPT("quota", 0, "ROWS", "init: the most rows of a host and day, or none",
	    OPT_STRING, quota),
	OPT("on-cluster", 0, "NAME", "init: make the tables on this ClickHouse cluster",
	    OPT_STRING, on_cluster),
	OPT("keep", 0, "DAYS", "init: how long the store keeps rows, as 90d, or none",
	    OPT_STRING, keep),
	OPT("fdr", 0, "RATE", "outliers: the rate of false ones (default: 0.05)",
	    OPT_REAL, fdr),
	OPT_LIMIT,
	OPT_FORMAT,
	OPT_END,
};

const struct cmd cmd_fleet = {
	.name = "fleet",
	.args = "init | join | hosts | roll | top | outliers",
	.summary = "Make a store for many machines, and ask it what costs most",
	.min_args = 1,
	.max_args = 1,
	.words = "init|join|hosts|roll|top|outliers",
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_fleet,
};
