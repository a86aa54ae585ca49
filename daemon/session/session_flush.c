/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_flush.c - moves attributed samples to the outbox and stores them
 *
 * A flush contains the collector's counts since the previous flush. Flushes that cannot
 * be stored wait in memory. Samples for which there is no room are counted as lost.
 */
#include "config.h"

#include <errno.h>
#ifdef HAVE_MALLOC_TRIM
#include <malloc.h>
#endif
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/os/timed_child.h"
#include "daemon/session/session_private.h"
#include "db/core/lockholder.h"

#define RETRY_NS      (10 * NSEC_PER_SEC)   /* after a flush that could not be stored */
#define BUSY_RETRY_NS (100 * NSEC_PER_MSEC) /* after the first -EBUSY */
#define BUSY_SAID_NS  NSEC_PER_SEC          /* shorter locks are not logged */
/* wait for a lock if a flush was requested */
#define ASKED_NS     (500 * NSEC_PER_MSEC)
#define SAY_AGAIN_NS (60 * NSEC_PER_SEC)

static void note_flush(struct flush_times *t)
{
	t->last_ns = time_mono_ns() - t->begun_ns;
	t->begun_ns = 0;
	t->sum_ns += t->last_ns;
	t->nr++;
	if (t->last_ns > t->max_ns)
		t->max_ns = t->last_ns;
}

#ifdef HAVE_MALLOC_TRIM
/*
 * glibc keeps freed memory, up to twice the size of the largest array that was freed
 * (the kernel's symbols), so malloc_trim() returns it.
 */
void session_give_back_memory(struct session *s)
{
	if (s->db)
		db_give_back_memory(s->db);
	malloc_trim(0);
}
#else
void session_give_back_memory(struct session *s)
{
	if (s->db)
		db_give_back_memory(s->db);
}
#endif

/*
 * Stores waiting items. Returns 0, or the error of the first item that could not be
 * stored.
 */
static int try_to_store(struct session *s)
{
	int err = session_mend(s);

	if (!err)
		err = outbox_store(s->outbox, s->store);
	return err == -EINPROGRESS ? -CPI_EMOVED : err;
}

struct blocker {
	pid_t pid; /* 0: not known */
	char name[LOCKHOLDER_NAME_SIZE];
};

static int find_blocker(struct timed_child_job *job)
{
	struct lockholder_query query;
	struct blocker found = { 0 };

	if (job->size != sizeof(query))
		return -EINVAL;
	memcpy(&query, job->question, sizeof(query));
	found.pid = lockholder_find(&query);
	if (found.pid)
		lockholder_name(found.pid, found.name);
	buf_put(&job->answer, &found, sizeof(found));
	return 0;
}

/*
 * Finds the process that holds the lock. The timed child does it, because it reads
 * other processes' files.
 */
static struct blocker ask_for_blocker(struct session *s)
{
	const struct lockholder_query query = db_writer_query(s->db);
	const struct timed_child_question q = { .fn = find_blocker,
						.data = &query,
						.size = sizeof(query) };
	struct blocker found = { 0 };

	if (timed_child_ask_for(s->timed_child, &q, &found, sizeof(found)))
		found.pid = 0;
	return found;
}

/* Logs which process holds the lock, once that has lasted for BUSY_SAID_NS. */
static void note_busy(struct session *s)
{
	struct session_storing *st = &s->storing;
	struct blocker blocker;

	if (st->is_said || session_now(s) - st->failing_ns < BUSY_SAID_NS)
		return;
	st->is_said = true;
	blocker = ask_for_blocker(s);
	st->blocked_by = blocker.pid;
	if (st->blocked_by)
		log_err("session: %s: it cannot be written, because process %d (%s) "
			"holds a lock: samples are kept in memory (at most %llu MiB) "
			"until the lock is released",
			s->cfg.db_path, (int)st->blocked_by, blocker.name,
			(unsigned long long)(s->cfg.max_memory >> 20));
	else
		log_err("session: %s: another connection writes for too long: samples "
			"are kept in memory (at most %llu MiB) until it has finished",
			s->cfg.db_path, (unsigned long long)(s->cfg.max_memory >> 20));
}

/* Logs a new error. If storing fails and works in turns, logs at most once a minute. */
static void note_failure(struct session *s, int err)
{
	struct session_storing *st = &s->storing;
	const uint64_t now_ns = session_now(s);

	if (st->is_said && err == s->storing.err)
		return;
	if (!st->is_said && st->said_ns && now_ns - st->said_ns < SAY_AGAIN_NS)
		return;
	st->is_said = true;
	st->said_ns = now_ns;
	log_err("session: %s: %s: samples are kept in memory (at most %llu MiB) until "
		"they can be stored",
		s->cfg.db_path, err_str(err),
		(unsigned long long)(s->cfg.max_memory >> 20));
}

static void note_success(struct session *s)
{
	struct session_storing *st = &s->storing;

	if (st->is_said)
		log_info("session: %s: stored the waiting samples, after %llu tries; "
			 "messages left out: %llu",
			 s->cfg.db_path, (unsigned long long)st->nr_failed,
			 (unsigned long long)log_forget_repeats());
	st->is_said = false;
	st->blocked_by = 0;
	st->nr_failed = st->failing_ns = st->backoff_ns = 0;
}

/*
 * The time until the next attempt. For a lock it begins at BUSY_RETRY_NS, and doubles
 * up to RETRY_NS.
 */
