/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storegrow.c - makes the tables of a store on servers that have none yet
 *
 * The tables are made as a server has them now, and not by the steps of the schema: a
 * new replica of a table must have the columns of the others. Paths in the keeper have
 * macros, so that one statement is right on all servers.
 *
 * The table epoch says which servers have tables. It is made last, when the new servers
 * have copies of the others: so a growth that ended early is repeated, and completed.
 */
#include "config.h"

#include "db/clickhouse/storegrow.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/times.h"
#include "db/clickhouse/storecluster.h"

#define MAX_ANSWER (16u << 20)
#define LAST_TABLE "epoch" /* as storecluster_find() asks it */
#define PATIENCE_S 600     /* for the copies of small tables */
#define LOOK_US    200000

static const char begin[] = "CREATE TABLE ";

/* Statements that create the tables. */
struct statements {
	char **text;
	size_t nr;
};

static void statements_fini(struct statements *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->text[i]);
	free(list->text);
}

static int note_statement(void *ctx, const struct rowbinary_cell *cells)
{
	struct statements *list = ctx;
	char *text = strndup(cells->text, cells->len);
	int err = !text ? -ENOMEM
		  : strncmp(text, begin, strlen(begin)) != 0
			  ? -CPI_ECORRUPT
			  : GROW(list->text, list->nr);

	if (err)
		free(text);
	else
		list->text[list->nr++] = text;
	return err;
}

/*
 * The tables with rows come before the Distributed ones, which are named after them,
 * and LAST_TABLE comes last.
 */
static int read_statements(struct ch_store *s, struct statements *list)
{
	struct buf sql = { 0 };
	int err;

	buf_puts(&sql,
		 "SELECT create_table_query FROM system.tables WHERE database = ");
	ch_put_literal(&sql, ch_store_database(s));
	buf_puts(&sql, " AND (engine LIKE 'Replicated%' OR engine = 'Distributed')"
		       " ORDER BY name = '" LAST_TABLE "', engine = 'Distributed',"
		       " name FORMAT RowBinary");
	err = sql.err ? sql.err
		      : ch_store_admin_query(s, buf_str(&sql), "s", MAX_ANSWER,
					     note_statement, list);
	buf_fini(&sql);
	return err;
}

/* "CREATE TABLE db.name (…" on all servers, where the table is not there yet. */
static int create(struct ch_store *s, const char *statement)
{
	const char *name = statement + strlen(begin);
	const size_t size = strcspn(name, " \n(");
	struct buf sql = { 0 };
	int err;

	buf_printf(&sql, "%sIF NOT EXISTS %.*s ON CLUSTER '%s'%s", begin, (int)size,
		   name, ch_store_cluster(s)->name, name + size);
	err = sql.err ? sql.err : ch_store_admin(s, buf_str(&sql));
	buf_fini(&sql);
	return err;
}

/* ---- each server ---- */

/* Statements go to server i of the URL; -ECONNREFUSED, logged, if another one answers.
 */
static int ask_at(struct ch_store *s, int i, const char *sql, uint64_t *n)
{
	int err;

	ch_store_use_host(s, i);
	err = ch_store_admin_query(s, sql, "8", 1024, rowbinary_take_number, n);
	if (err || ch_store_host(s) == i)
		return err;
	log_err("fleet: server %d of the store's URL cannot be reached: start it, and "
		"repeat 'cpi fleet init'",
		i + 1);
	return -ECONNREFUSED;
}

/* All servers must divide rows in the same way. */
static int check_servers(struct ch_store *s, const struct ch_cluster *now)
{
	struct buf sql = { 0 };
	uint64_t first = 0, n = 0;
	int err = 0;

	buf_printf(&sql,
		   "SELECT sum(cityHash64(shard_num, host_name, port)) FROM"
		   " system.clusters WHERE cluster = '%s' FORMAT RowBinary",
		   now->name);
	for (int i = 0; !err && i < ch_store_nr_hosts(s); i++) {
		err = sql.err ? sql.err : ask_at(s, i, buf_str(&sql), &n);
		if (!i)
			first = n;
		if (!err && n != first) {
			log_err("fleet: server %d of the store's URL knows another "
				"cluster '%s' than the first one: the element "
				"remote_servers must be the same on all servers",
				i + 1, now->name);
			err = -EINVAL;
		}
	}
	buf_fini(&sql);
	return err;
}

