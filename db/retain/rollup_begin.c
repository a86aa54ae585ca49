/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup_begin.c - chooses the epochs of an hour or day; for a day it also stores
 * the time of each epoch by event
 *
 * The choice is made without a lock, and checked again in the transaction that begins
 * the roll-up.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/times.h"
#include "db/core/rows.h"
#include "db/core/sql.h"
#include "db/retain/rollup_private.h"

static const int64_t unit_ns[] = {
	[ROLLUP_HOUR] = 3600 * NSEC_PER_SEC,
	[ROLLUP_DAY] = 24 * 3600 * NSEC_PER_SEC,
};

/*
 * A roll-up moved the epoch's flushes but not all of its rows; it is not tried again.
 */
#define LEFT_BEHIND                                                    \
	"NOT EXISTS (SELECT 1 FROM flush WHERE flush.epoch = e.id)"    \
	" AND (EXISTS (SELECT 1 FROM profile p WHERE p.epoch = e.id)"  \
	" OR EXISTS (SELECT 1 FROM stack k WHERE k.epoch = e.id)"      \
	" OR EXISTS (SELECT 1 FROM window_set w WHERE w.epoch = e.id)" \
	" OR EXISTS (SELECT 1 FROM access_set a WHERE a.epoch = e.id)" \
	" OR EXISTS (SELECT 1 FROM edge WHERE edge.epoch = e.id))"

/*
 * ?1: the hour or day must have ended by then; ?2: a JSON array of ids, or NULL; ?3:
 * the length of an hour or day.
 */
#define ELIGIBLE                                                           \
	"NOT e.open AND e.label = '' AND e.to_ns - e.from_ns < ?3"         \
	" AND (e.from_ns / ?3 + 1) * ?3 <= ?1"                             \
	" AND (?2 IS NULL OR e.id IN (SELECT value FROM json_each(?2)))"   \
	" AND NOT EXISTS (SELECT 1 FROM rolled WHERE rolled.epoch = e.id)" \
	" AND NOT (" LEFT_BEHIND ")"

struct choice {
	enum rollup_unit unit;
	uint64_t before_ns;
	const char *among; /* a JSON array of ids, or NULL */
	int64_t target;
	struct buf ids; /* a JSON array, which includes the target */
};

/* An epoch's time of one event. */
struct hour {
	uint64_t from_ns, to_ns;
	char *event;
	double time;
};

struct hours {
	struct hour *hour;
	size_t nr;
};

static int read_choice(sqlite3_stmt *st, void *ctx)
{
	struct choice *c = ctx;

	c->target = sqlite3_column_int64(st, 0);
	buf_puts(&c->ids, sql_text(st, 1));
	buf_str(&c->ids);
	return c->ids.err;
}

static int choose(sqlite3 *h, struct choice *c)
{
	static const char sql[] =
		"SELECT e.id, json_group_array(e.id), min(e.from_ns) FROM epoch e "
		"WHERE " ELIGIBLE " GROUP BY e.run, e.from_ns / ?3"
		" HAVING count(*) > 1 ORDER BY e.from_ns / ?3, e.run LIMIT 1";

	return sql_each(h, read_choice, c, sql, "isi", c->before_ns, c->among,
			unit_ns[c->unit]);
}

static int read_hour(sqlite3_stmt *st, void *ctx)
{
	struct hours *list = ctx;
	struct hour hour = { .event = strdup(sql_text(st, 0)),
			     .from_ns = sqlite3_column_int64(st, 1),
			     .to_ns = sqlite3_column_int64(st, 2),
			     .time = sqlite3_column_double(st, 3) };

	if (GROW(list->hour, list->nr) || !hour.event) {
		free(hour.event);
		return -ENOMEM;
	}
	list->hour[list->nr++] = hour;
	return 0;
}

static int read_hours(sqlite3 *h, const char *ids, struct hours *list)
{
	static const char sql[] =
		"SELECT s.event, e.from_ns, max(e.from_ns, e.to_ns), total("
		"(SELECT total(p.total) FROM profile p JOIN image i ON i.id = p.image"
		" WHERE p.epoch = t.epoch AND p.stream = t.stream AND p.context = 0"
		" AND p.kind = 0 AND i.kind != 4) * s.mean_period)" /* IMAGE_IDLE */
		" FROM tally t JOIN stream s ON s.id = t.stream"
		" JOIN epoch e ON e.id = t.epoch"
		" WHERE t.epoch IN (SELECT value FROM json_each(?1)) AND t.kind = 0"
		" GROUP BY e.id, s.event";

	return sql_each(h, read_hour, list, sql, "s", ids);
}

static void hours_fini(struct hours *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->hour[i].event);
	free(list->hour);
}

/*
 * Checks that no other process works on these epochs, and that none got a label since
 * they were chosen.
 */
static int check_choice(sqlite3 *h, const struct choice *c)
{
	static const char changed[] =
		"SELECT 1 WHERE EXISTS (SELECT 1 FROM roll)"
		" OR (SELECT count(*) FROM epoch e WHERE " ELIGIBLE
		") < json_array_length(?2)";
	int64_t found;
	int err = sql_get(h, &found, changed, "isi", c->before_ns, c->ids.data,
			  unit_ns[c->unit]);

	return err == -ENOENT ? 0 : err ? err : -EAGAIN;
}

static int note(sqlite3 *h, const struct choice *c, const struct hours *hours)
{
	static const char roll[] = "INSERT INTO roll (epoch, target, image, context)"
				   " SELECT value, ?1, ?3, ?3 FROM json_each(?2)";
	static const char extend[] =
		"UPDATE epoch SET to_ns = (SELECT max(to_ns) FROM epoch WHERE id IN"
		" (SELECT value FROM json_each(?2))) WHERE id = ?1";
	static const char rolled[] =
		"INSERT INTO rolled (epoch, event, from_ns, to_ns, time)"
		" VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE"
		" SET time = time + excluded.time";
	int err = sql_do(h, roll, "isi", c->target, c->ids.data, INT64_MIN);

	if (!err)
		err = sql_do(h, extend, "is", c->target, c->ids.data);
	for (size_t i = 0; !err && i < hours->nr; i++) {
		const struct hour *hour = &hours->hour[i];

		err = sql_do(h, rolled, "isiir", c->target, hour->event, hour->from_ns,
			     hour->to_ns, hour->time);
	}
	return err;
}

int rollup_begin(struct slice *s, enum rollup_unit unit, uint64_t before_ns,
		 const char *ids)
{
	struct choice c = { .unit = unit, .among = ids };
	struct hours hours = { 0 };
	int err;

	c.before_ns = before_ns > INT64_MAX ? INT64_MAX : before_ns;
	err = choose(s->h, &c);
	if (err || !c.ids.len)
		goto out;
	if (unit == ROLLUP_DAY)
		err = read_hours(s->h, c.ids.data, &hours);
	if (!err)
		err = slice_begin(s);
	if (err)
		goto out;
	err = check_choice(s->h, &c);
	if (!err)
		err = note(s->h, &c, &hours);
	err = slice_end(s, err);
	if (!err)
		err = 1;
out:
	hours_fini(&hours);
	buf_fini(&c.ids);
	return err;
}
