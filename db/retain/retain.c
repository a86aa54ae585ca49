/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * retain.c - finds the next work that is due, and does a slice of it
 *
 * Each step takes the first of these that applies:
 *
 *	1. work under way: a roll-up, then removals
 *	2. epochs that are too old: remove
 *	3. epochs of an hour, then of a day, that is old enough: roll up
 *	4. rows that removed epochs left unused: remove, after SWEEP_EACH epochs; if
 *	   fewer epochs were removed, only after 5
 *	5. a file that is too large: remove the oldest epoch
 *	6. free pages: give them back to the file system
 *
 * The database records unfinished work, so a crash loses no state. Transactions are not
 * synced one by one: if a power failure undoes work, it is done again.
 */
#include "config.h"

#include "db/retain/retain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "db/core/sql.h"
#include "db/retain/removal.h"
#include "db/retain/rollup.h"

#define SWEEP_EACH    256       /* removals */
#define WAL_BYTES     (1 << 20) /* a longer WAL is checkpointed */
#define WAL_MAX_BYTES (8 << 20) /* if readers prevent that, work stops here */
#define FREE_PAGES    8         /* stay free for flushes, with 1/32 of all pages */
#define VACUUM_PAGES  256       /* the most at a time */
#define VACUUM_NS     (10 * NSEC_PER_MSEC)

struct retain {
	struct db *db;
	struct retain_policy policy;
	char *ids;
	struct slice slice;
	struct rollup *rollup; /* under way */
	struct retain_stats stats;
	uint64_t nr_unswept; /* removals since the last sweep for unused rows */
	int64_t vacuum_pages;
	bool can_vacuum, vacuuming;
	bool dirty; /* written since the last checkpoint */
};

static int set_up(struct retain *r)
{
	int64_t mode;
	int err = sql_exec(r->slice.h, "PRAGMA synchronous = NORMAL;"
				       "PRAGMA wal_autocheckpoint = 0;"
				       "PRAGMA foreign_keys = OFF");

	if (!err)
		err = sql_get(r->slice.h, &mode, "PRAGMA auto_vacuum", "");
	if (err)
		return err;
	r->can_vacuum = mode == 2;
	if (!r->can_vacuum)
		log_warn(
			"db: %s: the file cannot shrink: to change that, stop cpid and "
			"run 'PRAGMA auto_vacuum = 2; VACUUM' in sqlite3",
			db_path(r->db));
	return 0;
}

int retain_new(struct db *db, const struct retain_policy *policy, const char *ids,
	       struct retain **out)
{
	struct retain *r = calloc(1, sizeof(*r));
	int err = 0;

	if (!r)
		return -ENOMEM;
	r->db = db;
	r->policy = *policy;
	r->slice.h = db_handle(db);
	r->vacuum_pages = VACUUM_PAGES / 4;
	/* A killed process may have removed epochs without sweeping. */
	r->nr_unswept = policy->daily_ns || policy->bytes;
	if (ids) {
		r->ids = strdup(ids);
		err = r->ids ? 0 : -ENOMEM;
	}
	if (!err)
		err = set_up(r);
	if (err)
		retain_free(r);
	else
		*out = r;
	return err;
}

void retain_free(struct retain *r)
{
	if (!r)
		return;
	rollup_free(r->rollup);
	free(r->ids);
	free(r);
}

static int step_rollup(struct retain *r)
{
	int more = 0, err = r->rollup ? 0 : rollup_resume(&r->slice, &r->rollup);

	if (err || !r->rollup)
		return err;
	more = rollup_step(r->rollup);
	if (more == 1)
		return 1;
	if (!more && rollup_unit(r->rollup) == ROLLUP_HOUR)
		r->stats.nr_hours++;
	else if (!more)
		r->stats.nr_days++;
	rollup_free(r->rollup);
	r->rollup = NULL;
	return more ? more : 1;
}

static int begin_unit(struct retain *r, enum rollup_unit unit, uint64_t age_ns,
		      uint64_t now_ns)
{
	if (r->ids)
		return rollup_begin(&r->slice, unit, UINT64_MAX, r->ids);
	if (!age_ns || age_ns > now_ns)
		return 0;
	return rollup_begin(&r->slice, unit, now_ns - age_ns, NULL);
}

/*
 * Hours are rolled up before days, because a day's spread is computed from its
 * hours.
 */
static int begin_rollup(struct retain *r, uint64_t now_ns)
{
	int err = begin_unit(r, ROLLUP_HOUR, r->policy.minutely_ns, now_ns);

	return err ? err : begin_unit(r, ROLLUP_DAY, r->policy.hourly_ns, now_ns);
}

int retain_remove(struct retain *r, int64_t epoch)
{
	int err = removal_begin(&r->slice, epoch);

	if (!err) {
		r->stats.nr_removed++;
		r->nr_unswept++;
	}
	return err;
}

/*
 * Begins to remove the oldest epoch that may be removed and ended before before_ns.
 * Returns 1 if there is one. Within a run, an epoch never counts as older than the
 * epochs before it, because the clock may have been set back while it was collected.
 */