static uint64_t retry_after(struct session *s, int err)
{
	struct session_storing *st = &s->storing;

	if (err == -CPI_EMOVED)
		return session_mend_wait_ns(s);
	if (err != -EBUSY)
		return RETRY_NS;
	st->backoff_ns = st->backoff_ns ? 2 * st->backoff_ns : BUSY_RETRY_NS;
	if (st->backoff_ns > RETRY_NS)
		st->backoff_ns = RETRY_NS;
	return st->backoff_ns;
}

static void note_store(struct session *s, int err)
{
	struct session_storing *st = &s->storing;

	if (!err) {
		note_success(s);
		return;
	}
	st->nr_failed++;
	if (!st->failing_ns)
		st->failing_ns = session_now(s);
	if (err == -EBUSY)
		note_busy(s);
	else
		note_failure(s, err);
}

int session_store(struct session *s)
{
	const char *before = heartbeat_begin(s->cfg.heartbeat, "storing");
	int err;

	if (!s->storing.times.begun_ns)
		s->storing.times.begun_ns = time_mono_ns();
	err = try_to_store(s);
	heartbeat_end(s->cfg.heartbeat, before);
	note_flush(&s->storing.times);
	note_store(s, err);
	s->storing.err = err;
	s->storing.retry_ns = err ? session_now(s) + retry_after(s, err) : 0;
	if (!err) {
		s->storing.last_real_ns = wallclock_now(&s->wall);
		retention_wake(s->retention);
		session_give_back_memory(s);
	}
	return err;
}

/* Stores, unless another process holds a lock and the next attempt is not due. */
static int store_unless_blocked(struct session *s)
{
	if (s->storing.err == -EBUSY && session_now(s) < s->storing.retry_ns)
		return -EBUSY;
	return session_store(s);
}

int session_store_patiently(struct session *s, uint64_t max_ns)
{
	const uint64_t end_ns = time_mono_ns() + max_ns;
	int err;

	do {
		err = session_store(s);
	} while (err == -EBUSY && time_mono_ns() < end_ns);
	return err;
}

bool session_cannot_store(const struct session *s)
{
	return s->storing.err && (s->storing.err != -EBUSY || s->storing.is_said);
}

/*
 * Sweeps, and moves the tallies into the outbox. If storing fails and memory is full,
 * there are only losses. Then the tallies stay, because a flush with only losses for
 * each interval would take ever more memory. *stay says whether they do.
 */
static int post(struct session *s, bool *stay)
{
	struct outbox_flush f = { .kernel = s->kernel,
				  .text = s->kerneltext,
				  .jit = s->attribution.jit };
	struct sampler *p;
	uint64_t mono;
	int err = 0;

	s->storing.times.begun_ns = time_mono_ns();
	session_sweep(s);
	attribute_finish_waiting(&s->attribution);
	if (s->storing.err) /* if it works now, nothing needs to be dropped */
		store_unless_blocked(s);
	session_bound_memory(s);
	f.capture_bytes = session_memory_left(s);
	for_each_sampler (s, p) {
		err = p->ops->describe(p, &f);
		if (err)
			return err;
	}
	*stay = s->storing.err && !f.tally->profiles.nr;
	if (*stay)
		return 0;
	if (s->capture && !s->mend.active)
		capture_note(s->capture, f.tally, false);
	mono = session_now(s);
	f.to_ns = wallclock_now(&s->wall);
	f.duration_ns = mono - s->times.flush_from_ns;
	f.from_ns = f.to_ns - f.duration_ns;
	if (f.from_ns < s->times.flushed_real_ns) /* store.h, I2 */
		f.from_ns = s->times.flushed_real_ns;
	err = outbox_add_flush(s->outbox, &f);
	if (err)
		return err;
	for_each_sampler (s, p)
		p->ops->committed(p, &f);
	session_bound_memory(s);
	s->times.flush_from_ns = mono;
	s->times.flushed_real_ns = f.to_ns;
	return 0;
}

int session_post(struct session *s)
{
	bool stay;

	return post(s, &stay);
}

int session_end_streams(struct session *s)
{
	bool stay;
	const int err = post(s, &stay);

	return !err && stay ? s->storing.err : err;
}

int session_flush_due(struct session *s)
{
	int err = session_post(s);

	s->times.next_flush_ns = session_now(s) + s->cfg.flush_ns;
	return err ? err : store_unless_blocked(s);
}

int session_flush(struct session *s)
{
	int err = session_flush_due(s);

	return err == -EBUSY ? session_store_patiently(s, ASKED_NS) : err;
}

int session_new_epoch_due(struct session *s, const char *label)
{
	uint64_t before = time_mono_ns();
	int err = session_post(s);

	if (!err)
		err = session_begin_epoch(s,
					  (time_mono_ns() - before) / NSEC_PER_MSEC + 1,
					  label);
	return err ? err : store_unless_blocked(s);
}

int session_new_epoch(struct session *s, const char *label)
{
	int err = session_new_epoch_due(s, label);

	return err == -EBUSY ? session_store_patiently(s, ASKED_NS) : err;
}

int session_mark(struct session *s, const char *text, uint64_t *at_ns)
{
	const uint64_t now_ns = wallclock_now(&s->wall);
	const uint64_t dropped = outbox_dropped_marks(s->outbox);
	int err = outbox_add_mark(s->outbox, now_ns, text);

	if (err)
		return err;
	*at_ns = now_ns;
	err = store_unless_blocked(s);
	if (err == -EBUSY)
		err = session_store_patiently(s, ASKED_NS);
	if (outbox_dropped_marks(s->outbox) != dropped)
		return -EIO;
	return err ? -EINPROGRESS : 0;
}

int session_container(struct session *s, const char *id, const char *name)
{
	return outbox_add_container(s->outbox, wallclock_now(&s->wall), id, name);
}
