/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * daysums.c - makes lots, and finds those that fit a selection
 *
 * A lot is made in the order of a shipment: the number and hash are asked, the sums are
 * inserted by the engine itself, and then both are asked again. If tables epoch and
 * void have grown meanwhile, the rows may have more shipments than the hash: the lot
 * gets no row in table day, and nobody reads it.
 */
#include "config.h"

#include "db/clickhouse/daysums.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/grow.h"
#include "base/log.h"
#include "base/times.h"

#define MAX_ANSWER (16u << 20)
#define DAY_S      86400
#define WAIT_S     3600 /* behind the end of a day: most have shipped it by then */

/* Of the complete shipments of a day, which is the number of days since 1970. */
struct day {
	uint64_t day, nr, hash;
};

struct days {
	struct day *day;
	size_t nr;
};

/* toDate(at) is by the server's zone, and so is everything that is compared with it. */
#define BY_DAY                                                      \
	"SELECT toUInt64(toUInt16(toDate(at))) AS d, count() AS c," \
	" sum(cityHash64(host, toUInt32(at), nr)) AS h FROM epoch"

static int note_day(void *ctx, const struct rowbinary_cell *cells)
{
	struct days *list = ctx;

	if (GROW(list->day, list->nr))
		return -ENOMEM;
	list->day[list->nr++] = (struct day){ cells[0].n, cells[1].n, cells[2].n };
	return 0;
}

static int ask(struct ch_store *s, struct buf *sql, struct days *list)
{
	int err = sql->err;

	if (!err)
		err = ch_store_query(s, buf_str(sql), "888", MAX_ANSWER, note_day,
				     list);
	buf_fini(sql);
	return err;
}

/* The days that ended and have no lot that fits. */
static int find_due(struct ch_store *s, struct days *list)
{
	struct buf sql = { 0 };

	buf_puts(&sql, "SELECT d, c, h FROM (" BY_DAY " WHERE" DAYSUMS_VALID
		       " GROUP BY d) AS a WHERE (d, c, h) NOT IN (SELECT"
		       " toUInt64(toUInt16(day)), nr, hash FROM day)");
	buf_printf(&sql, " AND d < toUInt64(toUInt16(toDate(toDateTime(%" PRIu64 "))))",
		   (uint64_t)(time_real_ns() / NSEC_PER_SEC) - WAIT_S);
	buf_puts(&sql, " ORDER BY d FORMAT RowBinary");
	return ask(s, &sql, list);
}

/* What grows when the shipments of a day change, and their number and hash. */
static int look(struct ch_store *s, uint64_t day, struct days *list)
{
	struct buf sql = { 0 };

	buf_printf(&sql,
		   "SELECT c, h, v FROM (SELECT toUInt8(1) AS one, count() AS c,"
		   " sum(cityHash64(host, toUInt32(at), nr)) AS h FROM epoch WHERE"
		   " toUInt16(toDate(at)) = %" PRIu64 ") AS a ANY LEFT JOIN (SELECT"
		   " toUInt8(1) AS one, count() AS v FROM void WHERE"
		   " toUInt16(toDate(at)) = %" PRIu64 ") AS b USING one"
		   " FORMAT RowBinary",
		   day, day);
	return ask(s, &sql, list);
}

/* What a lot of the day would be of. */
static int ask_valid(struct ch_store *s, uint64_t day, struct days *list)
{
	struct buf sql = { 0 };

	buf_printf(&sql,
		   BY_DAY " WHERE toUInt16(toDate(at)) = %" PRIu64 " AND" DAYSUMS_VALID
			  " GROUP BY d FORMAT RowBinary",
		   day);
	return ask(s, &sql, list);
}

static uint64_t draw_lot(void)
{
	uint64_t n = 0;

	if (getrandom(&n, sizeof(n), 0) != sizeof(n))
		n = time_real_ns();
	return n;
}