static int remove_oldest(struct retain *r, uint64_t before_ns, uint64_t now_ns)
{
	static const char sql[] =
		"SELECT id FROM (SELECT id, open, label,"
		" max(from_ns, coalesce(max(min(from_ns, ?2)) OVER w, 0)) AS since,"
		" max(to_ns, coalesce(max(to_ns) FILTER (WHERE to_ns <= ?2)"
		" OVER w, 0)) AS until"
		" FROM epoch WINDOW w AS (PARTITION BY run ORDER BY id))"
		" WHERE NOT open AND label = '' AND until < ?1"
		" ORDER BY since, id LIMIT 1";
	int64_t epoch;
	int err = sql_get(r->slice.h, &epoch, sql, "ii", before_ns, now_ns);

	if (!err)
		err = retain_remove(r, epoch);
	return err == -ENOENT ? 0 : err ? err : 1;
}

static int remove_old(struct retain *r, uint64_t now_ns)
{
	if (!r->policy.daily_ns || r->policy.daily_ns > now_ns)
		return 0;
	return remove_oldest(r, now_ns - r->policy.daily_ns, now_ns);
}

static int count_pages(struct retain *r, int64_t *all, int64_t *unused)
{
	int err = sql_get(r->slice.h, all, "PRAGMA page_count", "");

	return err ? err : sql_get(r->slice.h, unused, "PRAGMA freelist_count", "");
}

/* 1/16 of the limit is reserved for the WAL and for pages that are free for a while. */
static int remove_excess(struct retain *r, uint64_t now_ns)
{
	const uint64_t limit = r->policy.bytes - r->policy.bytes / 16;
	int64_t all, unused, size;
	int err;

	if (!r->policy.bytes)
		return 0;
	err = count_pages(r, &all, &unused);
	if (!err)
		err = sql_get(r->slice.h, &size, "PRAGMA page_size", "");
	if (err)
		return err;
	r->stats.too_small = false;
	if ((uint64_t)(all - unused) * (uint64_t)size <= limit)
		return 0;
	err = remove_oldest(r, INT64_MAX, now_ns);
	r->stats.too_small = !err;
	return err;
}

/*
 * Unless idle, waits for SWEEP_EACH removals, because finding unused rows reads the
 * whole database.
 */
static int sweep(struct retain *r, bool idle)
{
	int err;

	if (!r->nr_unswept || (!idle && r->nr_unswept < SWEEP_EACH))
		return 0;
	err = removal_sweep(&r->slice);
	if (!err)
		r->nr_unswept = 0;
	return err ? err : 1;
}

/* Moves pages from the file's end to free ones: as many as take VACUUM_NS. */
static int vacuum(struct retain *r)
{
	char sql[64];
	int64_t all, unused, left;
	int err = count_pages(r, &all, &unused);

	if (err)
		return err;
	r->vacuuming =
		r->can_vacuum && unused > (r->vacuuming ? 0 : FREE_PAGES + all / 32);
	if (!r->vacuuming)
		return 0;
	snprintf(sql, sizeof(sql), "PRAGMA incremental_vacuum(%d)",
		 (int)r->vacuum_pages);
	err = slice_begin(&r->slice);
	if (err)
		return err;
	err = slice_end(&r->slice, sql_exec(r->slice.h, sql));
	if (!err)
		err = count_pages(r, &left, &unused);
	if (err)
		return err;
	r->stats.nr_pages += left < all ? (uint64_t)(all - left) : 0;
	if (r->slice.last_ns > VACUUM_NS)
		r->vacuum_pages = r->vacuum_pages / 2 + 1;
	else if (r->vacuum_pages < VACUUM_PAGES)
		r->vacuum_pages++;
	return 1;
}

/*
 * Empties the WAL when it is long, or when there is nothing else to do. The passive
 * checkpoint, during which others can write, does most of the work, so the second one,
 * which blocks writers, is short.
 */
static int checkpoint(struct retain *r, bool idle)
{
	uint64_t file, wal;
	int err = db_size(r->db, &file, &wal);

	if (err || (wal < WAL_BYTES && !(idle && r->dirty)))
		return err;
	sqlite3_wal_checkpoint_v2(r->slice.h, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL,
				  NULL);
	sql_checkpoint(r->slice.h, SQL_BUSY_TIMEOUT_MS);
	err = db_size(r->db, &file, &wal);
	if (idle)
		r->dirty = false;
	return err ? err : wal > WAL_MAX_BYTES ? -EBUSY : 0;
}

static int next_step(struct retain *r, uint64_t now_ns)
{
	int err = step_rollup(r);

	if (!err)
		err = removal_step(&r->slice);
	if (!err)
		err = remove_old(r, now_ns);
	if (!err)
		err = begin_rollup(r, now_ns);
	if (!err)
		err = sweep(r, false);
	if (!err)
		err = remove_excess(r, now_ns);
	if (!err)
		err = sweep(r, true);
	return err ? err : vacuum(r);
}

int retain_step(struct retain *r, uint64_t now_ns)
{
	int err = checkpoint(r, false);

	if (!err)
		err = next_step(r, now_ns);
	if (err == -EAGAIN) /* another process did this work first */
		err = 1;
	if (err == 1)
		r->dirty = true;
	else if (!err)
		err = checkpoint(r, true);
	r->stats.longest_ns = r->slice.longest_ns;
	return err;
}

struct retain_stats retain_stats(const struct retain *r)
{
	return r->stats;
}
