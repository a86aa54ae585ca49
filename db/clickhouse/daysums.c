/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * daysums.c - makes lots, and finds those that fit a selection
 *
 * A lot is made in the order of a shipment: the number and hash are asked, the sums are
 * inserted, and then both are asked again. If tables epoch and void have grown
 * meanwhile, the rows may have more shipments than the hash: the lot gets no row in
 * table day or hour, and nobody reads it. A later run removes it.
 */
#include "config.h"

#include "db/clickhouse/daysums.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/times.h"
#include "db/clickhouse/placesums.h"
#include "db/clickhouse/storecluster.h"

#define MAX_ANSWER (16u << 20)
#define WAIT_S     3600 /* after a period; most machines have sent its epochs then */
#define OLD_S      3600 /* no report that found a lot still reads it */
#define TOO_OLD_S  86400
#define MAX_TRIES  6
#define WAIT_MS    500

/* Lengths of time that have lots. */
struct period {
	const char *table;
	const char *of;  /* a shipment's, from its address */
	const char *key; /* a lot's, from its row */
	const char *cast;
	uint64_t seconds;
};

static const struct period day = {
	.table = "day",
	.of = "toUInt64(" DAYSUMS_DAY ")",
	.key = "toUInt64(toUInt16(day))",
	.cast = "toDate",
	.seconds = 86400,
};
static const struct period hour = {
	.table = "hour",
	.of = "toUInt64(" DAYSUMS_HOUR ")",
	.key = "toUInt64(hour)",
	.cast = "toUInt32",
	.seconds = 3600,
};

/* The complete shipments of a period; number counts periods from 1970. */
struct period_tally {
	uint64_t number, nr, hash;
};

struct tallies {
	struct period_tally *tally;
	size_t nr;
};

static int note_tally(void *ctx, const struct rowbinary_cell *cells)
{
	struct tallies *list = ctx;

	if (GROW(list->tally, list->nr))
		return -ENOMEM;
	list->tally[list->nr++] =
		(struct period_tally){ cells[0].n, cells[1].n, cells[2].n };
	return 0;
}

static int ask(struct ch_store *s, struct buf *sql, struct tallies *list)
{
	int err = ch_store_query_buf(s, sql, "888", MAX_ANSWER, note_tally, list);

	buf_fini(sql);
	return err;
}

/*
 * Selects each period with the number and hash of its epochs that meet the condition
 * where.
 */
static void put_tallies(const struct period *p, const char *where, struct buf *sql)
{
	buf_printf(sql,
		   "SELECT %s AS d, count() AS c, sum(cityHash64(host, toUInt32(at),"
		   " nr)) AS h FROM epoch%s GROUP BY d",
		   p->of, where);
}

/*
 * Selects periods that ended at least WAIT_S ago and have no lot with their number
 * and hash.
 */
static void put_due(const struct period *p, const char *where, struct buf *sql)
{
	const uint64_t now_s = time_real_ns() / NSEC_PER_SEC;

	buf_puts(sql, "SELECT d, c, h FROM (");
	put_tallies(p, where, sql);
	buf_printf(sql,
		   ") AS a WHERE (d, c, h) NOT IN (SELECT %s, nr, hash FROM %s) AND d"
		   " < %" PRIu64,
		   p->key, p->table, (now_s - WAIT_S) / p->seconds);
}

/* Hours of days that have a lot need none. */
static int find_due(struct ch_store *s, const struct period *p, struct tallies *list)
{
	struct buf sql = { 0 };

	put_due(p, " WHERE" DAYSUMS_VALID, &sql);
	if (p == &hour) {
		buf_puts(&sql, " AND intDiv(d, 24) NOT IN (SELECT d FROM (");
		put_tallies(&day, " WHERE" DAYSUMS_VALID, &sql);
		buf_puts(&sql, ") AS b WHERE (d, c, h) IN (SELECT"
			       " toUInt64(toUInt16(day)), nr, hash FROM day))");
	}
	buf_puts(&sql, " ORDER BY d FORMAT RowBinary");
	return ask(s, &sql, list);
}