/* The tables of a store on one server would keep their rows to themselves. */
static int check_tables(struct ch_store *s)
{
	struct buf sql = { 0 };
	uint64_t n = 0;
	int err = 0;

	buf_puts(&sql, "SELECT count() FROM system.tables WHERE database = ");
	ch_put_literal(&sql, ch_store_database(s));
	buf_puts(&sql, " AND name = 'version' AND engine NOT LIKE 'Replicated%'"
		       " FORMAT RowBinary");
	for (int i = 0; !err && i < ch_store_nr_hosts(s); i++) {
		err = sql.err ? sql.err : ask_at(s, i, buf_str(&sql), &n);
		if (!err && n) {
			log_err("fleet: server %d of the store's URL has another store "
				"in its database %s: remove it there, and repeat 'cpi "
				"fleet init'",
				i + 1, ch_store_database(s));
			err = -EEXIST;
		}
	}
	buf_fini(&sql);
	return err;
}

/* Whether the URL names all servers of a cluster. */
static bool names_all(const struct ch_store *s, const struct ch_cluster *now)
{
	return (uint64_t)ch_store_nr_hosts(s) == now->servers;
}

/* Whether all servers of the URL answer. */
static int do_all_answer(struct ch_store *s, bool *answer)
{
	uint64_t n;
	int err = 0;

	*answer = true;
	for (int i = 0; !err && *answer && i < ch_store_nr_hosts(s); i++) {
		ch_store_use_host(s, i);
		err = ch_store_admin_query(s, "SELECT toUInt64(1) FORMAT RowBinary",
					   "8", 1024, rowbinary_take_number, &n);
		*answer = ch_store_host(s) == i;
	}
	return err;
}

/*
 * Waits until a server has a copy of the small tables, and of all tables if it may
 * belong to a shard that has rows. It need not have merged them.
 */
static int await_copies(struct ch_store *s, int i, bool all)
{
	const uint64_t until_ns = time_mono_ns() + PATIENCE_S * NSEC_PER_SEC;
	struct buf sql = { 0 };
	uint64_t left = 1;
	int err = 0;

	buf_puts(&sql,
		 "SELECT toUInt64(sum(inserts_in_queue) + sum(is_readonly) + (count() ="
		 " 0)) FROM system.replicas WHERE database = ");
	ch_put_literal(&sql, ch_store_database(s));
	if (!all)
		buf_puts(&sql, " AND table NOT LIKE '%\\_local'");
	buf_puts(&sql, " FORMAT RowBinary");
	while (!err && left) {
		err = sql.err ? sql.err : ask_at(s, i, buf_str(&sql), &left);
		if (!err && left && time_mono_ns() > until_ns) {
			log_err("fleet: server %d of the store's URL does not get the "
				"rows of the tables: does it reach the other "
				"servers? (interserver_http_host in its configuration)",
				i + 1);
			err = -ETIMEDOUT;
		}
		if (!err && left)
			usleep(LOOK_US);
	}
	buf_fini(&sql);
	return err;
}

static int await_all(struct ch_store *s, bool all)
{
	int err = 0;

	for (int i = 0; !err && i < ch_store_nr_hosts(s); i++)
		err = await_copies(s, i, all);
	return err;
}

