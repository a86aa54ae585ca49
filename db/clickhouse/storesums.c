/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storesums.c - asks for sums over the epochs of a choice
 *
 * Four questions: which epochs there are, which streams they have, which sums of days
 * and hours fit, and the sums. The engine joins counts with epochs only if a sum
 * depends on the epoch: by what tells hosts apart, or by the clock of cycles. It uses
 * ANY LEFT JOIN: with ANY INNER JOIN newer engines take only one row of the left side
 * for each key.
 */
#include "config.h"

#include "db/clickhouse/storesums.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/times.h"
#include "db/clickhouse/daysums.h"
#include "db/clickhouse/thin.h"
#include "db/profile/model.h"
#include "db/query/query.h"

#define MAX_ANSWER (512u << 20)
#define DAY_NS     (86400ULL * NSEC_PER_SEC)
#define AHEAD_NS   (600 * NSEC_PER_SEC) /* of clocks that are right */
#define LONGEST_S  90000                /* of an epoch */
#define MAX_IDS    2000                 /* of one question */
#define MAX_NAMED  200                  /* images whose symbols are one answer */
#define TICKS      "ticks"
#define FEW_ROWS   200000 /* reading so few rows is faster than a search for sums */
#define FROM_EPOCH " FROM epoch"

/* A stream that measures time. */
struct timed_stream {
	uint64_t id;
	char event[64];
	double period; /* of a sample, in the event's unit, while the event is wanted */
	bool is_cycles, is_time;
	double ns; /* of all its samples, cycles as ns */
	uint64_t nr_hosts;
};

struct asking {
	struct ch_store *store;
	const struct storesums_ask *ask;
	struct storesums_scope *scope;
	struct buf epochs; /* a condition on table epoch */
	struct buf at;     /* one on column at of other tables */
	struct timed_stream *stream;
	size_t nr;
	bool has_cycles; /* the event's streams */
	struct daysums_lots days, hours;
	unsigned int level; /* of thinned samples; 0: none */
	storesums_fn fn;
	void *ctx;
};

/* ---- epochs ---- */

/*
 * Gets the end of the newest epoch. Ignores epochs in the future, which come from a
 * machine whose clock is ahead.
 */
static int newest(struct asking *a, uint64_t *to_ns)
{
	const uint64_t now_ns = time_real_ns();
	struct buf sql = { 0 };
	int err;

	buf_printf(&sql,
		   "SELECT max(to_ns) FROM epoch WHERE (host, at, nr) NOT IN"
		   " (SELECT host, at, nr FROM void) AND to_ns <= %" PRIu64,
		   (uint64_t)(now_ns + AHEAD_NS));
	err = store_choice_put(a->store, &a->ask->choice, &sql);
	buf_puts(&sql, " FORMAT RowBinary");
	if (!err)
		err = ch_store_query_buf(a->store, &sql, "8", 1024,
					 rowbinary_take_number, to_ns);
	buf_fini(&sql);
	return err;
}

static int find_times(struct asking *a, uint64_t *from_ns, uint64_t *to_ns)
{
	int err;

	if (a->ask->to_ns) {
		*from_ns = a->ask->from_ns;
		*to_ns = a->ask->to_ns;
		return 0;
	}
	if (a->ask->times) {
		err = query_asked_times(a->ask->times, time_real_ns(), from_ns, to_ns);
		if (err)
			log_err("'%s': say times, as in -2h.. or "
				"2026-11-20T10..12",
				a->ask->times);
		return err ? -EINVAL : 0;
	}
	err = newest(a, to_ns);
	if (!err)
		*from_ns = *to_ns > DAY_NS ? *to_ns - DAY_NS : 0;
	return err;
}

static int put_epochs(struct asking *a)
{
	uint64_t from_ns = 0, to_ns = 0, from_s;
	int err = find_times(a, &from_ns, &to_ns);

	if (err)
		return err;
	a->scope->asked_from_ns = from_ns;
	a->scope->asked_to_ns = to_ns;
	from_s = from_ns / NSEC_PER_SEC;
	buf_printf(&a->at, " AND at >= toDateTime(%" PRIu64 ")",
		   (uint64_t)(from_s > LONGEST_S ? from_s - LONGEST_S : 0));
	if (to_ns / NSEC_PER_SEC < UINT32_MAX)
		buf_printf(&a->at, " AND at <= toDateTime(%" PRIu64 ")",
			   (uint64_t)(to_ns / NSEC_PER_SEC));
	buf_printf(&a->epochs,
		   FROM_EPOCH " WHERE (host, at, nr) NOT IN (SELECT host, at, nr FROM"
			      " void) AND from_ns < %" PRIu64 " AND to_ns > %" PRIu64
			      "%s",
		   to_ns, from_ns, buf_str(&a->at));
	err = store_choice_put(a->store, &a->ask->choice, &a->epochs);
	return err ? err : a->epochs.err ? a->epochs.err : a->at.err;
}