int daysums_each_due(struct ch_store *s, int (*fn)(void *ctx, uint64_t hour), void *ctx)
{
	struct tallies due = { 0 };
	int err = find_due(s, &hour, &due);

	for (size_t i = 0; !err && i < due.nr; i++)
		err = fn(ctx, due.tally[i].number);
	free(due.tally);
	return err;
}

/* A condition on column at: the period alone. */
static void put_within(const struct period *p, uint64_t number, struct buf *sql)
{
	buf_printf(sql,
		   " at >= toDateTime(%" PRIu64 ") AND at < toDateTime(%" PRIu64 ")",
		   number * p->seconds, (number + 1) * p->seconds);
}

/*
 * Reads what changes with a period's shipments: number and hash of its epochs,
 * number of voids.
 */
static int look(struct ch_store *s, const struct period *p, uint64_t number,
		struct tallies *list)
{
	struct buf sql = { 0 };

	buf_puts(&sql,
		 "SELECT c, h, v FROM (SELECT toUInt8(1) AS one, count() AS c,"
		 " sum(cityHash64(host, toUInt32(at), nr)) AS h FROM epoch WHERE");
	put_within(p, number, &sql);
	buf_puts(&sql, ") AS a ANY LEFT JOIN (SELECT toUInt8(1) AS one, count() AS v"
		       " FROM void WHERE");
	put_within(p, number, &sql);
	buf_puts(&sql, ") AS b USING one FORMAT RowBinary");
	return ask(s, &sql, list);
}

/*
 * Reads the number and hash of the complete shipments of which a lot would be made
 * now.
 */
static int ask_valid(struct ch_store *s, const struct period *p, uint64_t number,
		     struct tallies *list)
{
	struct buf where = { 0 }, sql = { 0 };
	int err;

	buf_puts(&where, " WHERE" DAYSUMS_VALID " AND");
	put_within(p, number, &where);
	put_tallies(p, buf_str(&where), &sql);
	buf_puts(&sql, " FORMAT RowBinary");
	err = ask(s, &sql, list);
	buf_fini(&where);
	return err;
}

static uint64_t draw_lot(void)
{
	uint64_t n = 0;

	if (getrandom(&n, sizeof(n), 0) != sizeof(n))
		n = time_real_ns();
	return n;
}

static int insert_sums(struct ch_store *s, uint64_t number, uint64_t lot,
		       const char *table, const char *columns)
{
	struct buf sql = { 0 }, within = { 0 };
	int err;

	put_within(&day, number, &within);
	buf_printf(&sql,
		   "INSERT INTO day_%s (day, lot, %s, n) SELECT toDate(%" PRIu64
		   "), toUInt64(%" PRIu64 "), %s, sum(n) FROM %s WHERE%s AND (host,"
		   " at, nr) GLOBAL IN (SELECT host, at, nr FROM epoch WHERE%s"
		   " AND" DAYSUMS_VALID ") GROUP BY %s",
		   table, columns, number, lot, columns, table, buf_str(&within),
		   buf_str(&within), columns);
	err = within.err ? within.err : ch_store_insert_selected(s, &sql);
	buf_fini(&within);
	buf_fini(&sql);
	return err;
}

static int find_lots(struct ch_store *s, const struct period *p, const char *where,
		     struct daysums_lots *out);

