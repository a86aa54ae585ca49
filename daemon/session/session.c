/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session.c - runs and closes a session
 *
 * A cycle (cycle()) first notes the newest sample of each CPU. Then it reads the
 * mapping events, and attributes the samples up to those noted. A process is forked and
 * its code is mapped before it can be sampled, so these events have been read by then.
 * Files are read before and after the samples are attributed, but not in between
 * (attribute_resolve()).
 */
#include "config.h"

#include "daemon/session/session.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/mappings/registration.h"
#include "daemon/os/perfev.h"
#include "daemon/session/session_private.h"

#define GIVE_BACK_NS       (10 * NSEC_PER_SEC) /* between returns of freed memory */
#define FORGET_SLACK_NS    NSEC_PER_SEC
#define IMAGES_SWEEP_ABOVE 4096

#define EPOCH_RETRY_NS NSEC_PER_SEC /* after there was no memory for an epoch */
#define LABELLED_NS    (3600 * NSEC_PER_SEC)

#define LAST_NS (10 * NSEC_PER_SEC) /* wait for a lock at the session's end */

/* a sweep comes so much sooner if the daemon is awake anyway */
#define SWEEP_SLACK_NS (250 * NSEC_PER_MSEC)

/* on a quiet machine the time between sweeps is this many times longer */
#define QUIET_SWEEPS 6

int session_fd(const struct session *s)
{
	return s->epoll_fd;
}

/* The length of an epoch. With a label it is at least an hour, aligned to UTC. */
static uint64_t epoch_length(const struct session *s, const char *label)
{
	const uint64_t length = s->cfg.epoch_ns;

	return label && *label && length && length < LABELLED_NS ? LABELLED_NS : length;
}

int session_begin_epoch(struct session *s, uint32_t uncertainty_ms, const char *label)
{
	const uint64_t now = wallclock_now(&s->wall), length = epoch_length(s, label);
	int err = outbox_add_epoch(s->outbox, now, uncertainty_ms, label);

	if (err)
		return err;
	s->times.epoch_ns = length;
	s->times.epoch_end_real_ns = length ? (now / length + 1) * length : UINT64_MAX;
	return 0;
}

/*
 * If the clock was set back so far that the epoch would last for more than two further
 * lengths, the epoch ends at once. After a smaller step it continues, so that small
 * steps do not make small epochs.
 */
static bool is_epoch_over(struct session *s)
{
	const uint64_t now = wallclock_now(&s->wall), end = s->times.epoch_end_real_ns;

	return end != UINT64_MAX && (now >= end || now + 2 * s->times.epoch_ns < end);
}

/* If there is no memory for the next epoch, this one lasts a little longer. */
static void begin_next_epoch(struct session *s)
{
	session_new_epoch_due(s, NULL);
	if (is_epoch_over(s))
		s->times.epoch_end_real_ns = wallclock_now(&s->wall) + EPOCH_RETRY_NS;
}

static void ask_exec_id(void *ctx, uint32_t tgid)
{
	struct session *s = ctx;
	uint64_t when;
	uint32_t id;

	if (!s->events.ops->exec_id(s->events.collector, tgid, &id, &when))
		procmap_set_exec_id(s->procmap, tgid, id, when);
}

void session_ask_exec_ids(struct session *s)
{
	procmap_for_each(s->procmap, ask_exec_id, s);
}

/*
 * Announcements of processes are read before the scan that makes up for lost records.
 */
void session_read_mappings(struct session *s)
{
	const uint64_t begun_ns = session_thread_ns();
	bool gap;

	s->times.mapped_ns = time_mono_ns();
	gap = sideband_read(s->sideband);
	session_count_mappings(s, begun_ns);
	alert_note_reading(&s->alert, session_now(s), s->newprogram);
	if (sideband_had_news(s->sideband))
		alert_note_news(&s->alert, session_now(s), s->newprogram);
	if (s->announce)
		announce_run(s->announce, gap);
	if (!gap)
		return;
	sideband_mend(s->sideband);
	s->times.gap = true;
	session_ask_exec_ids(s);
}

