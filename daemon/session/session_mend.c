/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_mend.c - repairs a database that was deleted or replaced while the session
 * runs
 *
 * SQLite goes on writing to a deleted file, which is lost when it is closed. So each
 * flush first checks the path (session_mend()). During a repair, samples wait in
 * memory, as they do if the disk is full:
 *
 *	nothing at the path	the open file is copied beside it, the copy is moved
 *				there, and the run goes on in it
 *	another file there	the open file is copied beside it, and the copy stays
 *				there; a new run begins in the file at the path, if
 *				that is a CPI database
 *	no -wal or -shm file	the contents of the open WAL are moved into the
 *				database, which is opened anew
 *
 * I1  The old database stays open until there is a whole copy, or none can be made.
 *     Only in the latter case are samples lost; the log and the exit status report
 *     it.
 * I2  Nobody else uses the database meanwhile: retention is stopped, and captures wait.
 * I3  After a failure the database may be closed (db_renew()). Nothing is stored until
 *     it has been opened, so session_mend() does not return 0 before.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/session/session_private.h"

#define POLL_NS  (100 * NSEC_PER_MSEC) /* while a copy is made */
#define AGAIN_NS (10 * NSEC_PER_SEC)   /* after an error */

#define STORED_SIZE (32 + TIME_TEXT_SIZE) /* of what_was_stored() */

static void say_begin(const struct session *s, enum place_state state)
{
	static const char *const text[] = {
		[PLACE_WAL_GONE] = "its -wal or -shm file was deleted: it is opened "
				   "anew; do not delete these files while cpid runs",
		[PLACE_GONE] = "it was deleted: it is copied back from the open file; "
			       "to begin an empty one, stop cpid first",
		[PLACE_REPLACED] = "another file was put there: what was stored until "
				   "now is saved beside it; to replace it, stop cpid "
				   "first",
	};

	log_warn("db: %s: %s", db_path(s->db), text[state]);
}

/* "cpi.db.deleted-20261120T101503Z". */
static int name_copy(struct session *s)
{
	const time_t now = (time_t)(wallclock_now(&s->wall) / NSEC_PER_SEC);
	char when[32];
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	free(s->mend.copy);
	s->mend.copy = NULL;
	return asprintf(&s->mend.copy, "%s.deleted-%s", db_path(s->db), when) < 0
		       ? -ENOMEM
		       : 0;
}

static int begin(struct session *s, enum place_state state)
{
	int err = name_copy(s);

	if (err)
		return err;
	say_begin(s, state);
	s->mend.retains = s->retention != NULL;
	retention_stop(s->retention);
	s->retention = NULL;
	s->mend.active = true;
	s->mend.seen = state;
	s->mend.nr++;
	return 0;
}

static void end(struct session *s)
{
	struct session_mend *m = &s->mend;
	const bool retains = m->retains && !m->closing;

	if (m->saver) {
		saver_end(m->saver);
		m->saver = NULL;
	}
	m->active = m->has_copy = m->gave_up = m->is_back = false;
	m->err = 0;
	m->retry_ns = 0;
	if (retains && session_retain(s))
		log_err("retain: %s: --retain is not enforced until cpid is started "
			"again",
			db_path(s->db));
}

/* Deletes the copy: the database is at its path again. */
static void drop_copy(struct session *s)
{
	if (s->mend.saver)
		s->mend.has_copy = !saver_end(s->mend.saver);
	s->mend.saver = NULL;
	if (s->mend.has_copy)
		unlink(s->mend.copy);
}

static int go_on(struct session *s)
{
	drop_copy(s);
	end(s);
	log_info("db: %s: it is back at its path: nothing was lost", db_path(s->db));
	return 0;
}

static int renew(struct session *s)
{
	int err;

	drop_copy(s);
	s->mend.has_copy = false;
	err = db_renew(s->db);
	if (err)
		return err;
	store_move(s->store, s->db);
	end(s);
	log_info("db: %s: it was opened anew: nothing was lost", db_path(s->db));
	return 0;
}