/* A day's procedures are those of its hours. */
static int insert_day_places(struct ch_store *s, uint64_t number, uint64_t lot,
			     bool *whole)
{
	struct buf where = { 0 }, sql = { 0 };
	struct daysums_lots hours = { 0 };
	int err;

	buf_puts(&where, " WHERE" DAYSUMS_VALID " AND");
	put_within(&day, number, &where);
	err = find_lots(s, &hour, buf_str(&where), &hours);
	*whole = hours.nr && hours.nr == hours.nr_periods;
	if (!err && *whole) {
		buf_printf(&sql,
			   "INSERT INTO day_place (day, lot, clock, image, stream,"
			   " start, n) SELECT toDate(%" PRIu64 "), toUInt64(%" PRIu64
			   "), clock, image, stream, start, sum(n) FROM hour_place"
			   " WHERE (hour, lot) IN (%s) GROUP BY clock, image, stream,"
			   " start",
			   number, lot, buf_str(&hours.lots));
		err = ch_store_insert_selected(s, &sql);
	}
	daysums_lots_fini(&hours);
	buf_fini(&where);
	buf_fini(&sql);
	return err;
}

static int insert_day(struct ch_store *s, uint64_t number, uint64_t lot, bool *whole)
{
	int err = insert_day_places(s, number, lot, whole);

	if (!err && *whole)
		err = insert_sums(s, number, lot, "profile",
				  "image, stream, context, counter, offset");
	if (!err && *whole)
		err = insert_sums(s, number, lot, "comm", "comm, image, stream");
	return err;
}

static int insert_hour(struct ch_store *s, uint64_t number, uint64_t lot)
{
	struct buf within = { 0 };
	int err;

	put_within(&hour, number, &within);
	err = within.err ? within.err
			 : placesums_make(s, number, lot, buf_str(&within));
	buf_fini(&within);
	return err;
}

static int commit(struct ch_store *s, const struct period *p,
		  const struct period_tally *t, uint64_t lot)
{
	struct buf sql = { 0 };
	int err;

	buf_printf(&sql,
		   "INSERT INTO %s (%s, lot, nr, hash) SELECT %s(%" PRIu64
		   "), toUInt64(%" PRIu64 "), toUInt64(%" PRIu64 "), toUInt64(%" PRIu64
		   ")",
		   p->table, p->table, p->cast, t->number, lot, t->nr, t->hash);
	err = ch_store_exec_buf(s, &sql);
	buf_fini(&sql);
	return err;
}

/*
 * Notes a lot that was begun, so that it is removed after a day if it gets no row in
 * table day or hour.
 */
static int note_begun(struct ch_store *s, uint64_t lot)
{
	char sql[80];

	snprintf(sql, sizeof(sql), "INSERT INTO lot (lot) SELECT toUInt64(%" PRIu64 ")",
		 lot);
	return ch_store_exec(s, sql);
}

static int make_lot(struct ch_store *s, const struct period *p, uint64_t number,
		    size_t *nr)
{
	const uint64_t lot = draw_lot();
	struct tallies looks = { 0 }, valid = { 0 };
	bool whole = true;
	int err = look(s, p, number, &looks);

	if (!err)
		err = ask_valid(s, p, number, &valid);
	if (!err)
		err = note_begun(s, lot);
	if (!err && p == &hour)
		err = insert_hour(s, number, lot);
	else if (!err)
		err = insert_day(s, number, lot, &whole);
	if (!err)
		err = look(s, p, number, &looks);
	/* valid is empty if all of the period's shipments became void meanwhile. */
	if (!err && whole && looks.nr == 2 && valid.nr == 1 &&
	    !memcmp(&looks.tally[0], &looks.tally[1], sizeof(looks.tally[0]))) {
		err = commit(s, p, &valid.tally[0], lot);
		*nr += !err;
	} else if (!err && !whole) {
		log_info("fleet: one day is not added up, because one of its hours is "
			 "not");
	} else if (!err) {
		log_info("fleet: epochs of one %s changed while it was added up: the "
			 "next 'cpi fleet roll' adds it up",
			 p->table);
	}
	free(looks.tally);
	free(valid.tally);
	return err;
}

/*
 * If servers of a cluster cannot take a lot at that moment, some of its rows may be
 * there: another lot is made.
 */