static void sweep_tables(struct session *s)
{
	struct sampler *p;

	for_each_sampler (s, p)
		p->from->sweep(p->source);
}

/*
 * If mapping records were lost, the tables are swept before and after the loss, so that
 * only the later batches have a gap.
 */
static void cycle(struct session *s)
{
	struct sampler *p;
	bool gap;

	for_each_sampler (s, p)
		p->from->snapshot(p->source);
	session_read_mappings(s);
	for_each_sampler (s, p)
		p->from->preview(p->source);
	attribute_resolve(&s->attribution);
	gap = s->times.gap;
	s->times.gap = false;
	if (gap)
		sweep_tables(s);
	for_each_sampler (s, p)
		p->from->drain(p->source);
	if (gap)
		sweep_tables(s);
	attribute_resolve(&s->attribution);
}

/* Images that nothing refers to any more are dropped once there are many. */
static void sweep_images(struct session *s)
{
	const struct sampler *p;

	if (images_nr(s->images) < IMAGES_SWEEP_ABOVE)
		return;
	images_clear_marks(s->images);
	procmap_mark_images(s->procmap);
	kernel_mark_images(s->kernel);
	jit_mark_images(s->attribution.jit);
	for_each_sampler (s, p)
		p->ops->mark_images(p);
	outbox_mark_images(s->outbox);
	if (s->capture)
		capture_mark_images(s->capture);
	codecache_clear(s->codecache);
	images_sweep(s->images);
}

static bool is_alive(uint32_t tgid)
{
	return !kill((pid_t)tgid, 0) || errno == EPERM;
}

int session_set_cpus(struct session *s, const struct cpus *cpus)
{
	int err = sideband_set_cpus(s->sideband, cpus);
	struct sampler *p;

	for_each_sampler (s, p) {
		const int failed = p->from->set_cpus(p->source, cpus);

		err = err ? err : failed;
	}
	if (s->late && s->late->ops->late_cpus) {
		const int failed = s->late->ops->late_cpus(s->late, cpus);

		err = err ? err : failed;
	}
	s->cpus_missing = err;
	return err;
}

static void log_missing_cpus(int err)
{
	struct buf why = { 0 };

	perfev_explain_ring(err, &why);
	log_warn("session: not all CPUs are sampled: %s", buf_str(&why));
	buf_fini(&why);
}

/*
 * Opens and closes events as CPUs come and go. A CPU that went offline and came back
 * must be closed first. If a CPU cannot be sampled yet, the next sweep tries again,
 * because a CPU is listed as online a moment before events can be opened on it.
 */
static void follow_cpus(struct session *s)
{
	const int missing = s->cpus_missing;
	struct cpus now, stayed;
	bool same;
	int err;

	if (cpus_online(&now))
		return;
	stayed = now;
	sideband_leave_out_stopped(s->sideband, &stayed);
	same = !memcmp(&stayed, &s->cpus, sizeof(stayed));
	if (same && !missing)
		return;
	if (!same)
		log_info("session: %d CPUs are online now, %d were before; %d of them "
			 "went and came back",
			 now.nr, s->cpus.nr, now.nr - stayed.nr);
	cycle(s); /* read the last samples of CPUs that went offline */
	err = session_set_cpus(s, &stayed);
	if (!err)
		err = session_set_cpus(s, &now);
	if (err && err != missing)
		log_missing_cpus(err);
	else if (!err && missing)
		log_info("session: all CPUs are sampled again");
	s->cpus = now;
}

static bool is_quiet(const struct session *s)
{
	return s->events.ops->is_quiet(s->events.collector);
}

/* No sample from before this time will be attributed any more. */
static uint64_t horizon(const struct session *s)
{
	uint64_t oldest_ns = s->times.swept_ns;
	const struct sampler *p;

	for_each_sampler (s, p) {
		if (p->ops->oldest_ns && p->ops->oldest_ns(p) < oldest_ns)
			oldest_ns = p->ops->oldest_ns(p);
	}
	return oldest_ns - FORGET_SLACK_NS;
}