static int note_scope(void *ctx, const struct rowbinary_cell *cells)
{
	struct storesums_scope *s = ctx;

	s->nr_hosts = cells[0].n;
	s->nr_epochs = cells[1].n;
	s->from_ns = cells[2].n;
	s->to_ns = cells[3].n;
	if (s->asked_to_ns > s->to_ns)
		s->asked_to_ns = s->to_ns + 1;
	s->received = cells[4].n;
	s->lost = cells[5].n;
	s->nr_sums = cells[6].n;
	s->one_in = cells[7].n;
	s->nr_thinned = cells[8].n;
	return 0;
}

static int find_epochs(struct asking *a)
{
	struct buf sql = { 0 };
	int err = put_epochs(a);

	buf_printf(&sql,
		   "SELECT uniqExact(name), count(), min(from_ns), max(to_ns),"
		   " sum(received), sum(lost), countIf(one_in > 0),"
		   " toUInt64(max(one_in)), countIf(one_in > 1)%s FORMAT RowBinary",
		   buf_str(&a->epochs));
	if (!err)
		err = ch_store_query_buf(a->store, &sql, "888888888", 4096, note_scope,
					 a->scope);
	buf_fini(&sql);
	if (!err && !a->scope->nr_epochs) {
		log_err("%s: there is no such epoch: 'cpi fleet hosts' lists hosts, "
			"clusters, releases and machines",
			ch_store_database(a->store));
		err = -ENOENT;
	}
	return err;
}

/* ---- streams ---- */

static bool is_text(const struct rowbinary_cell *c, const char *text)
{
	return c->len == strlen(text) && !memcmp(c->text, text, c->len);
}

/*
 * The factor for samples of an event that counted only a part of the time
 * (multiplexing).
 */
static double share_of_wanted(uint64_t enabled_ns, uint64_t running_ns)
{
	return running_ns && running_ns < enabled_ns
		       ? (double)enabled_ns / (double)running_ns
		       : 1;
}

/* id, event, unit, period, stored, hosts, enabled, running */
static int note_stream(void *ctx, const struct rowbinary_cell *cells)
{
	struct asking *a = ctx;
	struct timed_stream *t;
	const size_t size = cells[1].len < sizeof(t->event) - 1 ? cells[1].len
								: sizeof(t->event) - 1;

	if (GROW(a->stream, a->nr))
		return -ENOMEM;
	t = &a->stream[a->nr++];
	*t = (struct timed_stream){ .id = cells[0].n,
				    .period = (double)cells[3].n,
				    .is_cycles = is_text(&cells[2], "cycles"),
				    .is_time = is_text(&cells[2], "cycles") ||
					       is_text(&cells[2], "ns"),
				    .nr_hosts = cells[5].n };
	memcpy(t->event, cells[1].text, size);
	t->period *= share_of_wanted(cells[6].n, cells[7].n);
	t->ns = t->period * (double)cells[4].n;
	return 0;
}

static int read_streams(struct asking *a)
{
	struct buf sql = { 0 };
	int err;

	buf_printf(&sql,
		   "SELECT id, event, unit, mean_period, stored, hosts, enabled,"
		   " running FROM (SELECT stream AS id, sum(stored) AS stored,"
		   " uniqExact(host) AS hosts, sum(enabled_ns) AS enabled,"
		   " sum(running_ns) AS running"
		   " FROM tally WHERE kind = 0 AND (host, at, nr) GLOBAL IN"
		   " (SELECT host, at, nr%s)%s GROUP BY stream) AS t ANY INNER JOIN "
		   "(SELECT id, event,"
		   " unit, mean_period FROM stream WHERE %s)"
		   " AS s USING id ORDER BY id FORMAT RowBinary",
		   buf_str(&a->epochs), buf_str(&a->at),
		   a->ask->any_event ? "1" : "unit IN ('ns', 'cycles')");
	err = ch_store_query_buf(a->store, &sql, "8ss88888", MAX_ANSWER, note_stream,
				 a);
	buf_fini(&sql);
	return err;
}

