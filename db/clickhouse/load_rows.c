/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load_rows.c - rows of selected epochs, and what these refer to
 *
 * Profiles become blobs again, as a machine stores them: the rows of one are next to
 * each other in the order that the store is asked for.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "db/clickhouse/fleetid.h"
#include "db/clickhouse/load_private.h"
#include "db/core/sql.h"
#include "db/profile/codec.h"

#define ADDRESS    "toUInt64(host), toUInt64(toUInt32(at)), toUInt64(nr), "
#define MAX_IDS    2000 /* of one question */
#define NR_ADDRESS 3

/* ---- tables whose rows travel as they are ---- */

static int insert_of_epoch(void *ctx, const struct rowbinary_cell *cells)
{
	struct load *l = ctx;
	const struct load_epoch *e = load_find(l, cells);

	if (!e || !e->selected)
		return 0;
	sqlite3_bind_int64(l->insert, 1, e->id);
	load_bind(l->insert, 2, l->table->types, cells + NR_ADDRESS);
	return sql_run(l->insert);
}

static int insert_named(void *ctx, const struct rowbinary_cell *cells)
{
	struct load *l = ctx;

	load_bind(l->insert, 1, l->table->types, cells);
	return sql_run(l->insert);
}

static int prepare(struct load *l, const struct storetable *table)
{
	sqlite3_finalize(l->insert);
	l->insert = NULL;
	l->table = table;
	return sql_prepare(l->h, table->insert, &l->insert);
}

/* Takes what sql selects, addresses first, into the table; sql is freed. */
static int take_selected(struct load *l, const struct storetable *table,
			 struct buf *sql)
{
	char types[ROWBINARY_MAX_COLUMNS + 1];
	int err = prepare(l, table);

	snprintf(types, sizeof(types), "888%s", table->types);
	if (!err)
		err = ch_store_query_buf(l->store, sql, types, LOAD_MAX_BYTES,
					 insert_of_epoch, l);
	buf_fini(sql);
	return err;
}

int load_rows(struct load *l, const struct storetable *table)
{
	struct buf sql = { 0 };

	buf_printf(&sql, "SELECT " ADDRESS "%s FROM %s%s FORMAT RowBinary",
		   table->columns, table->name, buf_str(&l->where));
	return take_selected(l, table, &sql);
}

/* The address of the epoch that has the sums. */
static void put_first(const struct load *l, struct buf *sql)
{
	const struct load_epoch *e = l->epoch;

	while (!e->selected)
		e++;
	buf_printf(sql,
		   "SELECT toUInt64(%" PRIu64 "), toUInt64(%" PRIu64
		   "), toUInt64(%" PRIu64 "), ",
		   e->host, e->at, e->nr);
}

/* Rows of a table to add up: those of lots, and of days without one. */
static void put_source(const struct load *l, const char *table, const char *columns,
		       const char *images, struct buf *sql)
{
	const struct daysums_lots *d = &l->days;

	if (!d->nr) {
		buf_printf(sql, " FROM %s%s%s", table, l->where.data, images);
		return;
	}
	buf_printf(sql,
		   " FROM (SELECT %s, n FROM day_%s WHERE toUInt16(day) IN (%s) AND"
		   " (day, lot) IN (%s)%s",
		   columns, table, d->periods.data, d->lots.data, images);
	if (d->nr < d->nr_periods)
		buf_printf(sql,
			   " UNION ALL SELECT %s, n FROM %s%s%s AND " DAYSUMS_DAY
			   " NOT IN (%s)",
			   columns, table, l->where.data, images, d->periods.data);
	buf_puts(sql, ") AS rows");
}

int load_sums(struct load *l, const struct storetable *table)
{
	struct buf sql = { 0 };

	put_first(l, &sql);
	buf_puts(&sql, table->sums);
	if (!strcmp(table->name, "comm"))
		put_source(l, table->name, table->by, "", &sql);
	else
		buf_printf(&sql, " FROM %s%s", table->name, buf_str(&l->where));
	buf_printf(&sql, " GROUP BY %s FORMAT RowBinary", table->by);
	return take_selected(l, table, &sql);
}

/* ---- profiles ---- */

/* A row: address, image, stream, context, offset, counter, n. */
enum { IMAGE = NR_ADDRESS, STREAM, CONTEXT, OFFSET, COUNTER, N };
#define NR_KEY OFFSET /* columns that rows of one profile have in common */

struct profiles {
	struct load *load;
	struct rowbinary_cell key[NR_KEY];
	struct profile *profile; /* of these; NULL before the first row */
	struct count count;      /* of the offset that is read */
};

static int insert_kind(struct profiles *p, const struct load_epoch *e,
		       enum profile_kind kind)
{
	sqlite3_stmt *st = p->load->insert;
	struct buf blob = { 0 };
	uint64_t total;
	int err = codec_total(p->profile, kind, &total);