/*
 * Reads incomplete processes again. This is done just before a sweep, so that their gap
 * is only in this sweep's batches.
 */
static void mend_processes(struct session *s)
{
	const uint64_t begun_ns = session_thread_ns();

	rescan_run(&s->rescan, s->procmap, s->images);
	session_count_mappings(s, begun_ns);
}

/*
 * Reads all samples and empties the tables. Later samples are newer than swept_ns. The
 * next counts() must match this sweep, so no more samples are read after it.
 */
void session_sweep(struct session *s)
{
	const uint64_t now = session_now(s), swept_ns = time_mono_ns();

	sideband_look_at_events(s->sideband);
	follow_cpus(s);
	cycle(s);
	mend_processes(s);
	sweep_tables(s);
	attribute_resolve(&s->attribution);
	procmap_forget(s->procmap, horizon(s), is_alive);
	threadmap_forget(&s->threadmap, horizon(s));
	jit_next_round(s->attribution.jit);
	s->times.swept_ns = swept_ns;
	s->times.last_sweep_ns = now;
	s->times.next_sweep_ns =
		now + s->cfg.sweep_ns * (is_quiet(s) ? QUIET_SWEEPS : 1);
	if (s->capture && !s->mend.active)
		capture_note(s->capture, s->attribution.tally, true);
	sweep_images(s);
	images_next_round(s->images);
	if (swept_ns > s->times.gave_back_ns + GIVE_BACK_NS) {
		s->times.gave_back_ns = swept_ns;
		session_give_back_memory(s);
	}
}

int session_register(struct session *s, const struct registration *r, struct buf *text)
{
	int err = registration_check(r, text);

	if (err)
		return err;
	/*
	 * Samples of a batch during which the code appears would be ambiguous. After a
	 * sweep all earlier samples have been attributed, so the code can be registered
	 * as if it had been there since a while ago.
	 */
	session_sweep(s);
	return registration_take(r, s->times.swept_ns - FORGET_SLACK_NS, s->procmap,
				 s->images, text);
}

/*
 * Changes the rate. Samples with different mean periods belong to different streams, so
 * the tables are emptied in between.
 */
int session_change_rate(struct session *s, double hz)
{
	int err, failed;

	s->events.ops->source.stop(s->events.collector);
	err = session_end_streams(s);
	if (!err) {
		session_take_rate(s, hz);
		log_info("session: %.0f samples/s per CPU from now on", s->events.hz);
	}
	failed = s->events.ops->restart(s->events.collector);
	if (failed)
		log_err("session: not all CPUs are sampled any more: %s",
			err_str(failed));
	if (!err)
		session_store(s);
	return err;
}

int session_set_rate(struct session *s, double hz)
{
	int err = 0;

	if (hz != 0 && !(hz >= SESSION_MIN_HZ && hz <= SESSION_MAX_HZ))
		return -EINVAL;
	if (hz != 0)
		err = session_change_rate(s, hz);
	if (!err)
		s->cfg.hz = hz;
	return err;
}

/* Limits a due time to one interval from now. */
static void hasten(uint64_t *due_ns, uint64_t now_ns, uint64_t interval_ns)
{
	if (*due_ns > now_ns + interval_ns)
		*due_ns = now_ns + interval_ns;
}

static int change_retention(struct session *s, const struct retain_policy *policy)
{
	if (!memcmp(&s->cfg.retain, policy, sizeof(*policy)))
		return 0;
	s->cfg.retain = *policy;
	s->mend.retains = true; /* restart retention when the repair ends */
	if (s->mend.active)
		return 0;
	retention_stop(s->retention);
	s->retention = NULL;
	return session_retain(s);
}