static int make_some_lot(struct ch_store *s, const struct period *p, uint64_t number,
			 size_t *nr)
{
	int err = make_lot(s, p, number, nr);

	for (int try = 0; err == -EAGAIN && try < MAX_TRIES; try++) {
		err = ch_store_pause(s, WAIT_MS << try);
		if (!err)
			err = make_lot(s, p, number, nr);
	}
	if (err != -EAGAIN)
		return err;
	log_err("fleet: one %s cannot be added up: servers of the cluster take no "
		"sums: see their logs",
		p->table);
	return -EIO;
}

static int make_lots(struct ch_store *s, const struct period *p, size_t *nr)
{
	struct tallies due = { 0 };
	int err = find_due(s, p, &due);

	for (size_t i = 0; !err && i < due.nr; i++) {
		err = make_some_lot(s, p, due.tally[i].number, nr);
		if (err == -CPI_ELIMIT) /* it was logged; the others go on */
			err = 0;
	}
	free(due.tally);
	return err;
}

/* ---- lots that no report uses any more ---- */

static int note_removed(void *ctx, const struct rowbinary_cell *cells)
{
	struct buf *lots = ctx;

	buf_printf(lots, "%s%" PRIu64, lots->len ? "," : "", cells[0].n);
	return lots->err;
}

/* Lots that one of the same period replaced long enough ago. */
static void put_replaced(const struct period *p, struct buf *sql)
{
	buf_printf(sql,
		   "SELECT lot FROM (SELECT %s AS d, lot, made FROM %s) AS a ANY LEFT"
		   " JOIN (SELECT %s AS d, max(made) AS newest FROM %s GROUP BY d) AS b"
		   " USING d WHERE made < newest AND newest < now() - %d",
		   p->key, p->table, p->key, p->table, OLD_S);
}

static int ask_lots(struct ch_store *s, struct buf *sql, struct buf *lots)
{
	int err;

	buf_puts(sql, " FORMAT RowBinary");
	err = ch_store_query_buf(s, sql, "8", MAX_ANSWER, note_removed, lots);
	buf_fini(sql);
	return err;
}

/* Lots that reports still find, and need not find any more. */
static int find_replaced(struct ch_store *s, struct buf *lots)
{
	struct buf sql = { 0 };

	put_replaced(&day, &sql);
	buf_puts(&sql, " UNION ALL ");
	put_replaced(&hour, &sql);
	buf_printf(&sql,
		   " UNION ALL SELECT lot FROM hour WHERE intDiv(hour, 24) IN (SELECT"
		   " d FROM (SELECT toUInt32(toUInt16(day)) AS d, max(made) AS newest"
		   " FROM day GROUP BY d) AS c WHERE newest < now() - %d)",
		   TOO_OLD_S);
	return ask_lots(s, &sql, lots);
}

/* Lots that no report finds any more, or ever found. */
static int find_unlisted(struct ch_store *s, struct buf *lots)
{
	struct buf sql = { 0 };

	buf_printf(&sql,
		   "SELECT lot FROM lot WHERE made < now() - %d AND lot NOT IN (SELECT"
		   " lot FROM day) AND lot NOT IN (SELECT lot FROM hour)",
		   TOO_OLD_S);
	return ask_lots(s, &sql, lots);
}

/* The engine removes the rows later, of each table for itself. */
static int remove_from(struct ch_store *s, const char *const *table, size_t nr,
		       struct buf *lots)
{
	struct buf sql = { 0 };
	int err = 0;

	for (size_t i = 0; !err && lots->len && i < nr; i++) {
		buf_printf(&sql, "ALTER TABLE %s DELETE WHERE lot IN (%s)", table[i],
			   buf_str(lots));
		err = sql.err ? sql.err : storecluster_exec(s, buf_str(&sql));
		buf_fini(&sql);
	}
	return err;
}