/*
 * Whether to stop trying to make a copy: the error is lasting, half of the memory is in
 * use, or the session ends.
 */
static bool must_give_up(const struct session *s, int err)
{
	return err_is_lasting(err) || err == -EBADF || s->mend.closing ||
	       session_memory(s) > s->cfg.max_memory / 2;
}

/* The beginning of a message: what the old database contains. */
static const char *what_was_stored(const struct session *s, char text[STORED_SIZE])
{
	char when[TIME_TEXT_SIZE];

	if (!s->storing.last_real_ns) /* this session has not stored a flush */
		return "what was stored before cpid started";
	snprintf(text, STORED_SIZE, "what was stored until %s",
		 time_format(s->storing.last_real_ns, when));
	return text;
}

static void give_up(struct session *s, int err)
{
	char text[STORED_SIZE];

	s->mend.gave_up = s->mend.lost_stored = true;
	log_err("db: %s: %s: it cannot be copied: %s is lost", db_path(s->db),
		err_str(err), what_was_stored(s, text));
}

/*
 * Makes the copy, one step per call. Returns 0 if it is complete or was given up,
 * -EINPROGRESS, or the error of the last attempt.
 */
static int make_copy(struct session *s)
{
	struct session_mend *m = &s->mend;
	int err;

	if (m->has_copy || m->gave_up)
		return 0;
	if (!m->saver && !m->closing && session_now(s) < m->retry_ns)
		return m->err;
	err = m->saver ? 0 : saver_start(s->db, m->copy, &m->saver);
	if (!err) {
		if (!m->closing && !saver_is_done(m->saver))
			return -EINPROGRESS;
		err = saver_end(m->saver);
		m->saver = NULL;
	}
	m->has_copy = !err;
	if (!err)
		return 0;
	if (must_give_up(s, err)) {
		give_up(s, err);
		return 0;
	}
	if (m->err != err)
		log_err("db: %s: cannot copy the database there: %s: cpid tries again "
			"every 10 s",
			m->copy, err_str(err));
	m->err = err;
	m->retry_ns = session_now(s) + AGAIN_NS;
	return err;
}

/* Whether the copy that was put back is at the path of db. */
static bool is_copy(const struct session *s, const struct db *db)
{
	struct stat st;

	return s->mend.is_back && !stat(db_path(db), &st) &&
	       file_same(&st, &s->mend.back);
}

/*
 * Notices that the copy itself was deleted or replaced before it was opened; then
 * another copy is needed.
 */
static void forget_lost_copy(struct session *s)
{
	if (s->mend.is_back && !is_copy(s, s->db))
		s->mend.is_back = s->mend.has_copy = false;
}

/* Moves the copy to the path. From then on it is "another file there". */
static int put_back(struct session *s)
{
	int err;

	if (stat(s->mend.copy, &s->mend.back) < 0)
		return -errno;
	err = db_put_back(s->db, s->mend.copy);
	s->mend.is_back = !err;
	/* the next check examines the file again */
	return err == -EEXIST ? -EINPROGRESS : err;
}

static int begin_run(struct session *s, struct db *db)
{
	const uint64_t now_ns = wallclock_now(&s->wall);
	struct store *store = NULL;
	int err = store_begin(db, &s->platform.desc, now_ns, &store);

	if (!err)
		err = store_epoch(store, now_ns, 0, NULL);
	if (err) {
		store_free(store);
		return err;
	}
	store_free(s->store);
	store_set_patience(store, true);
	s->store = store;
	kernel_capture_again(s->kernel);
	return 0;
}

static void say_where(const struct session *s, const struct db *db, bool same)
{
	const struct session_mend *m = &s->mend;
	char text[STORED_SIZE];

	if (same)
		log_info("db: %s: it was copied back, and collecting goes on in it: "
			 "nothing was lost",
			 db_path(db));
	else if (m->has_copy)
		log_warn("db: %s: collecting goes on in the file there; %s is in %s: "
			 "'cpi epoch import --db FILE %s' adds it",
			 db_path(db), what_was_stored(s, text), m->copy, m->copy);
	else
		log_warn("db: %s: collecting goes on in a new run there", db_path(db));
}