static int insert_sums(struct ch_store *s, uint64_t day, uint64_t lot,
		       const char *table, const char *columns)
{
	struct buf sql = { 0 };
	int err;

	buf_printf(&sql,
		   "INSERT INTO day_%s (day, lot, %s, n) SELECT toDate(%" PRIu64
		   "), toUInt64(%" PRIu64 "), %s, sum(n) FROM %s WHERE toDate(at) ="
		   " toDate(%" PRIu64
		   ") AND (host, at, nr) IN (SELECT host, at, nr FROM"
		   " epoch WHERE toDate(at) = toDate(%" PRIu64 ") AND" DAYSUMS_VALID
		   ") GROUP BY %s",
		   table, columns, day, lot, columns, table, day, day, columns);
	err = ch_store_exec_buf(s, &sql);
	buf_fini(&sql);
	return err;
}

static int commit(struct ch_store *s, const struct day *day, uint64_t lot)
{
	struct buf sql = { 0 };
	int err;

	buf_printf(&sql,
		   "INSERT INTO day (day, lot, nr, hash) SELECT toDate(%" PRIu64
		   "), toUInt64(%" PRIu64 "), toUInt64(%" PRIu64 "), toUInt64(%" PRIu64
		   ")",
		   day->day, lot, day->nr, day->hash);
	err = ch_store_exec_buf(s, &sql);
	buf_fini(&sql);
	return err;
}

static int make_lot(struct ch_store *s, uint64_t day, size_t *nr)
{
	const uint64_t lot = draw_lot();
	struct days looks = { 0 }, valid = { 0 };
	int err = look(s, day, &looks);

	if (!err)
		err = ask_valid(s, day, &valid);
	if (!err)
		err = insert_sums(s, day, lot, "profile",
				  "image, stream, context, counter, offset");
	if (!err)
		err = insert_sums(s, day, lot, "comm", "comm, image, stream");
	if (!err)
		err = look(s, day, &looks);
	if (!err && (looks.nr != 2 || valid.nr != 1))
		err = -EPROTO;
	if (!err && !memcmp(&looks.day[0], &looks.day[1], sizeof(looks.day[0]))) {
		err = commit(s, &valid.day[0], lot);
		*nr += !err;
	} else if (!err) {
		log_info("fleet: more came of a day while it was added up: next time");
	}
	free(looks.day);
	free(valid.day);
	return err;
}

int daysums_make(struct ch_store *s, size_t *nr)
{
	struct days due = { 0 };
	int err = find_due(s, &due);

	*nr = 0;
	for (size_t i = 0; !err && i < due.nr; i++)
		err = make_lot(s, due.day[i].day, nr);
	free(due.day);
	return err;
}

struct finding {
	struct buf *days, *lots;
	size_t nr;
};

/* day, lot */
static int note_lot(void *ctx, const struct rowbinary_cell *cells)
{
	struct finding *f = ctx;
	const char *comma = f->nr++ ? "," : "";

	buf_printf(f->days, "%stoDate(%" PRIu64 ")", comma, cells[0].n);
	buf_printf(f->lots, "%s(toDate(%" PRIu64 "),toUInt64(%" PRIu64 "))", comma,
		   cells[0].n, cells[1].n);
	return f->days->err ? f->days->err : f->lots->err;
}

int daysums_find(struct ch_store *s, const char *where, size_t *nr, size_t *nr_lots,
		 struct buf *days, struct buf *lots)
{
	struct finding f = { .days = days, .lots = lots };
	struct days all = { 0 };
	struct buf sql = { 0 };
	int err;

	buf_printf(&sql, BY_DAY "%s GROUP BY d FORMAT RowBinary", where);
	err = ask(s, &sql, &all);
	free(all.day);
	if (err)
		return err;
	*nr = all.nr;
	buf_printf(
		&sql,
		"SELECT d, min(lot) FROM (SELECT toUInt64(toUInt16(day)) AS d, nr AS"
		" c, hash AS h, lot FROM day) AS b WHERE (d, c, h) IN (SELECT d, c, h"
		" FROM (" BY_DAY "%s GROUP BY d) AS a) GROUP BY d ORDER BY d"
		" FORMAT RowBinary",
		where);
	err = ch_store_query_buf(s, &sql, "88", MAX_ANSWER, note_lot, &f);
	buf_fini(&sql);
	if (!err)
		*nr_lots = f.nr;
	return err;
}