static bool is_ticks(const struct timed_stream *t)
{
	return !strcmp(t->event, TICKS);
}

static double event_ns(const struct asking *a, const char *event)
{
	double ns = 0;

	for (size_t i = 0; i < a->nr; i++)
		ns += strcmp(a->stream[i].event, event) ? 0 : a->stream[i].ns;
	return ns;
}

/* The event with the most time; ticks see only a part of it. */
static const struct timed_stream *lead(const struct asking *a)
{
	const struct timed_stream *best = NULL;

	for (size_t i = 0; i < a->nr; i++) {
		const struct timed_stream *t = &a->stream[i];

		if (!best || (is_ticks(best) && !is_ticks(t)) ||
		    (is_ticks(best) == is_ticks(t) &&
		     event_ns(a, t->event) > event_ns(a, best->event)))
			best = t;
	}
	return best;
}

/* Keeps the streams of the event, and counts the hosts that have it. */
static int choose_event(struct asking *a)
{
	const struct timed_stream *best = lead(a);
	const char *event = a->ask->event ? a->ask->event : best ? best->event : "";
	size_t nr = 0;

	snprintf(a->scope->event, sizeof(a->scope->event), "%s", event);
	for (size_t i = 0; i < a->nr; i++) {
		if (strcmp(a->stream[i].event, a->scope->event) != 0)
			continue;
		a->has_cycles |= a->stream[i].is_cycles;
		a->stream[nr++] = a->stream[i];
	}
	a->nr = nr;
	if (nr || a->ask->may_lack)
		return 0;
	if (a->ask->event)
		log_err("--event=%s: not among the chosen epochs' events%s", event,
			a->ask->any_event ? "" : " that measure time");
	else
		log_err("an event that measures time is not among the chosen epochs' "
			"events: choose other epochs, or an event with --event");
	return -EINVAL;
}

static void put_streams(const struct asking *a, struct buf *sql)
{
	buf_puts(sql, "stream IN (");
	for (size_t i = 0; i < a->nr; i++)
		buf_printf(sql, "%s%" PRIu64, i ? ", " : "", a->stream[i].id);
	buf_putc(sql, ')');
}

static int count_hosts(struct asking *a)
{
	struct buf sql = { 0 };
	int err;

	if (a->nr == 1) { /* it was counted with the stream */
		a->scope->nr_with_event = a->stream[0].nr_hosts;
		return 0;
	}
	buf_puts(&sql, "SELECT uniqExact(host) FROM tally WHERE kind = 0 AND ");
	put_streams(a, &sql);
	buf_printf(&sql,
		   " AND (host, at, nr) GLOBAL IN (SELECT host, at, nr%s)%s FORMAT"
		   " RowBinary",
		   buf_str(&a->epochs), buf_str(&a->at));
	err = ch_store_query_buf(a->store, &sql, "8", 1024, rowbinary_take_number,
				 &a->scope->nr_with_event);
	buf_fini(&sql);
	return err;
}

