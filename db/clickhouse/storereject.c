/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storereject.c - finds the shipments to reject, and takes them back
 *
 * The number of rows that a shipment claims is checked first. After that, the claims
 * are upper bounds, and the quota needs no other rows than those of table epoch.
 */
#include "config.h"

#include "db/clickhouse/storereject.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "db/clickhouse/daysums.h"

#define MAX_ANSWER (256u << 20)
#define MAX_SHOWN  3 /* hosts beyond their quota, in the log */
#define AHEAD_S    3600
#define EPOCH      "toUInt64(host), toUInt64(toUInt32(at)), toUInt64(nr), nr_rows"

struct rejecting {
	struct ch_store *store;
	const struct store_settings *settings;
	struct store_rejected *out;
	const char *reason;
	struct buf rejected, void_rows; /* rows of these tables */
	/* While the quota is applied: of one host and day. */
	char *name;
	uint64_t day, nr_rows, nr_hosts;
};

/* host, at, nr, rows */
static int note_rejected(void *ctx, const struct rowbinary_cell *cells)
{
	struct rejecting *r = ctx;
	struct buf *tables[] = { &r->rejected, &r->void_rows };

	for (int i = 0; i < 2; i++) {
		rowbinary_put(tables[i], '4', cells[0].n);
		rowbinary_put(tables[i], '4', cells[1].n);
		rowbinary_put(tables[i], '2', cells[2].n);
	}
	rowbinary_put_string(&r->rejected, r->reason, strlen(r->reason));
	rowbinary_put(&r->rejected, '8', cells[3].n);
	r->out->nr++;
	if (__builtin_add_overflow(r->out->nr_rows, cells[3].n, &r->out->nr_rows))
		r->out->nr_rows = UINT64_MAX;
	return r->rejected.err ? r->rejected.err : r->void_rows.err;
}

/* The row in table void is last: what fails before is rejected again. */
static int send_rejected(struct rejecting *r)
{
	int err = ch_store_insert(r->store, "rejected (host, at, nr, reason, nr_rows)",
				  "4t2s8", &r->rejected);

	if (!err)
		err = ch_store_insert(r->store, "void (host, at, nr)", "4t2",
				      &r->void_rows);
	buf_reset(&r->rejected);
	buf_reset(&r->void_rows);
	return err;
}

static int ask(struct rejecting *r, const char *reason, struct buf *sql)
{
	int err;

	r->reason = reason;
	buf_puts(sql, " FORMAT RowBinary");
	err = ch_store_query_buf(r->store, sql, "8888", MAX_ANSWER, note_rejected, r);
	buf_fini(sql);
	return err ? err : send_rejected(r);
}

static int reject_rows(struct rejecting *r, const char *within)
{
	struct buf sql = { 0 };

	buf_printf(&sql,
		   "SELECT toUInt64(host), toUInt64(toUInt32(at)), toUInt64(nr), c FROM"
		   " (SELECT host, at, nr, count() AS c FROM profile WHERE%s GROUP BY"
		   " host, at, nr) AS p ANY LEFT JOIN (SELECT host, at, nr, nr_rows,"
		   " toUInt8(1) AS known FROM epoch WHERE%s AND" DAYSUMS_VALID
		   ") AS e USING host, at, nr WHERE known = 1 AND c > nr_rows",
		   within, within);
	return ask(r, "rows", &sql);
}

static int reject_rows_of_hour(void *ctx, uint64_t hour)
{
	struct buf within = { 0 };
	int err;

	buf_printf(&within,
		   " at >= toDateTime(%" PRIu64 ") AND at < toDateTime(%" PRIu64 ")",
		   hour * 3600, (hour + 1) * 3600);
	err = within.err ? within.err : reject_rows(ctx, buf_str(&within));
	buf_fini(&within);
	return err;
}

static int reject_rows_of_future(struct rejecting *r)
{
	struct buf within = { 0 };
	int err;

	buf_printf(&within, " at > toDateTime(%" PRIu64 ")",
		   r->settings->now_s + AHEAD_S);
	err = within.err ? within.err : reject_rows(r, buf_str(&within));
	buf_fini(&within);
	return err;
}

static int reject_ledgers(struct rejecting *r)
{
	struct buf sql = { 0 };

	buf_puts(&sql, "SELECT " EPOCH
		       " FROM epoch WHERE received != stored + lost AND" DAYSUMS_VALID);
	return ask(r, "ledger", &sql);
}

static void show_host(struct rejecting *r)
{
	char text[80];

	if (r->nr_hosts++ >= MAX_SHOWN)
		return;
	snprintf(text, sizeof(text), "%s", r->name);
	text_clean(text);
	log_warn("fleet: host %s has more rows of a day than the quota of %" PRIu64
		 ": the later epochs of that day are rejected",
		 text, r->settings->quota);
}

/* host, at, nr, rows, day, name; by name and day, in the order in which they came */
static int note_of_host(void *ctx, const struct rowbinary_cell *cells)
{
	struct rejecting *r = ctx;
	const struct rowbinary_cell *name = &cells[5];
	uint64_t sum;

	if (!r->name || r->day != cells[4].n || strlen(r->name) != name->len ||
	    memcmp(r->name, name->text, name->len) != 0) {
		free(r->name);
		r->name = strndup(name->text, name->len);
		r->day = cells[4].n;
		r->nr_rows = 0;
		if (!r->name)
			return -ENOMEM;
		show_host(r);
	}
	if (__builtin_add_overflow(r->nr_rows, cells[3].n, &sum) ||
	    sum > r->settings->quota)
		return note_rejected(r, cells);
	r->nr_rows = sum;
	return 0;
}

static int reject_quota(struct rejecting *r)
{
	struct buf sql = { 0 };
	int err;

	if (!r->settings->quota)
		return 0;
	r->reason = "quota";
	buf_printf(&sql,
		   "SELECT " EPOCH ", " DAYSUMS_DAY
		   " AS day, name FROM epoch WHERE" DAYSUMS_VALID
		   " AND (name, " DAYSUMS_DAY ") IN (SELECT name, d FROM"
		   " (SELECT name, " DAYSUMS_DAY " AS d, sum(toFloat64(nr_rows)) AS s"
		   " FROM epoch WHERE" DAYSUMS_VALID " GROUP BY name, d) AS a WHERE s >"
		   " %" PRIu64 ") ORDER BY name, day, made, at, host, nr"
		   " FORMAT RowBinary",
		   r->settings->quota);
	err = ch_store_query_buf(r->store, &sql, "88884s", MAX_ANSWER, note_of_host, r);
	buf_fini(&sql);
	free(r->name);
	r->name = NULL;
	return err ? err : send_rejected(r);
}

int store_reject(struct ch_store *s, const struct store_settings *settings,
		 struct store_rejected *out)
{
	struct rejecting r = { .store = s, .settings = settings, .out = out };
	int err = daysums_each_due(s, reject_rows_of_hour, &r);

	if (!err)
		err = reject_rows_of_future(&r);
	if (!err)
		err = reject_ledgers(&r);
	if (!err)
		err = reject_quota(&r);
	buf_fini(&r.rejected);
	buf_fini(&r.void_rows);
	return err;
}