/* Server `from` of the URL has all tables. all: await the copies of all. */
static int create_all(struct ch_store *s, int from, bool all)
{
	struct statements list = { 0 };
	struct buf sql = { 0 };
	int err;

	ch_store_use_host(s, from);
	err = read_statements(s, &list);
	if (!err && (!list.nr || ch_store_host(s) != from)) {
		log_err("fleet: server %d of the store's URL does not say which tables "
			"it has: repeat 'cpi fleet init'",
			from + 1);
		err = -EIO;
	}
	buf_printf(&sql, "CREATE DATABASE IF NOT EXISTS %s ON CLUSTER '%s'",
		   ch_store_database(s), ch_store_cluster(s)->name);
	if (!err)
		err = sql.err ? sql.err : ch_store_admin(s, buf_str(&sql));
	for (size_t i = 0; !err && i < list.nr; i++) {
		if (i + 1 == list.nr)
			err = await_all(s, all);
		ch_store_use_host(s, from);
		if (!err)
			err = create(s, list.text[i]);
	}
	if (!err)
		err = await_all(s, all);
	buf_fini(&sql);
	statements_fini(&list);
	return err;
}

/* Less than a shard has no tables: servers that were removed, or a growth that ended
 * early. */
static bool lacks_replicas(const struct ch_cluster *now, const struct ch_cluster *c)
{
	return now->servers - c->servers < now->replicas;
}

/* Whether the tables can be made on the other servers; if not, says so. */
static int may_grow(struct ch_store *s, const struct ch_cluster *now, bool *may)
{
	const struct ch_cluster *c = ch_store_cluster(s);
	const bool few = lacks_replicas(now, c);
	bool answer = true;
	int err = 0;

	if (!few && now->replicas != c->replicas) {
		log_err("fleet: the shards of cluster '%s' have %llu replicas now, its "
			"tables have %llu: a new shard needs as many as the others; "
			"servers that do not come back must not be in the element "
			"remote_servers",
			c->name, (unsigned long long)now->replicas,
			(unsigned long long)c->replicas);
		return -EINVAL;
	}
	*may = names_all(s, now);
	if (few && *may) {
		err = do_all_answer(s, &answer);
		*may = answer;
	}
	if (err || *may)
		return err;
	log_line(
		few ? LOG_LEVEL_WARN : LOG_LEVEL_ERROR,
		"fleet: cluster '%s' has %llu servers now, %llu with tables: to make "
		"the tables on the others, name all servers in the store's URL; remove "
		"those that do not come back from the element remote_servers of all "
		"servers",
		c->name, (unsigned long long)now->servers,
		(unsigned long long)c->servers);
	return few ? 0 : -EINVAL;
}

/* The number of a cluster's servers, by the configuration of the one that is asked. */
static int nr_servers(struct ch_store *s, const char *name, uint64_t *nr)
{
	struct buf sql = { 0 };
	int err;

	buf_printf(&sql,
		   "SELECT count() FROM system.clusters WHERE cluster = '%s'"
		   " FORMAT RowBinary",
		   name);
	err = sql.err ? sql.err
		      : ch_store_admin_query(s, buf_str(&sql), "8", 1024,
					     rowbinary_take_number, nr);
	buf_fini(&sql);
	return err;
}

int storegrow_find(struct ch_store *s, uint64_t *added)
{
	const struct ch_cluster *c = ch_store_cluster(s);
	const int before = ch_store_host(s);
	struct ch_cluster now = { 0 };
	bool may = false;
	uint64_t nr = 0;
	int err;

	*added = 0;
	if (!c)
		return 0;
	err = nr_servers(s, c->name, &nr);
	if (err || (nr && nr <= c->servers))
		return err;
	err = storecluster_shape(s, c->name, &now);
	if (!err)
		err = may_grow(s, &now, &may);
	if (!err && may)
		err = check_servers(s, &now);
	if (!err && may)
		err = check_tables(s);
	if (!err && may)
		err = create_all(s, before, lacks_replicas(&now, c));
	ch_store_use_host(s, before);
	if (err || !may)
		return err;
	*added = now.servers - c->servers;
	return storecluster_find(s);
}
