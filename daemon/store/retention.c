/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * retention.c - a thread that rolls up and removes old epochs while the session runs
 *
 * The session and the retention thread share only the database and struct retention.
 * SQLite serialises their transactions, and slices are short. After each slice the
 * retention thread pauses for as long as the slice took. So a flush usually succeeds at
 * the first attempt, and the thread takes at most half of a CPU.
 */
#include "config.h"

#include "daemon/store/retention.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/store/wallclock.h"
#include "db/retain/retain_clock.h"

#define RETRY_NS    (60 * NSEC_PER_SEC) /* after an error */
#define MIN_REST_NS NSEC_PER_MSEC
/*
 * The pause after a step that found nothing to do; the end of a flush ends it early. No
 * usual interval of flushes, such as ten minutes, is a multiple of it. Otherwise a step
 * could begin at the same time as each flush, and wait for the flush's lock with many
 * short sleeps.
 */
#define IDLE_NS (130 * NSEC_PER_SEC)

struct retention {
	struct db *db;
	/* used only by the thread */
	struct retain *retain;
	struct retain_clock clock;
	struct wallclock wall;
	struct retain_policy policy;
	pthread_t thread;
	bool started;
	/* shared, protected by lock */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool quit, woken;
	struct retain_stats stats;
	uint64_t clock_wait_ns; /* time until the clock is accepted; 0: it is */
	int err;
};

/*
 * Waits for ns, or until the thread must quit. With until_woken, retention_wake() also
 * ends the wait.
 */
static void rest(struct retention *k, uint64_t ns, bool until_woken)
{
	const uint64_t end_ns = time_mono_ns() + ns;
	const struct timespec end = { .tv_sec = (time_t)(end_ns / NSEC_PER_SEC),
				      .tv_nsec = (long)(end_ns % NSEC_PER_SEC) };

	while (!k->quit && !(until_woken && k->woken) && time_mono_ns() < end_ns)
		pthread_cond_timedwait(&k->changed, &k->lock, &end);
	if (until_woken)
		k->woken = false;
}

/* Logs a new problem, or its end, once, because it may last for weeks. */
static void note(struct retention *k, int err, const struct retain_stats *now)
{
	const char *path = db_path(k->db);

	if (now->too_small && !k->stats.too_small)
		log_warn("retain: %s: labelled epochs and the open epoch are larger "
			 "than "
			 "size:%llu: samples are still stored; raise the limit or "
			 "remove labels",
			 path, (unsigned long long)k->policy.bytes);
	if (err < 0 && err != k->err)
		log_warn("retain: %s: %s: trying again each minute", path,
			 err == -EBUSY ? "another process reads or writes for too long"
				       : err_str(err));
	if (err >= 0 && k->err)
		log_info("retain: %s: it works again", path);
	k->err = err < 0 ? err : 0;
	k->stats = *now;
}

/* Logs once that the clock is not accepted, and once that it is accepted again. */
static void note_clock(struct retention *k, bool was_ahead)
{
	const struct retain_clock *c = &k->clock;
	char text[TIME_TEXT_SIZE];

	if (c->ahead && !was_ahead)
		log_warn("retain: %s: the clock is %.1f hours ahead: it has jumped "
			 "since the newest flush. For the next %.1f hours nothing is "
			 "rolled up or removed because of its age; set the clock if it "
			 "is wrong",
			 db_path(k->db),
			 (double)(c->offset_ns + c->boot_ns - c->believed_ns) /
				 NSEC_PER_HOUR,
			 (double)c->wait_ns / NSEC_PER_HOUR);
	else if (!c->ahead && was_ahead)
		log_info("retain: %s: the clock is accepted again: it is %s",
			 db_path(k->db), time_format(c->believed_ns, text));
}

