/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storegrow.c - makes the tables of a store on servers that have none yet
 *
 * The tables are made as a server has them now, and not by the steps of the schema: a
 * new replica of a table must have the columns of the others. Paths in the keeper have
 * macros, so that one statement is right on all servers.
 */
#include "config.h"

#include "db/clickhouse/storegrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/times.h"
#include "db/clickhouse/storecluster.h"

#define MAX_ANSWER (16u << 20)
#define PATIENCE_S 600 /* for the copies of small tables */
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

/* The tables with rows come first: the others are named after them. */
static int read_statements(struct ch_store *s, struct statements *list)
{
	struct buf sql = { 0 };
	int err;

	buf_puts(&sql,
		 "SELECT create_table_query FROM system.tables WHERE database = ");
	ch_put_literal(&sql, ch_store_database(s));
	buf_puts(&sql, " AND (engine LIKE 'Replicated%' OR engine = 'Distributed')"
		       " ORDER BY engine = 'Distributed', name FORMAT RowBinary");
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

static int create_all(struct ch_store *s)
{
	struct statements list = { 0 };
	struct buf sql = { 0 };
	int err = read_statements(s, &list);

	buf_printf(&sql, "CREATE DATABASE IF NOT EXISTS %s ON CLUSTER '%s'",
		   ch_store_database(s), ch_store_cluster(s)->name);
	if (!err)
		err = sql.err ? sql.err : ch_store_admin(s, buf_str(&sql));
	for (size_t i = 0; !err && i < list.nr; i++)
		err = create(s, list.text[i]);
	buf_fini(&sql);
	statements_fini(&list);
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
	uint64_t n = 0;
	int err = 0;

	if ((uint64_t)ch_store_nr_hosts(s) != now->servers) {
		log_err("fleet: cluster '%s' has %llu servers now, %llu with tables: "
			"to "
			"make the tables on the others, name all servers in the "
			"store's URL",
			now->name, (unsigned long long)now->servers,
			(unsigned long long)ch_store_cluster(s)->servers);
		return -EINVAL;
	}
	buf_printf(&sql,
		   "SELECT uniqExact(shard_num) * 1000 + count() FROM system.clusters"
		   " WHERE cluster = '%s' FORMAT RowBinary",
		   now->name);
	for (int i = 0; !err && i < ch_store_nr_hosts(s); i++) {
		err = sql.err ? sql.err : ask_at(s, i, buf_str(&sql), &n);
		if (!err && n != now->shards * 1000 + now->servers) {
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

/* Whether a server has a copy of all small tables, and nothing to fetch. */
static int await_copies(struct ch_store *s, int i)
{
	const uint64_t until_ns = time_mono_ns() + PATIENCE_S * NSEC_PER_SEC;
	struct buf sql = { 0 };
	uint64_t left = 1;
	int err = 0;

	buf_puts(&sql, "SELECT toUInt64(sum(queue_size) + sum(is_readonly) + (count() ="
		       " 0)) FROM system.replicas WHERE database = ");
	ch_put_literal(&sql, ch_store_database(s));
	buf_puts(&sql, " AND table NOT LIKE '%\\_local' FORMAT RowBinary");
	while (!err && left) {
		err = sql.err ? sql.err : ask_at(s, i, buf_str(&sql), &left);
		if (!err && left && time_mono_ns() > until_ns) {
			log_err("fleet: server %d of the store's URL does not get the "
				"rows of the small tables: does it reach the other "
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

int storegrow_find(struct ch_store *s, uint64_t *added)
{
	const struct ch_cluster *c = ch_store_cluster(s);
	const int before = ch_store_host(s);
	struct ch_cluster now = { 0 };
	int err = 0;

	*added = 0;
	if (!c)
		return 0;
	err = storecluster_shape(s, c->name, &now);
	if (err || now.servers <= c->servers)
		return err;
	if (now.replicas != c->replicas) {
		log_err("fleet: the shards of cluster '%s' have %llu replicas now, its "
			"tables have %llu: a new shard needs as many as the others",
			c->name, (unsigned long long)now.replicas,
			(unsigned long long)c->replicas);
		return -EINVAL;
	}
	err = check_servers(s, &now);
	ch_store_use_host(s, before);
	if (!err)
		err = create_all(s);
	for (int i = 0; !err && i < ch_store_nr_hosts(s); i++)
		err = await_copies(s, i);
	ch_store_use_host(s, before);
	if (err)
		return err;
	*added = now.servers - c->servers;
	return storecluster_find(s);
}