static int compare_stream(const void *x, const void *y)
{
	const struct timed_stream *a = x, *b = y;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* image, stream, clock, host, cluster, release, machine, offset, n */
static int note_sum(void *ctx, const struct rowbinary_cell *cells)
{
	struct asking *a = ctx;
	const struct timed_stream key = { .id = cells[1].n };
	const struct timed_stream *t =
		bsearch(&key, a->stream, a->nr, sizeof(key), compare_stream);
	struct storesums_sum sum = { .image = cells[0].n,
				     .offset = cells[7].n,
				     .n = cells[8].n };
	char *text[4];
	int err = 0;

	if (!t || (t->is_cycles && !cells[2].n && !a->ask->any_event))
		return 0; /* cycles of no known clock are no time */
	sum.amount = (double)sum.n * t->period * (double)a->scope->thinned;
	sum.ns = t->is_time ? sum.amount : 0;
	if (t->is_cycles)
		sum.ns *= cells[2].n ? 1e9 / (double)cells[2].n : 0;
	for (int i = 0; i < 4; i++) {
		text[i] = strndup(cells[3 + i].text, cells[3 + i].len);
		err = text[i] ? err : -ENOMEM;
	}
	sum.host = text[0];
	sum.cluster = text[1];
	sum.release = text[2];
	sum.machine = text[3];
	if (!err)
		err = a->fn(a->ctx, &sum);
	for (int i = 0; i < 4; i++)
		free(text[i]);
	return err;
}

static bool tells_hosts(const struct storesums_ask *k)
{
	return k->by_host || k->by_cluster || k->by_release || k->by_machine;
}

/* ---- which rows to read ---- */

static int ask_number(struct asking *a, struct buf *sql, uint64_t *n)
{
	int err =
		ch_store_query_buf(a->store, sql, "8", 1024, rowbinary_take_number, n);

	buf_fini(sql);
	return err;
}

/* A condition that excludes rows of the days and hours whose sums come from lots. */
static void put_rest(const struct asking *a, struct buf *sql)
{
	if (a->days.nr)
		buf_printf(sql, " AND " DAYSUMS_DAY " NOT IN (%s)",
			   a->days.periods.data);
	if (a->hours.nr)
		buf_printf(sql, " AND " DAYSUMS_HOUR " NOT IN (%s)",
			   a->hours.periods.data);
}

/* Whether sums replace all rows of the chosen epochs. */
static bool is_summed(const struct asking *a)
{
	const bool all_days = a->days.nr && a->days.nr == a->days.nr_periods;
	const bool all_hours = a->hours.nr && a->hours.nr == a->hours.nr_periods;

	return all_days || all_hours;
}

/*
 * Rows of profiles that would be read, of all hosts: nothing chooses fewer. They may
 * begin a day before the chosen times, with epochs that reach into these.
 */
static int count_rows(struct asking *a, uint64_t *nr)
{
	const char *tables[] = { "day", "hour" };
	const struct daysums_lots *lots[] = { &a->days, &a->hours };
	struct buf sql = { 0 };
	uint64_t n = 0;
	int err = 0;

	buf_printf(&sql, "SELECT sum(nr_rows) FROM epoch WHERE 1%s", buf_str(&a->at));
	put_rest(a, &sql);
	buf_puts(&sql, " FORMAT RowBinary");
	*nr = 0;
	if (is_summed(a))
		buf_fini(&sql);
	else
		err = ask_number(a, &sql, nr);
	for (int i = 0; !err && i < 2; i++) {
		if (!lots[i]->nr)
			continue;
		buf_printf(&sql,
			   "SELECT count() FROM %s_place WHERE (%s, lot) IN (%s)"
			   " FORMAT RowBinary",
			   tables[i], tables[i], lots[i]->lots.data);
		err = ask_number(a, &sql, &n);
		*nr += n;
	}
	return err;
}

/* Whether each chosen shipment has thinned samples. */
static int is_thinned(struct asking *a, bool *thinned)
{
	struct buf sql = { 0 };
	uint64_t n = 0;
	int err;

	buf_printf(&sql, "SELECT toUInt64(min(thinned))%s FORMAT RowBinary",
		   buf_str(&a->epochs));
	err = ask_number(a, &sql, &n);
	*thinned = n;
	return err;
}

/* The finest level that has few rows enough; each has about a fifth of the former. */
static int choose_level(struct asking *a)
{
	struct buf sql = { 0 };
	uint64_t nr = 0;
	int err = 0;

	a->level = THIN_LAST;
	while (!err && a->level > THIN_FIRST) {
		buf_printf(&sql,
			   "SELECT count() FROM thin_profile WHERE level = %u%s FORMAT"
			   " RowBinary",
			   a->level - 1, buf_str(&a->at));
		err = ask_number(a, &sql, &nr);
		if (nr > STORESUMS_MAX_ROWS)
			break;
		a->level--;
	}
	a->scope->thinned = thin_factor(a->level);
	return err;
}

static int choose_rows(struct asking *a)
{
	uint64_t nr = 0;
	bool thinned = false;
	int err = 0;

	a->scope->thinned = 1;
	err = count_rows(a, &nr);
	if (err || nr <= FEW_ROWS)
		return err;
	if (!tells_hosts(a->ask))
		err = daysums_find(a->store, buf_str(&a->epochs) + strlen(FROM_EPOCH),
				   &a->days, &a->hours);
	if (err || a->ask->exact)
		return err;
	err = count_rows(a, &nr);
	if (!err && nr > STORESUMS_MAX_ROWS)
		err = is_thinned(a, &thinned);
	return !err && thinned ? choose_level(a) : err;
}

/* ---- sums ---- */

/* Joins each count with the host, clock and origin of its shipment. */
static void put_join(struct asking *a, struct buf *sql)
{
	buf_printf(sql,
		   " ANY LEFT JOIN (SELECT host, at, nr, name, clock, cluster,"
		   " release, machine FROM (SELECT host, at, nr, name, clock_hz AS"
		   " clock%s) AS e ANY LEFT JOIN (SELECT host, at, nr, cluster,"
		   " release, machine FROM origin WHERE 1%s) AS o USING host, at, nr)"
		   " AS j USING host, at, nr",
		   buf_str(&a->epochs), buf_str(&a->at));
}

/* The event's samples but for the idle loop's. */
static void put_wanted(const struct asking *a, struct buf *sql)
{
	put_streams(a, sql);
	buf_printf(sql,
		   " AND image GLOBAL NOT IN (SELECT id FROM image WHERE kind = %d)",
		   IMAGE_IDLE);
}

/*
 * Selects rows with addresses: those that no lot contains, or, if there is a level, the
 * thinned rows of all chosen epochs.
 */
static void put_rows(struct asking *a, struct buf *sql)
{
	const struct storesums_ask *k = a->ask;
	const bool joined = a->has_cycles || tells_hosts(k);
	const bool added = !joined && ch_store_cluster(a->store); /* on each shard */

	buf_printf(sql,
		   "SELECT %s, image, stream, %s AS k_host, %s AS k_cluster, %s AS"
		   " k_release, %s AS k_machine, offset, %s FROM (SELECT %s FROM ",
		   a->has_cycles ? "clock AS k_clock" : "toUInt64(0) AS k_clock",
		   k->by_host ? "name" : "''", k->by_cluster ? "cluster" : "''",
		   k->by_release ? "release" : "''", k->by_machine ? "machine" : "''",
		   added ? "s AS n" : "n",
		   added ? "image, stream, offset, sum(n) AS s"
			 : "host, at, nr, image, stream, offset, n");
	if (a->level)
		buf_printf(sql, "thin_profile WHERE level = %u AND ", a->level);
	else
		buf_puts(sql, "profile WHERE counter = 0 AND context = 0 AND ");
	put_wanted(a, sql);
	buf_puts(sql, buf_str(&a->at));
	if (!a->level)
		put_rest(a, sql);
	buf_printf(sql, " AND (host, at, nr) GLOBAL IN (SELECT host, at, nr%s)%s) AS p",
		   buf_str(&a->epochs), added ? " GROUP BY image, stream, offset" : "");
	if (joined)
		put_join(a, sql);
}

/* Selects the sums of days or hours, with the same columns as put_rows(). */
static void put_lots(struct asking *a, const char *table,
		     const struct daysums_lots *lots, struct buf *sql)
{
	buf_printf(sql,
		   "SELECT %s, image, stream, '' AS k_host, '' AS k_cluster, '' AS"
		   " k_release, '' AS k_machine, start AS offset, n FROM %s_place"
		   " WHERE (%s, lot) IN (%s) AND ",
		   a->has_cycles ? "clock AS k_clock" : "toUInt64(0) AS k_clock", table,
		   table, lots->lots.data);
	put_wanted(a, sql);
}

/* Whether the answer is one lot as it is: the engine need not add it up. */
static bool is_single(const struct asking *a)
{
	return !a->level && is_summed(a) && a->days.nr + a->hours.nr == 1 &&
	       a->ask->by_image && a->ask->by_offset;
}

static void put_sums(struct asking *a, struct buf *sql)
{
	const char *between = "";
	const bool single = is_single(a);

	buf_printf(
		sql,
		"SELECT %s AS k_image, stream, k_clock, k_host, k_cluster, k_release,"
		" k_machine, %s AS k_offset, %s FROM (",
		a->ask->by_image ? "image" : "toUInt64(0)",
		a->ask->by_offset ? "offset" : "toUInt64(0)", single ? "n" : "sum(n)");
	if (!a->level && a->days.nr) {
		put_lots(a, "day", &a->days, sql);
		between = " UNION ALL ";
	}
	if (!a->level && a->hours.nr) {
		buf_puts(sql, between);
		put_lots(a, "hour", &a->hours, sql);
		between = " UNION ALL ";
	}
	if (a->level || !is_summed(a)) {
		buf_puts(sql, between);
		put_rows(a, sql);
	}
	buf_printf(sql, ") AS t%s FORMAT RowBinary",
		   single ? ""
			  : " GROUP BY k_image, stream, k_clock, k_host, k_cluster,"
			    " k_release, k_machine, k_offset");
}

static int read_sums(struct asking *a)
{
	struct buf sql = { 0 };
	int err;

	put_sums(a, &sql);
	err = ch_store_query_buf(a->store, &sql, "888ssss88", MAX_ANSWER, note_sum, a);
	buf_fini(&sql);
	return err;
}

int storesums_read(struct ch_store *s, const struct storesums_ask *ask, storesums_fn fn,
		   void *ctx, struct storesums_scope *scope)
{
	struct storesums_scope found = { 0 };
	struct asking a = {
		.store = s, .ask = ask, .scope = &found, .fn = fn, .ctx = ctx
	};
	int err = find_epochs(&a);

	if (!err)
		err = read_streams(&a);
	if (!err)
		err = choose_event(&a);
	if (!err && a.nr)
		err = count_hosts(&a);
	if (!err && a.nr)
		err = choose_rows(&a);
	if (!err && a.nr)
		err = read_sums(&a);
	if (!err)
		*scope = found;
	free(a.stream);
	daysums_lots_fini(&a.days);
	daysums_lots_fini(&a.hours);
	buf_fini(&a.epochs);
	buf_fini(&a.at);
	return err;
}

/* ---- names ---- */

struct naming {
	storesums_image_fn image;
	storesums_symbol_fn symbol;
	void *ctx;
};

static int note_image(void *ctx, const struct rowbinary_cell *cells)
{
	const struct naming *g = ctx;
	char *name = strndup(cells[1].text, cells[1].len);
	int err = name ? g->image(g->ctx, cells[0].n, name) : -ENOMEM;

	free(name);
	return err;
}

/* What is asked of images, some at a time. */
struct image_question {
	const char *select, *order; /* before the images' ids, and behind them */
	const char *types;
	rowbinary_fn note;
	size_t most; /* images in one statement */
};

static int ask_some(struct ch_store *s, const struct image_question *q,
		    const uint64_t *image, size_t nr, struct naming *g)
{
	struct buf sql = { 0 };
	int err;

	buf_printf(&sql, "%s (", q->select);
	for (size_t i = 0; i < nr; i++)
		buf_printf(&sql, "%s%" PRIu64, i ? "," : "", image[i]);
	buf_printf(&sql, ") %s FORMAT RowBinary", q->order);
	err = ch_store_query_buf(s, &sql, q->types, MAX_ANSWER, q->note, g);
	buf_fini(&sql);
	return err;
}

static int ask_of_images(struct ch_store *s, const struct image_question *q,
			 const uint64_t *image, size_t nr, struct naming *g)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i += q->most)
		err = ask_some(s, q, image + i, nr - i < q->most ? nr - i : q->most, g);
	return err;
}