int session_reconfigure(struct session *s, const struct session_config *cfg)
{
	const uint64_t now = session_now(s);
	int err = 0, retain_err;

	s->cfg.sweep_ns = cfg->sweep_ns;
	s->cfg.flush_ns = cfg->flush_ns;
	s->cfg.check_ns = cfg->check_ns;
	s->cfg.epoch_ns = cfg->epoch_ns;
	s->cfg.max_memory = cfg->max_memory;
	s->cfg.budget = s->budget.share = cfg->budget;
	hasten(&s->times.next_sweep_ns, now, cfg->sweep_ns);
	hasten(&s->times.next_flush_ns, now, cfg->flush_ns);
	hasten(&s->cost.next_check_ns, now, cfg->check_ns);
	if (cfg->hz != s->cfg.hz)
		err = session_set_rate(s, cfg->hz);
	if (err)
		log_err("session: the rate stays as it was: %s", err_str(err));
	retain_err = change_retention(s, &cfg->retain);
	return err ? err : retain_err;
}

static int until(uint64_t when_ns, uint64_t now_ns)
{
	uint64_t ms = when_ns > now_ns ? (when_ns - now_ns) / NSEC_PER_MSEC + 1 : 0;

	return ms < 60000 ? (int)ms : 60000;
}

/* Returns the smaller of two times; maybe_ms -1 means "never". */
static int sooner(int maybe_ms, int ms)
{
	return maybe_ms >= 0 && maybe_ms < ms ? maybe_ms : ms;
}

static int earliest(struct session *s, uint64_t now)
{
	int ms = until(s->times.next_sweep_ns, now);
	struct sampler *p;

	ms = sooner(until(s->times.next_random_ns, now), ms);
	ms = sooner(until(s->times.next_flush_ns, now), ms);
	if (s->storing.retry_ns)
		ms = sooner(until(s->storing.retry_ns, now), ms);
	if (s->times.epoch_end_real_ns != UINT64_MAX)
		ms = sooner(until(s->times.epoch_end_real_ns, wallclock_now(&s->wall)),
			    ms);
	for_each_sampler (s, p) {
		if (p->ops->wait_ms)
			ms = sooner(p->ops->wait_ms(p), ms);
	}
	ms = sooner(session_late_wait_ms(s), ms);
	if (s->announce && !announce_wakes(s->announce))
		ms = sooner(ANNOUNCE_MS, ms);
	return sooner(alert_wait_ms(&s->alert, now), ms);
}

/*
 * Draws new periods. Draws are due at fixed intervals, however late this is called: to
 * correct rates, counters.c relies on the number of restarts per second.
 */
static void randomise(struct session *s, uint64_t now)
{
	struct sampler *p;
	uint64_t interval;

	for_each_sampler (s, p)
		p->from->randomise(p->source);
	interval = s->events.ops->random_ns(s->events.collector);
	s->times.next_random_ns += interval;
	if (s->times.next_random_ns <= now) /* the machine slept, or is overloaded */
		s->times.next_random_ns = now + interval;
}

/*
 * Whether there is anything to read before the next sweep. epoll_wait() cannot tell,
 * because the owner's poll() has already consumed perf's wakeup.
 */
static bool is_due(struct session *s)
{
	struct sampler *p;

	for_each_sampler (s, p) {
		if (p->from->poll(p->source))
			return true;
	}
	return s->times.gap;
}

/* Ends a quiet time: restores the usual times of sweeps and draws. */
static void end_quiet(struct session *s, uint64_t now)
{
	uint64_t sweep_ns = s->times.last_sweep_ns + s->cfg.sweep_ns;

	s->times.next_random_ns = now;
	if (s->times.next_sweep_ns > sweep_ns)
		s->times.next_sweep_ns = sweep_ns;
}

static int run_samplers(struct session *s)
{
	struct sampler *p;
	int ms = INT_MAX;

	for_each_sampler (s, p) {
		if (p->ops->run)
			ms = sooner(p->ops->run(p), ms);
	}
	return ms;
}

static bool is_sweep_due(const struct session *s, uint64_t now)
{
	const uint64_t eighth_ns = s->cfg.sweep_ns / 8;

	return now + (eighth_ns < SWEEP_SLACK_NS ? eighth_ns : SWEEP_SLACK_NS) >=
	       s->times.next_sweep_ns;
}

