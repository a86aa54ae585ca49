/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.h - writing: runs, epochs, and flushes that count exactly once
 *
 * A run is one life of a collector, and its flushes are numbered. The transaction that
 * merges a flush also inserts its (run, seq). So a flush that is stored again, after a
 * crash or an unclear error, changes nothing.
 *
 * I1  Per stream and epoch: received = Σ profile totals (PROFILE_COUNT) +
 *     Σ losses. store_flush() refuses a flush that breaks it.
 * I2  Intervals of a run do not overlap. If a run did not end cleanly, a gap row covers
 *     the time until the next run. If the clock steps back during an interval, the
 *     interval is stored with length 0 and its true duration, and a gap row marks the
 *     moment; later intervals may lie before it.
 */
#ifndef CPI_DB_STORE_H
#define CPI_DB_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/core/db.h"
#include "db/profile/flush.h"

struct store;

/*
 * Begins a run: stores the platform, and a gap row if the run before ended without
 * store_end(). db stays the caller's and must outlive the store.
 * Returns 0, -errno or -CPI_E….
 */
int store_begin(struct db *db, const struct platform_desc *platform, uint64_t now_ns,
		struct store **out);

/*
 * Begins an epoch at now_ns and ends the one before. label may be NULL;
 * uncertainty_ms says how sharp the edge is. The first epoch of a run is begun
 * like any other.
 */
int store_epoch(struct store *s, uint64_t now_ns, uint32_t uncertainty_ms,
		const char *label);

/*
 * Merges f into the current epoch, in one transaction. Returns 0 when f is
 * stored, now or earlier; -ENOSPC, -EIO, -EBUSY … when it is not: keep f and
 * try again. -EINVAL when f breaks I1.
 */
int store_flush(struct store *s, const struct flush *f);

/*
 * Continues the run in db, which must have the same content as the store's database:
 * the same file opened again, or a complete copy.
 */
void store_move(struct store *s, struct db *db);

/*
 * Returns when the last gap of the run's machine was found, which is the end of the gap
 * unless the clock stepped back; 0 if there is none. Any thread may call it.
 */
uint64_t store_last_gap_ns(const struct store *s);

/*
 * Sets how long the handle waits for another writer: 60 ms, for a caller that tries
 * again later, or 2 s.
 */
void store_set_patience(struct store *s, bool is_short);

/* Ends the epoch and the run cleanly (0 or -errno); then frees s in any case. */
int store_end(struct store *s, uint64_t now_ns);
void store_free(struct store *s); /* without ending: what a crash leaves */

/* The newest end of a flush from min_ns to max_ns; min_ns where there is none. */
int store_newest(struct db *db, uint64_t min_ns, uint64_t max_ns, uint64_t *out);

/*
 * The highest clock rate that was stored for this machine in this boot; 0: there is
 * none. 0 or what SQLite reports.
 */
int store_clock_rate(struct db *db, const struct platform_desc *p, uint64_t *out);

/*
 * Marks an event on the time line of the run's machine; it begins no epoch. Storing the
 * same one again changes nothing. Of each machine the newest STORE_MAX_MARKS are kept.
 * text is valid. 0 or what SQLite reports.
 */
#define STORE_MAX_MARKS 4096
int store_mark(struct store *s, uint64_t at_ns, const char *text);

/* Whether text has 1 to STORE_MARK_TEXT - 1 bytes and is harmless (text_is_clean()). */
#define STORE_MARK_TEXT 64
bool store_mark_is_valid(const char *text);

/*
 * The same without a run, for a DB_WRITE handle: on the machine of the newest epoch, or
 * on host if there is no epoch.
 */
int store_mark_newest(struct db *db, uint64_t at_ns, const char *text,
		      const char *host);

/* Names an epoch. -ENOENT when there is none with this id. For a DB_WRITE handle. */
int store_label_epoch(struct db *db, int64_t epoch, const char *label);

#endif