int storesums_images(struct ch_store *s, const uint64_t *image, size_t nr,
		     storesums_image_fn fn, void *ctx)
{
	static const struct image_question names = {
		.select = "SELECT id, name FROM image WHERE id IN",
		.order = "ORDER BY id, name LIMIT 1 BY id",
		.types = "8s",
		.note = note_image,
		.most = MAX_IDS,
	};
	struct naming g = { .image = fn, .ctx = ctx };

	return ask_of_images(s, &names, image, nr, &g);
}

static int note_symbol(void *ctx, const struct rowbinary_cell *cells)
{
	const struct naming *g = ctx;
	char *name = strndup(cells[3].text, cells[3].len);
	const struct storesums_symbol symbol = { cells[0].n, cells[1].n, cells[2].n,
						 name };
	int err = name ? g->symbol(g->ctx, &symbol) : -ENOMEM;

	free(name);
	return err;
}

int storesums_symbols(struct ch_store *s, const uint64_t *image, size_t nr,
		      storesums_symbol_fn fn, void *ctx)
{
	static const struct image_question symbols = {
		.select = "SELECT image, start, size, name FROM symbol WHERE image IN",
		.order = "ORDER BY image, start, name LIMIT 1 BY image, start",
		.types = "888s",
		.note = note_symbol,
		.most = MAX_NAMED,
	};
	struct naming g = { .symbol = fn, .ctx = ctx };

	return ask_of_images(s, &symbols, image, nr, &g);
}