	if (!err)
		err = codec_encode(p->profile, kind, &blob);
	if (!err && blob.len) {
		sqlite3_bind_int64(st, 1, e->id);
		for (int i = 0; i < 3; i++)
			sqlite3_bind_int64(st, 2 + i, (int64_t)p->key[IMAGE + i].n);
		sqlite3_bind_int64(st, 5, kind);
		sqlite3_bind_int64(st, 6, (int64_t)total);
		sqlite3_bind_blob64(st, 7, blob.data, blob.len, SQLITE_STATIC);
		err = sql_run(st);
	}
	buf_fini(&blob);
	return err;
}

static int end_offset(struct profiles *p)
{
	const struct count c = p->count;

	p->count = (struct count){ 0 };
	return profile_add(p->profile, &c);
}

static int end_profile(struct profiles *p)
{
	const struct load_epoch *e;
	int err;

	if (!p->profile)
		return 0;
	err = end_offset(p);
	e = load_find(p->load, p->key);
	for (int kind = PROFILE_COUNT; !err && e && kind <= PROFILE_WEIGHTED; kind++)
		err = insert_kind(p, e, (enum profile_kind)kind);
	profile_free(p->profile);
	p->profile = NULL;
	return err;
}

static bool same_profile(const struct profiles *p, const struct rowbinary_cell *cells)
{
	for (int i = 0; i < NR_KEY; i++) {
		if (p->key[i].n != cells[i].n)
			return false;
	}
	return true;
}

static int add_count(struct profiles *p, const struct rowbinary_cell *cells)
{
	const uint64_t n = cells[N].n, offset = cells[OFFSET].n;
	int err = 0;

	if (offset != p->count.offset)
		err = end_offset(p);
	p->count.offset = offset;
	switch (cells[COUNTER].n) {
	case COUNTER_SAMPLES:
		p->count.n = n;
		break;
	case COUNTER_NOT_TAKEN:
		p->count.not_taken = n;
		break;
	case COUNTER_TAKEN:
		p->count.taken = n;
		break;
	default:
		if (cells[COUNTER].n >= COUNTER_WEIGHT + NR_WEIGHTS)
			return -CPI_ECORRUPT;
		if (!err)
			err = profile_add_weight(p->profile,
						 (enum weight)(cells[COUNTER].n -
							       COUNTER_WEIGHT),
						 offset, n);
	}
	return err;
}

static int take_count(void *ctx, const struct rowbinary_cell *cells)
{
	struct profiles *p = ctx;
	int err = 0;

	if (!p->profile || !same_profile(p, cells)) {
		err = end_profile(p);
		if (err)
			return err;
		memcpy(p->key, cells, sizeof(p->key));
		p->profile = profile_new();
		if (!p->profile)
			return -ENOMEM;
	}
	return add_count(p, cells);
}

/*
 * Adds up rows even of a single epoch, because a malicious machine may have sent a
 * row twice.
 */
static void put_profiles(struct load *l, struct buf *sql)
{
	static const char columns[] = "image, stream, context, offset, counter";

	if (l->what == LOAD_SUMS) {
		put_first(l, sql);
		buf_printf(sql, "%s, sum(n)", columns);
		put_source(l, "profile", columns, buf_str(&l->images), sql);
		buf_printf(sql, " GROUP BY %s ORDER BY %s FORMAT RowBinary", columns,
			   columns);
		return;
	}
	buf_printf(sql,
		   "SELECT " ADDRESS "%s, sum(n) FROM profile%s%s GROUP BY host, at,"
		   " nr, %s ORDER BY host, at, nr, %s FORMAT RowBinary",
		   columns, buf_str(&l->where), buf_str(&l->images), columns, columns);
}

int load_profiles(struct load *l)
{
	static const char insert[] =
		"INSERT INTO profile (epoch, image, stream, context, kind, total,"
		" counts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
	struct profiles p = { .load = l };
	struct buf sql = { 0 };
	int err = sql_prepare(l->h, insert, &l->insert);

	put_profiles(l, &sql);
	if (!err)
		err = ch_store_query_buf(l->store, &sql, "888888818", LOAD_MAX_BYTES,
					 take_count, &p);
	if (!err)
		err = end_profile(&p);
	if (err == -EOVERFLOW) {
		log_err("%s: the samples of a profile exceed 63 bits: a machine sent "
			"false counts",
			db_path(l->db));
		err = -CPI_ECORRUPT;
	}
	profile_free(p.profile);
	buf_fini(&sql);
	return err;
}

/* ---- what ids stand for ---- */

struct ids {
	struct load *load;
	struct buf text; /* with commas */
	size_t nr;
	const char *by, *order; /* columns of the table */
	int err;
};

static int ask_ids(struct ids *ids)
{
	struct load *l = ids->load;
	struct buf sql = { 0 };
	int err;

	if (!ids->nr)
		return 0;
	buf_printf(&sql,
		   "SELECT %s FROM %s WHERE %s IN (%s) ORDER BY %s LIMIT 1 BY %s"
		   " FORMAT RowBinary",
		   l->table->columns, l->table->name, ids->by, buf_str(&ids->text),
		   ids->order, ids->order);
	err = ch_store_query_buf(l->store, &sql, l->table->types, LOAD_MAX_BYTES,
				 insert_named, l);
	buf_fini(&sql);
	buf_reset(&ids->text);
	ids->nr = 0;
	return err;
}

