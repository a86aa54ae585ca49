/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storeschema.c - the versions of a store's tables
 *
 * The steps are the .sql files beside this one, which the build turns into strings.
 * ClickHouse has no transactions over statements, so each statement may be repeated
 * (IF NOT EXISTS), and a step's version is noted after its last statement.
 */
#include "config.h"

#include "db/clickhouse/storeschema.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/err.h"
#include "base/log.h"
#include "db/clickhouse/storecluster.h"
#include "db/clickhouse/storegrow.h"
#include "db/clickhouse/storeschema_sql.h"

#define END_OF_STATEMENT ";\n"
#define MAX_ANSWER       (1 << 20)
#define CODEC_SINCE      20000

static const char *const steps[STORESCHEMA_VERSION] = {
	store_1_sql, store_2_sql, store_3_sql, store_4_sql, store_5_sql,
	store_6_sql, store_7_sql, store_8_sql, store_9_sql, store_10_sql
};

/* 0 where there is no such database, or no table of versions in it. */
static int get_version(struct ch_store *s, uint64_t *version)
{
	struct buf sql = { 0 };
	uint64_t nr = 0;
	int err;

	buf_puts(&sql, "SELECT count() FROM system.tables WHERE database = ");
	ch_put_literal(&sql, ch_store_database(s));
	buf_puts(&sql, " AND name = 'version' FORMAT RowBinary");
	err = ch_store_admin_query(s, buf_str(&sql), "8", MAX_ANSWER,
				   rowbinary_take_number, &nr);
	buf_fini(&sql);
	*version = 0;
	if (err || !nr)
		return err;
	return ch_store_query(s,
			      "SELECT toUInt64(max(version)) FROM version"
			      " FORMAT RowBinary",
			      "8", MAX_ANSWER, rowbinary_take_number, version);
}

/*
 * The version that any server of the URL has. A server that was added to a cluster has
 * no tables yet, and must not get a store of its own. Later statements go to the server
 * that has the tables.
 */
static int find_version(struct ch_store *s, uint64_t *version)
{
	const int nr = ch_store_nr_hosts(s);
	int first, err = get_version(s, version);

	first = ch_store_host(s);
	for (int i = 0; !err && !*version && nr > 1 && i < nr; i++) {
		ch_store_use_host(s, i);
		err = get_version(s, version);
		if (!err && !*version && ch_store_host(s) != i) {
			log_err("fleet: server %d of the store's URL cannot be "
				"reached, "
				"and may have the tables: start it, and repeat 'cpi "
				"fleet init'",
				i + 1);
			err = -ECONNREFUSED;
		}
	}
	if (!err && !*version)
		ch_store_use_host(s, first);
	return err;
}

/* Whether the server knows what a statement says. */
static bool knows(const struct ch_store *s, const char *statement)
{
	return ch_store_version(s) >= CODEC_SINCE || !strstr(statement, "CODEC(");
}

/* Whether a statement adds a column that is there: a step that failed is repeated. */
static int is_done(struct ch_store *s, const char *statement, bool *done)
{
	char table[64], column[64];
	struct buf sql = { 0 };
	uint64_t nr = 0;
	int err;

	*done = false;
	if (sscanf(statement, " ALTER TABLE %63s ADD COLUMN %63s", table, column) != 2)
		return 0;
	buf_puts(&sql, "SELECT count() FROM system.columns WHERE database = ");
	ch_put_literal(&sql, ch_store_database(s));
	buf_printf(&sql, " AND table = '%s' AND name = '%s' FORMAT RowBinary", table,
		   column);
	err = ch_store_query_buf(s, &sql, "8", MAX_ANSWER, rowbinary_take_number, &nr);
	buf_fini(&sql);
	*done = nr;
	return err;
}

