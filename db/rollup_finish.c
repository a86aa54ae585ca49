/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup_finish.c - what an epoch has beside profiles, and its end
 *
 * An epoch of which a profile could not be read keeps that, and is an epoch still, with
 * a tally that says so much. So does one of which edges could not.
 */
#include "config.h"

#include <errno.h>

#include "db/anchors.h"
#include "db/rollup_private.h"
#include "db/sql.h"
#include "db/stacks_store.h"
#include "db/window_rows.h"

#define SOME_COMMS "SELECT comm, image, stream FROM comm WHERE epoch = ?1 LIMIT 200"

/* 1: there may be more. */
static int move_comms(sqlite3 *h, int64_t epoch, int64_t target)
{
	static const char add[] =
		"INSERT INTO comm (epoch, comm, image, stream, n)"
		" SELECT ?2, comm, image, stream, n FROM comm WHERE epoch = ?1"
		" AND (comm, image, stream) IN (" SOME_COMMS ")"
		" ON CONFLICT DO UPDATE SET n = n + excluded.n";
	static const char delete[] = "DELETE FROM comm WHERE epoch = ?1"
				     " AND (comm, image, stream) IN (" SOME_COMMS ")";
	int err = sql_do(h, add, "ii", epoch, target);

	if (!err)
		err = sql_do(h, delete, "i", epoch);
	return err ? err : sqlite3_changes(h) > 0;
}

/* What beside them is told of streams. */
#define MOVE(loss, tally)                                                              \
	"INSERT INTO " loss " (epoch, stream, class, name, n)"                         \
	" SELECT ?2, stream, class, name, n FROM " loss " WHERE epoch = ?1"            \
	" ON CONFLICT DO UPDATE SET n = n + excluded.n",                               \
		"DELETE FROM " loss " WHERE epoch = ?1 AND ?2",                        \
		"INSERT INTO " tally                                                   \
		" (epoch, stream, received, stored, not_delivered,"                    \
		" enabled_ns, running_ns, throttled)"                                  \
		" SELECT ?2, stream, received - stored, 0, not_delivered, enabled_ns," \
		" running_ns, throttled FROM " tally " WHERE epoch = ?1"               \
		" ON CONFLICT DO UPDATE SET received = received + excluded.received,"  \
		" not_delivered = not_delivered + excluded.not_delivered,"             \
		" enabled_ns = enabled_ns + excluded.enabled_ns,"                      \
		" running_ns = running_ns + excluded.running_ns,"                      \
		" throttled = throttled + excluded.throttled",                         \
		"DELETE FROM " tally " WHERE epoch = ?1 AND stored = 0 AND ?2",        \
		"UPDATE " tally                                                        \
		" SET received = stored, not_delivered = 0, enabled_ns = 0,"           \
		" running_ns = 0, throttled = 0 WHERE epoch = ?1 AND ?2"

/* All of it is short: a few rows per stream, and the epoch's flushes. */
static int move_rest(sqlite3 *h, int64_t epoch, int64_t target)
{
	static const char *const statements[] = {
		MOVE("loss", "tally"),
		MOVE("stack_loss", "stack_tally"),
		MOVE("window_loss", "window_tally"),
		"DELETE FROM stack_image WHERE epoch = ?1 AND ?2"
		" AND NOT EXISTS (SELECT 1 FROM stack WHERE epoch = ?1)"
		" AND NOT EXISTS (SELECT 1 FROM window_set WHERE epoch = ?1)",
		"UPDATE flush SET epoch = ?2 WHERE epoch = ?1",
		"UPDATE epoch SET label = (SELECT label FROM epoch WHERE id = ?1)"
		" WHERE id = ?2 AND label = ''",
		"DELETE FROM roll WHERE epoch = ?1 AND ?2",
		"DELETE FROM epoch WHERE id = ?1 AND ?2"
		" AND NOT EXISTS (SELECT 1 FROM profile WHERE epoch = ?1)"
		" AND NOT EXISTS (SELECT 1 FROM stack WHERE epoch = ?1)"
		" AND NOT EXISTS (SELECT 1 FROM window_set WHERE epoch = ?1)"
		" AND NOT EXISTS (SELECT 1 FROM edge WHERE epoch = ?1)",
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(statements) / sizeof(statements[0]); i++)
		err = sql_do(h, statements[i], "ii", epoch, target);
	return err;
}

int rollup_finish_epoch(struct slice *s, int64_t epoch, int64_t target,
			struct edge_key *last)
{
	int64_t found;
	int err = sql_get(s->h, &found,
			  "SELECT 1 FROM roll WHERE epoch = ?1 AND target = ?2", "ii",
			  epoch, target);

	if (err)
		return err == -ENOENT ? -EAGAIN : err;
	while ((err = move_comms(s->h, epoch, target)) == 1) {
		if (slice_is_full(s))
			return 1;
	}
	if (err)
		return err;
	while ((err = edge_rows_move(s->h, epoch, target, last)) == 1) {
		if (slice_is_full(s))
			return 1;
	}
	if (!err)
		err = stacks_move(s, epoch, target);
	if (err)
		return err;
	while ((err = window_rows_move(s, epoch, target)) == 1) {
		if (slice_is_full(s))
			return 1;
	}
	if (!err)
		err = anchors_move(s->h, epoch, target);
	return err ? err : move_rest(s->h, epoch, target);
}
