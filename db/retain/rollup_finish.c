/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup_finish.c - moves the remaining rows of an epoch (all but profiles), and
 * then removes the epoch
 *
 * A row that cannot be read stays. Then its epoch stays as well, and the epoch's tally
 * is the sum of the remaining rows.
 */
#include "config.h"

#include <errno.h>

#include "db/core/sql.h"
#include "db/retain/rollup_private.h"

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

/*
 * These are few rows, so one transaction suffices: some per stream, and the flushes.
 * "AND ?2" is always true; it is there because each statement gets both ids.
 */
static int move_rest(sqlite3 *h, int64_t epoch, int64_t target)
{
	static const char *const statements[] = {
		"INSERT INTO loss (epoch, kind, stream, class, name, n)"
		" SELECT ?2, kind, stream, class, name, n FROM loss WHERE epoch = ?1"
		" ON CONFLICT DO UPDATE SET n = n + excluded.n",
		"DELETE FROM loss WHERE epoch = ?1 AND ?2",
		"INSERT INTO tally (epoch, kind, stream, received, stored,"
		" not_delivered, enabled_ns, running_ns, throttled)"
		" SELECT ?2, kind, stream, received - stored, 0, not_delivered,"
		" enabled_ns, running_ns, throttled FROM tally WHERE epoch = ?1"
		" ON CONFLICT DO UPDATE SET received = received + excluded.received,"
		" not_delivered = not_delivered + excluded.not_delivered,"
		" enabled_ns = enabled_ns + excluded.enabled_ns,"
		" running_ns = running_ns + excluded.running_ns,"
		" throttled = throttled + excluded.throttled",
		"DELETE FROM tally WHERE epoch = ?1 AND stored = 0 AND ?2",
		"UPDATE tally SET received = stored, not_delivered = 0, enabled_ns = 0,"
		" running_ns = 0, throttled = 0 WHERE epoch = ?1 AND ?2",
		"DELETE FROM stack_image WHERE epoch = ?1 AND ?2"
		" AND NOT EXISTS (SELECT 1 FROM stack WHERE epoch = ?1)"
		" AND NOT EXISTS (SELECT 1 FROM window_set WHERE epoch = ?1)"
		" AND NOT EXISTS (SELECT 1 FROM access_set WHERE epoch = ?1)",
		"UPDATE flush SET epoch = ?2 WHERE epoch = ?1",
		"UPDATE epoch SET label = (SELECT label FROM epoch WHERE id = ?1)"
		" WHERE id = ?2 AND label = ''",
		"DELETE FROM roll WHERE epoch = ?1 AND ?2",
		"DELETE FROM epoch WHERE id = ?1 AND ?2"
		" AND NOT EXISTS (SELECT 1 FROM profile WHERE epoch = ?1)"
		" AND NOT EXISTS (SELECT 1 FROM stack WHERE epoch = ?1)"
		" AND NOT EXISTS (SELECT 1 FROM window_set WHERE epoch = ?1)"
		" AND NOT EXISTS (SELECT 1 FROM access_set WHERE epoch = ?1)"
		" AND NOT EXISTS (SELECT 1 FROM edge WHERE epoch = ?1)",
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(statements) / sizeof(statements[0]); i++)
		err = sql_do(h, statements[i], "ii", epoch, target);
	return err ? err : rollup_merge_flushes(h, target);
}

/* 1: there is more. */
static int move_sets(struct slice *s, int64_t target, struct rollup_progress *progress)
{
	int err = 0;

	while (!err && progress->kind < NR_SET_KINDS) {
		err = set_rows_move(s, set_kinds[progress->kind], target,
				    &progress->last);
		if (!err) {
			progress->kind++;
			progress->last = set_rows_before(progress->epoch);
		} else if (err == 1 && !slice_is_full(s)) {
			err = 0;
		}
	}
	return err;
}

int rollup_finish_epoch(struct slice *s, int64_t epoch, int64_t target,
			struct rollup_progress *progress)
{
	int64_t found;
	int err = sql_get(s->h, &found,
			  "SELECT 1 FROM roll WHERE epoch = ?1 AND target = ?2", "ii",
			  epoch, target);

	if (err)
		return err == -ENOENT ? -EAGAIN : err;
	if (progress->epoch != epoch)
		*progress =
			(struct rollup_progress){ epoch, 0, set_rows_before(epoch) };
	while ((err = move_comms(s->h, epoch, target)) == 1) {
		if (slice_is_full(s))
			return 1;
	}
	if (!err)
		err = move_sets(s, target, progress);
	return err ? err : move_rest(s->h, epoch, target);
}