static int run_step(struct ch_store *s, const char *step)
{
	bool done;
	const char *end;
	char *statement;
	int err = 0;

	for (; !err && (end = strstr(step, END_OF_STATEMENT)); step = end + 2) {
		statement = strndup(step, (size_t)(end - step));
		if (!statement)
			return -ENOMEM;
		err = is_done(s, statement, &done);
		if (!err && !done && knows(s, statement))
			err = storecluster_exec(s, statement);
		free(statement);
	}
	return err;
}

static int run_steps(struct ch_store *s, uint64_t version)
{
	char sql[80];
	int err = 0;

	for (; !err && version < STORESCHEMA_VERSION; version++) {
		err = run_step(s, steps[version]);
		snprintf(sql, sizeof(sql), "INSERT INTO version (version) VALUES (%u)",
			 (unsigned int)version + 1);
		if (!err)
			err = ch_store_exec(s, sql);
	}
	return err;
}

/* Gives the store an id, unless it has one. */
static int identify(struct ch_store *s)
{
	uint64_t nr = 0, id = 0;
	char sql[80];
	int err = ch_store_query(s, "SELECT count() FROM identity FORMAT RowBinary",
				 "8", MAX_ANSWER, rowbinary_take_number, &nr);

	if (err || nr)
		return err;
	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		return -EIO;
	snprintf(sql, sizeof(sql), "INSERT INTO identity (id) SELECT toUInt64(%llu)",
		 (unsigned long long)(id ? id : 1));
	return ch_store_exec(s, sql);
}

static int too_new(uint64_t version)
{
	log_err("fleet: the store's tables have version %llu, this program knows %d: "
		"install a newer one",
		(unsigned long long)version, STORESCHEMA_VERSION);
	return -CPI_EVERSION;
}

static int make_database(struct ch_store *s)
{
	const struct ch_cluster *c = ch_store_cluster(s);
	struct buf sql = { 0 };
	int err;

	buf_printf(&sql, "CREATE DATABASE IF NOT EXISTS %s", ch_store_database(s));
	if (c)
		buf_printf(&sql, " ON CLUSTER '%s'", c->name);
	err = sql.err ? sql.err : ch_store_admin(s, buf_str(&sql));
	buf_fini(&sql);
	return err;
}

/* Tables that are there stay where they are. */
static int choose_place(struct ch_store *s, const char *cluster, uint64_t version)
{
	const struct ch_cluster *c;
	int err = storecluster_find(s);

	c = ch_store_cluster(s);
	if (err || !cluster || (c && !strcmp(c->name, cluster)))
		return err;
	if (!c && !version)
		return storecluster_choose(s, cluster);
	log_err("fleet: the tables of database '%s' are %s%s already: make another "
		"database on cluster '%s', and let cpi-ship send to it",
		ch_store_database(s), c ? "on cluster " : "on one server",
		c ? c->name : "", cluster);
	return -EEXIST;
}

int storeschema_init(struct ch_store *s, const char *cluster, unsigned int *before,
		     uint64_t *added)
{
	uint64_t version = 0, grown = 0;
	int err = find_version(s, &version);

	if (!err)
		err = choose_place(s, cluster, version);
	if (!err && !version)
		err = make_database(s);
	if (!err && version > STORESCHEMA_VERSION)
		err = too_new(version);
	if (!err && version)
		err = storegrow_find(s, &grown);
	if (!err)
		err = run_steps(s, version);
	if (!err)
		err = identify(s);
	if (!err) {
		*before = (unsigned int)version;
		*added = grown;
	}
	return err;
}

int storeschema_check(struct ch_store *s)
{
	uint64_t version;
	int err = get_version(s, &version);

	if (!err && version == STORESCHEMA_VERSION)
		return storecluster_find(s);
	if (err)
		return err;
	if (version > STORESCHEMA_VERSION)
		return too_new(version);
	log_err("fleet: the store has no database '%s' of this version: 'cpi fleet "
		"init' "
		"makes it",
		ch_store_database(s));
	return -ENOENT;
}