static int add_id(sqlite3_stmt *st, void *ctx)
{
	struct ids *ids = ctx;

	buf_printf(&ids->text, "%s%" PRId64, ids->nr ? "," : "",
		   (int64_t)sqlite3_column_int64(st, 0));
	return ++ids->nr == MAX_IDS ? ask_ids(ids) : ids->text.err;
}

/* Loads a table's rows of the ids that sql gives. */
static int load_ids(struct load *l, const struct storetable *table, const char *by,
		    const char *order, const char *sql)
{
	struct ids ids = { .load = l, .by = by, .order = order };
	int err = prepare(l, table);

	if (!err)
		err = sql_each(l->h, add_id, &ids, sql, "");
	if (!err)
		err = ask_ids(&ids);
	buf_fini(&ids.text);
	return err;
}

/*
 * Checks that each id is the hash of its description. If not, a machine has sent
 * false data, and nothing is shown.
 */
static int check_ids(struct load *l)
{
	static const char sql[] =
		"SELECT (SELECT count(*) FROM image i WHERE i.id != " FLEETID_IMAGE(
			"i") ") + (SELECT count(*) FROM stream s WHERE s.id "
			     "!= " FLEETID_STREAM("s") ") + (SELECT count(*) FROM "
						       "context c WHERE c.id "
						       "!= " FLEETID_CONTEXT("c") ")";
	int64_t nr;
	int err = sql_get(l->h, &nr, sql, "");

	if (err || !nr)
		return err;
	log_err("%s: %" PRId64 " images, streams or contexts have an id that is not "
		"theirs: a machine sent false descriptions",
		db_path(l->db), nr);
	return -CPI_ECORRUPT;
}

static int load_gaps(struct load *l)
{
	static const struct storetable gap = {
		.name = "gap",
		.types = "s88s",
		.insert = "INSERT INTO gap (host, from_ns, to_ns, reason)"
			  " SELECT ?1, ?2, ?3, ?4"
			  " WHERE ?1 IN (SELECT host FROM platform)",
	}, mark = {
		.name = "mark",
		.types = "s8s",
		.insert = "INSERT OR IGNORE INTO mark (host, at_ns, text)"
			  " SELECT ?1, ?2, ?3 WHERE ?1 IN (SELECT host FROM platform)",
	};
	int err = prepare(l, &gap);

	if (!err)
		err = ch_store_query(l->store,
				     "SELECT DISTINCT name, from_ns, to_ns, reason"
				     " FROM gap ORDER BY from_ns, to_ns, name, reason"
				     " FORMAT RowBinary",
				     gap.types, LOAD_MAX_BYTES, insert_named, l);
	if (!err)
		err = prepare(l, &mark);
	if (!err)
		err = ch_store_query(l->store,
				     "SELECT DISTINCT name, at_ns, text FROM mark"
				     " FORMAT RowBinary",
				     mark.types, LOAD_MAX_BYTES, insert_named, l);
	return err;
}

int load_names(struct load *l)
{
	static const char images[] =
		"SELECT image FROM profile UNION SELECT image FROM comm"
		" UNION SELECT image FROM edge UNION SELECT target FROM edge"
		" UNION SELECT image FROM stack_image UNION SELECT image FROM "
		"(SELECT image FROM window_set UNION ALL SELECT image FROM access_set)"
		" UNION SELECT image FROM spread EXCEPT SELECT 0";
	static const char streams[] =
		"SELECT stream FROM tally UNION SELECT stream FROM profile"
		" UNION SELECT stream FROM comm UNION SELECT stream FROM edge"
		" UNION SELECT stream FROM stack UNION SELECT stream FROM window_set"
		" UNION SELECT stream FROM access_set";
	static const char contexts[] =
		"SELECT context FROM profile UNION SELECT context FROM stack"
		" UNION SELECT context FROM edge UNION SELECT context FROM window_set"
		" UNION SELECT context FROM access_set"
		" EXCEPT SELECT 0";
	int err = load_ids(l, &storetable_image, "id", "id", images);

	if (!err)
		err = load_ids(l, &storetable_stream, "id", "id", streams);
	if (!err)
		err = load_ids(l, &storetable_context, "id", "id", contexts);
	if (!err)
		err = load_ids(l, &storetable_container, "context",
			       "context, id, seen_ns", contexts);
	if (!err)
		err = check_ids(l);
	for (size_t i = 0; !err && i < storetables_nr_image; i++) {
		const struct storetable *t = &storetables_image[i];

		err = load_ids(l, t, "image",
			       strcmp(t->name, "capture") ? "image, start"
							  : "image, part, id",
			       "SELECT id FROM image WHERE id != 0");
	}
	return err ? err : load_gaps(l);
}