/*
 * A lot first leaves the tables in which reports find it. Once it has left them, a
 * later run removes its rows, from table lot last: what fails before is found again.
 */
static int remove_lots(struct ch_store *s, size_t *nr)
{
	static const char *const lists[] = { "day", "hour" };
	static const char *const rows[] = { "day_profile", "day_comm", "day_place",
					    "hour_place", "lot" };
	struct buf replaced = { 0 }, unlisted = { 0 };
	int err = find_unlisted(s, &unlisted);

	if (!err)
		err = find_replaced(s, &replaced);
	if (!err)
		err = remove_from(s, rows, sizeof(rows) / sizeof(rows[0]), &unlisted);
	if (!err)
		err = remove_from(s, lists, sizeof(lists) / sizeof(lists[0]),
				  &replaced);
	*nr = unlisted.len > 0;
	for (size_t i = 0; i < unlisted.len; i++)
		*nr += unlisted.data[i] == ',';
	buf_fini(&replaced);
	buf_fini(&unlisted);
	return err;
}

int daysums_make(struct ch_store *s, struct daysums_made *made)
{
	int err;

	*made = (struct daysums_made){ 0 };
	err = make_lots(s, &hour, &made->hours);
	if (!err)
		err = make_lots(s, &day, &made->days);
	return err ? err : remove_lots(s, &made->removed);
}

/* ---- lots of a selection ---- */

struct finding {
	const struct period *period;
	struct daysums_lots *out;
};

/* number, lot */
static int note_lot(void *ctx, const struct rowbinary_cell *cells)
{
	struct finding *f = ctx;
	struct daysums_lots *l = f->out;
	const char *comma = l->nr++ ? "," : "";

	buf_printf(&l->periods, "%s%" PRIu64, comma, cells[0].n);
	buf_printf(&l->lots, "%s(%s(%" PRIu64 "),toUInt64(%" PRIu64 "))", comma,
		   f->period->cast, cells[0].n, cells[1].n);
	return l->periods.err ? l->periods.err : l->lots.err;
}

static int find_lots(struct ch_store *s, const struct period *p, const char *where,
		     struct daysums_lots *out)
{
	struct finding f = { p, out };
	struct tallies all = { 0 };
	struct buf sql = { 0 };
	int err;

	put_tallies(p, where, &sql);
	buf_puts(&sql, " FORMAT RowBinary");
	err = ask(s, &sql, &all);
	out->nr_periods = all.nr;
	free(all.tally);
	if (err)
		return err;
	/* The newest one: find_replaced() finds the others. */
	buf_printf(&sql,
		   "SELECT d, argMax(lot, made) FROM (SELECT %s AS d, nr AS c, hash AS"
		   " h, lot, made FROM %s) AS b WHERE (d, c, h) IN (SELECT d, c, h"
		   " FROM (",
		   p->key, p->table);
	put_tallies(p, where, &sql);
	buf_puts(&sql, ") AS a) GROUP BY d ORDER BY d FORMAT RowBinary");
	err = ch_store_query_buf(s, &sql, "88", MAX_ANSWER, note_lot, &f);
	buf_fini(&sql);
	return err;
}

int daysums_find(struct ch_store *s, const char *where, struct daysums_lots *days,
		 struct daysums_lots *hours)
{
	struct buf rest = { 0 };
	int err = find_lots(s, &day, where, days);

	if (err || !hours || days->nr == days->nr_periods)
		return err;
	buf_printf(&rest, "%s", where);
	if (days->nr)
		buf_printf(&rest, " AND " DAYSUMS_DAY " NOT IN (%s)",
			   buf_str(&days->periods));
	err = rest.err ? rest.err : find_lots(s, &hour, buf_str(&rest), hours);
	buf_fini(&rest);
	return err;
}

void daysums_lots_fini(struct daysums_lots *l)
{
	buf_fini(&l->periods);
	buf_fini(&l->lots);
}
