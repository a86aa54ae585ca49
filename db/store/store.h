/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.h - writing: runs, epochs, and flushes that count exactly once
 *
 * A run is one execution of a collector; its flushes are numbered. The transaction that
 * merges a flush also inserts its (run, seq). So storing a flush again, after a crash
 * or an unclear error, changes nothing.
 *
 * I1  Per stream and epoch: received = Σ totals (PROFILE_COUNT) of the profiles with
 *     context "" + Σ losses. store_flush() refuses a flush that breaks it.
 * I2  As long as the clock does not step back, the intervals of a run's flushes do not
 *     overlap. If it steps back during an interval, the interval is stored with to_ns =
 *     from_ns (duration_ns still has its true length), and a gap row marks from_ns.
 *     Later intervals use the new time, so they may overlap earlier ones. If a run did
 *     not end cleanly, a gap row covers the time until the next run.
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
 * Begins a run: stores the platform, and a gap row if the previous run ended without
 * store_end(). The store uses db, which must stay open until store_end() or
 * store_free(). Returns 0, -errno or -CPI_E….
 */
int store_begin(struct db *db, const struct platform_desc *platform, uint64_t now_ns,
		struct store **out);

/*
 * Begins an epoch at now_ns, and ends the previous one. Call it before the first flush,
 * too. Samples of up to uncertainty_ms around now_ns may be in the other epoch. label
 * may be NULL. Returns 0 or an error.
 */
int store_epoch(struct store *s, uint64_t now_ns, uint32_t uncertainty_ms,
		const char *label);

/*
 * Merges f into the current epoch in one transaction. Returns 0 if f is stored,
 * now or by an earlier call; -ENOSPC, -EIO, -EBUSY … if it is not, and then keep
 * f and try again; or -EINVAL if f breaks I1, refers to a stream that it does not
 * have, or has seq 0, or if there is no epoch yet.
 */
int store_flush(struct store *s, const struct flush *f);

/*
 * Continues the run in db, which must have the same contents as the store's database:
 * it is the same file opened again, or a complete copy.
 */
void store_move(struct store *s, struct db *db);

/*
 * Returns the time at which the last gap of the run's machine was found, which is the
 * gap's end unless the clock stepped back. Returns 0 if there is no gap. Any thread may
 * call it.
 */
uint64_t store_last_gap_ns(const struct store *s);

/*
 * Sets how long the handle waits for another writer: 60 ms, for a caller that tries
 * again later, or 2 s.
 */
void store_set_patience(struct store *s, bool is_short);

/* Ends the epoch and the run cleanly, and frees s in any case. Returns 0 or -errno. */
int store_end(struct store *s, uint64_t now_ns);
/* does not end the run, as after a crash; accepts NULL */
void store_free(struct store *s);

/*
 * Gets the latest time between min_ns and max_ns at which a flush ended; min_ns if
 * there is none. Returns 0 or SQLite's error.
 */
int store_newest(struct db *db, uint64_t min_ns, uint64_t max_ns, uint64_t *out);

/*
 * Gets the highest clock rate that was stored for this machine in this boot; 0 if there
 * is none. Returns 0 or SQLite's error.
 */
int store_clock_rate(struct db *db, const struct platform_desc *p, uint64_t *out);

/*
 * Stores a mark: an event on the time line of the run's machine. It does not begin an
 * epoch. Storing the same mark again changes nothing. The newest STORE_MAX_MARKS marks
 * of each machine are kept. text must be valid (store_mark_is_valid()). Returns 0 or
 * SQLite's error.
 */
#define STORE_MAX_MARKS 4096
int store_mark(struct store *s, uint64_t at_ns, const char *text);

/*
 * Whether text has 1 to STORE_MARK_TEXT - 1 bytes and no control characters
 * (text_is_clean()).
 */
#define STORE_MARK_TEXT 64
bool store_mark_is_valid(const char *text);

/*
 * As store_mark(), without a run, for a DB_WRITE handle: the machine is that of the
 * newest epoch, or host if there is no epoch.
 */
int store_mark_newest(struct db *db, uint64_t at_ns, const char *text,
		      const char *host);

#define STORE_CONTAINER_ID   65 /* with the NUL */
#define STORE_CONTAINER_NAME 448
struct store_container {
	uint64_t at_ns;                  /* when it was reported */
	char id[STORE_CONTAINER_ID];     /* 64 hexadecimal digits, in lower case */
	char name[STORE_CONTAINER_NAME]; /* not empty, without control characters */
};

/*
 * Stores names of containers, or that they were reported again, in one transaction. The
 * STORE_MAX_CONTAINERS that were reported last are kept. Returns 0 or SQLite's error.
 */
#define STORE_MAX_CONTAINERS 16384
int store_containers(struct store *s, const struct store_container *c, size_t nr);

/*
 * Labels an epoch, for a DB_WRITE handle. Returns 0, -ENOENT if no epoch has this id,
 * or another error.
 */
int store_label_epoch(struct db *db, int64_t epoch, const char *label);

#endif