/* Returns the present time for computing ages of epochs (retain_clock.h). */
static uint64_t believed_ns(struct retention *k)
{
	const bool was_ahead = k->clock.ahead;
	const uint64_t now_ns = retain_clock_now(&k->clock, wallclock_now(&k->wall),
						 clock_boot_ns(k->wall.clock));

	note_clock(k, was_ahead);
	return now_ns;
}

static void *work(void *arg)
{
	struct retention *k = arg;
	struct retain_stats now;
	uint64_t begun_ns, took_ns;
	int more;

	pthread_mutex_lock(&k->lock);
	while (!k->quit) {
		pthread_mutex_unlock(&k->lock);
		begun_ns = time_mono_ns();
		more = retain_step(k->retain, believed_ns(k));
		took_ns = time_mono_ns() - begun_ns;
		now = retain_stats(k->retain);
		pthread_mutex_lock(&k->lock);
		note(k, more, &now);
		k->clock_wait_ns = k->clock.ahead ? k->clock.wait_ns : 0;
		if (more == 1)
			rest(k, took_ns > MIN_REST_NS ? took_ns : MIN_REST_NS, false);
		else
			rest(k, more ? RETRY_NS : IDLE_NS, !more);
	}
	pthread_mutex_unlock(&k->lock);
	return NULL;
}

static int start_thread(struct retention *k)
{
	pthread_condattr_t attr;
	int err;

	pthread_mutex_init(&k->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&k->changed, &attr);
	pthread_condattr_destroy(&attr);
	err = -pthread_create(&k->thread, NULL, work, k);
	k->started = !err;
	if (err)
		log_err("retain: a thread cannot be started: %s", err_str(err));
	return err;
}

int retention_start(const char *db_path, const struct retain_policy *policy,
		    const struct clock *clock, struct retention **out)
{
	struct retention *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	k->policy = *policy;
	err = db_open(db_path, DB_WRITE, &k->db);
	if (!err)
		err = retain_new(k->db, policy, NULL, &k->retain);
	if (!err)
		err = retain_clock_read(&k->clock, k->db, clock_boot_ns(clock));
	if (!err)
		err = wallclock_init(&k->wall, clock, k->db);
	if (!err)
		err = start_thread(k);
	if (err)
		retention_stop(k);
	else
		*out = k;
	return err;
}

void retention_stop(struct retention *k)
{
	if (!k)
		return;
	if (k->started) {
		pthread_mutex_lock(&k->lock);
		k->quit = true;
		pthread_cond_signal(&k->changed);
		pthread_mutex_unlock(&k->lock);
		pthread_join(k->thread, NULL);
	}
	retain_free(k->retain);
	db_close(k->db);
	free(k);
}

void retention_wake(struct retention *k)
{
	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	k->woken = true;
	pthread_cond_signal(&k->changed);
	pthread_mutex_unlock(&k->lock);
}

void retention_status(struct retention *k, struct buf *out)
{
	struct retain_stats s;
	uint64_t wait_ns;
	int err;

	pthread_mutex_lock(&k->lock);
	s = k->stats;
	wait_ns = k->clock_wait_ns;
	err = k->err;
	pthread_mutex_unlock(&k->lock);
	buf_printf(out, "retain_bytes_limit %llu\n",
		   (unsigned long long)k->policy.bytes);
	buf_printf(out, "retain_hours_rolled_up %llu\n",
		   (unsigned long long)s.nr_hours);
	buf_printf(out, "retain_days_rolled_up %llu\n", (unsigned long long)s.nr_days);
	buf_printf(out, "retain_epochs_removed %llu\n",
		   (unsigned long long)s.nr_removed);
	buf_printf(out, "retain_slice_max_s %.6f\n",
		   (double)s.longest_ns / NSEC_PER_SEC);
	if (wait_ns)
		buf_printf(out, "retain_clock_wait_s %llu\n",
			   (unsigned long long)(wait_ns / NSEC_PER_SEC));
	if (s.too_small)
		buf_puts(out, "retain_error labelled epochs take more than size\n");
	else if (err)
		buf_printf(out, "retain_error %s\n", err_str(err));
}