int session_run(struct session *s)
{
	uint64_t now = session_now(s);
	bool due = is_due(s);
	int capture_ms = -1, ms;
	const char *before;

	if (s->newprogram && newprogram_take(s->newprogram, NULL))
		alert_begin(&s->alert, now);
	if (s->times.quiet && !is_quiet(s))
		end_quiet(s, now);
	if (now >= s->times.next_random_ns)
		randomise(s, now);
	s->times.quiet = is_quiet(s);
	if (due)
		cycle(s);
	else if (sideband_has_news(
			 s->sideband) || /* its process may be gone at the sweep */
		 (s->announce && announce_wakes(s->announce)))
		session_read_mappings(s);
	else
		alert_note_reading(&s->alert, now, s->newprogram);
	if (is_sweep_due(s, now))
		session_sweep(s);
	if (is_epoch_over(s))
		begin_next_epoch(s);
	if (now >= s->times.next_flush_ns || session_is_half_full(s))
		session_flush_due(s);
	else if (s->storing.retry_ns && now >= s->storing.retry_ns)
		session_store(s);
	session_bound_memory(s);
	session_budget_run(s);
	session_late_run(s);
	ms = run_samplers(s);
	before = heartbeat_begin(s->cfg.heartbeat, "capturing");
	if (s->capture && !s->mend.active && s->storing.err != -EBUSY)
		capture_ms = capture_run(s->capture);
	heartbeat_end(s->cfg.heartbeat, before);
	ms = sooner(capture_ms, ms);
	return sooner(earliest(s, session_now(s)), ms);
}

/*
 * Closes the database. If the session could not be opened, removes a database that it
 * created.
 */
static void close_db(struct session *s)
{
	if (!s->times.begun_ns && s->db && db_is_new(s->db))
		db_close_unused(s->db);
	else if (s->cfg.one_file)
		db_close_whole(s->db);
	else
		db_close(s->db);
}

void session_free(struct session *s)
{
	session_late_end(s);
	while (s->nr_samplers) { /* windows may use the collector's device */
		struct sampler *p = s->sampler[--s->nr_samplers];

		p->from->close(p->source);
		p->ops->close(p);
	}
	retention_stop(s->retention);
	session_mend_free(s);
	announce_close(s->announce);
	capture_close(s->capture);
	kerneltext_close(s->kerneltext);
	newprogram_close(s->newprogram);
	sideband_close(s->sideband);
	cgroups_close(s->cgroups);
	threadmap_fini(&s->threadmap);
	kernel_close(s->kernel);
	outbox_free(s->outbox);
	tally_free(s->attribution.tally);
	later_free(s->attribution.later);
	jit_free(s->attribution.jit);
	codecache_free(s->codecache);
	procmap_free(s->procmap);
	images_free(s->images);
	timed_child_free(s->timed_child);
	store_free(s->store);
	close_db(s);
	free(s->threads);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	free(s);
}

int session_close(struct session *s)
{
	struct sampler *p;
	uint64_t end_ns;
	int err, end = 0;

	if (!s)
		return 0;
	for_each_sampler (s, p) {
		p->from->stop(p->source);
		if (p->ops->stopped)
			p->ops->stopped(p);
	}
	retention_stop(s->retention);
	s->retention = NULL;
	s->mend.closing = true;
	err = session_post(s);
	if (!err)
		err = session_store_patiently(s, LAST_NS);
	if (err && s->mend.active && !session_mend_last(s))
		err = 0;
	if (err)
		log_err("session: %s: %s: %llu samples are lost", s->cfg.db_path,
			err_str(err), (unsigned long long)session_nr_pending(s));
	end_ns = wallclock_now(&s->wall);
	if (s->capture && !s->mend.active)
		capture_finish(s->capture, s->cfg.capture_end_ns);
	if (s->store && !s->mend.active) {
		store_set_patience(s->store, false);
		end = store_end(s->store, end_ns);
		s->store = NULL;
	}
	if (!end && s->mend.lost_stored)
		end = -CPI_EMOVED;
	session_free(s);
	return err ? err : end;
}