/* Continues in the database that is now at the path, or in a new one. */
static int adopt(struct session *s)
{
	struct db *db = NULL;
	bool same;
	int err = db_reopen(s->db, &db);

	if (err)
		return err;
	same = is_copy(s, db);
	if (same)
		store_move(s->store, db);
	else
		err = begin_run(s, db);
	if (err) {
		db_close(db);
		return err;
	}
	if (s->capture)
		capture_use(s->capture, db, same);
	say_where(s, db, same);
	db_close(s->db);
	s->db = db;
	end(s);
	return 0;
}

static int move_on(struct session *s, enum place_state state)
{
	int err;

	forget_lost_copy(s);
	err = make_copy(s);
	if (!err && state == PLACE_GONE && s->mend.has_copy && !s->mend.is_back)
		err = put_back(s);
	return err ? err : adopt(s);
}

static int step(struct session *s, enum place_state state)
{
	if (state != s->mend.seen && state != PLACE_KEPT)
		say_begin(s, state);
	s->mend.seen = state;
	switch (state) {
	case PLACE_KEPT: /* it is there, but db_renew() may have left it closed (I3) */
		return db_handle(s->db) ? go_on(s) : renew(s);
	case PLACE_WAL_GONE:
		return renew(s);
	default:
		return move_on(s, state);
	}
}

/*
 * Warns about further names of the file. A program that opens it by another name uses
 * another WAL, and no lock protects the database.
 */
static void note_links(struct session *s, nlink_t nr_links)
{
	if (nr_links > 1 && s->mend.links <= 1)
		log_warn("db: %s: it has %llu names (hard links): a program that opens "
			 "it by another name while cpid runs damages it; remove the "
			 "other names",
			 db_path(s->db), (unsigned long long)nr_links);
	s->mend.links = nr_links;
}

int session_mend(struct session *s)
{
	enum place_state state;
	nlink_t nr_links = 0;
	int err = db_look(s->db, &state, &nr_links);

	if (err)
		return err;
	if (state == PLACE_KEPT)
		note_links(s, nr_links);
	if (!s->mend.active && state == PLACE_KEPT)
		return 0;
	if (!s->mend.active)
		err = begin(s, state);
	return err ? err : step(s, state);
}

uint64_t session_mend_wait_ns(const struct session *s)
{
	return s->mend.saver ? POLL_NS : AGAIN_NS;
}

int session_mend_last(struct session *s)
{
	int err;

	if (s->mend.gave_up || !db_handle(s->db))
		return -CPI_EMOVED;
	drop_copy(s);
	s->mend.has_copy = false;
	err = outbox_store(s->outbox, s->store);
	if (!err) {
		err = store_end(s->store, wallclock_now(&s->wall));
		s->store = NULL;
	}
	if (!err)
		err = saver_start(s->db, s->mend.copy, &s->mend.saver);
	if (!err)
		err = saver_end(s->mend.saver);
	s->mend.saver = NULL;
	if (err)
		give_up(s, err);
	else
		log_warn("db: %s: all that was collected is in %s", db_path(s->db),
			 s->mend.copy);
	s->mend.has_copy = !err;
	return err;
}

void session_mend_free(struct session *s)
{
	if (s->mend.saver)
		saver_end(s->mend.saver);
	free(s->mend.copy);
}

void session_mend_status(const struct session *s, struct buf *out)
{
	if (s->mend.links > 1)
		buf_printf(out, "db_links %llu\n", (unsigned long long)s->mend.links);
	if (s->mend.nr)
		buf_printf(out, "db_mended %llu\n", (unsigned long long)s->mend.nr);
	if (s->mend.lost_stored)
		buf_puts(out, "db_lost 1\n");
}
