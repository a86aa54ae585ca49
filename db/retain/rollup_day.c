/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup_day.c - reads the epochs, events and streams of a roll-up from its tables
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "db/core/rows.h"
#include "db/core/sql.h"
#include "db/retain/rollup_private.h"

static int read_epoch(sqlite3_stmt *st, void *ctx)
{
	struct rollup_day *day = ctx;

	if (GROW(day->epoch, day->nr_epochs))
		return -ENOMEM;
	day->epoch[day->nr_epochs++] = sqlite3_column_int64(st, 0);
	return 0;
}

static int read_event(sqlite3_stmt *st, void *ctx)
{
	struct rollup_day *day = ctx;
	struct rollup_event event = {
		.name = strdup(sql_text(st, 0)),
		.nr_epochs = sqlite3_column_int64(st, 1),
		.all = sqlite3_column_double(st, 2),
		.time = calloc(day->nr_epochs, sizeof(*event.time)),
	};

	if (GROW(day->event, day->nr_events) || !event.name || !event.time) {
		free(event.name);
		free(event.time);
		return -ENOMEM;
	}
	day->event[day->nr_events++] = event;
	return 0;
}

/* The event's index; nr_events when there is none. */
static size_t event_named(const struct rollup_day *day, const char *name)
{
	size_t i = 0;

	while (i < day->nr_events && strcmp(day->event[i].name, name) != 0)
		i++;
	return i;
}

static int read_time(sqlite3_stmt *st, void *ctx)
{
	struct rollup_day *day = ctx;
	const int64_t epoch = sqlite3_column_int64(st, 0);
	const size_t event = event_named(day, sql_text(st, 1));

	for (size_t i = 0; event < day->nr_events && i < day->nr_epochs; i++) {
		if (day->epoch[i] == epoch)
			day->event[event].time[i] = sqlite3_column_double(st, 2);
	}
	return 0;
}

static int read_stream(sqlite3_stmt *st, void *ctx)
{
	struct rollup_day *day = ctx;
	struct rollup_stream stream = { .id = sqlite3_column_int64(st, 0),
					.event = event_named(day, sql_text(st, 1)),
					.period = sqlite3_column_double(st, 2) };

	if (GROW(day->stream, day->nr_streams))
		return -ENOMEM;
	if (stream.event < day->nr_events)
		day->stream[day->nr_streams++] = stream;
	return 0;
}

int day_load(sqlite3 *h, int64_t target, struct rollup_day *day)
{
	static const char epochs[] = "SELECT epoch FROM roll WHERE target = ?1"
				     " ORDER BY epoch != ?1, epoch";
	static const char events[] = "SELECT event, count(*), total(time) FROM rolled"
				     " WHERE epoch = ?1 GROUP BY event";
	static const char times[] =
		"SELECT e.id, r.event, r.time FROM roll o"
		" JOIN epoch e ON e.id = o.epoch"
		" JOIN rolled r ON r.epoch = ?1 AND r.from_ns = e.from_ns"
		" WHERE o.target = ?1";
	static const char streams[] =
		"SELECT DISTINCT s.id, s.event, s.mean_period FROM roll o"
		" JOIN tally t ON t.epoch = o.epoch AND t.kind = 0 JOIN stream s ON "
		"s.id = t.stream"
		" WHERE o.target = ?1";
	int err = sql_each(h, read_epoch, day, epochs, "i", target);

	if (!err && !day->nr_epochs)
		err = -EAGAIN; /* another process has just finished this roll-up */
	if (!err && day->epoch[0] != target) {
		log_err("db: %s: table roll has no row for epoch %" PRId64
			", into which others are rolled up: restore a copy",
			sqlite3_db_filename(h, "main"), target);
		err = -CPI_ECORRUPT;
	}
	if (!err)
		err = sql_each(h, read_event, day, events, "i", target);
	if (!err)
		err = sql_each(h, read_time, day, times, "i", target);
	if (!err)
		err = sql_each(h, read_stream, day, streams, "i", target);
	if (!err)
		err = sql_prepare(h, profile_set.find, &day->find);
	return err ? err : set_taker_init(h, &profile_set, &day->taker);
}

void day_fini(struct rollup_day *day)
{
	for (size_t i = 0; i < day->nr_events; i++) {
		free(day->event[i].name);
		free(day->event[i].time);
	}
	sqlite3_finalize(day->find);
	set_taker_fini(&day->taker);
	free(day->event);
	free(day->stream);
	free(day->epoch);
}
