/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session.c - the pieces of a collection, put together
 *
 * One cycle (cycle()): note how far the samples go, read the mapping events,
 * then take in those samples. A sample's process was forked, and its code
 * mapped, before it was taken, so what it needs has been read by then.
 */
#include "config.h"

#include "daemon/session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/perfev.h"
#include "daemon/registration.h"
#include "daemon/session_private.h"

#define FORGET_SLACK_NS    NSEC_PER_SEC
#define IMAGES_SWEEP_ABOVE 4096

/*
 * Where a file is new, or a process that makes code, there are more of them, and such
 * that do not stay: for so long mapping events are read so often.
 */
#define ALERT_NS (2 * NSEC_PER_SEC)
#define ALERT_MS 10

#define QUIET_SWEEPS 6 /* as many times longer is a sweep put off */

int session_fd(const struct session *s)
{
	return s->epoll_fd;
}

/* The kernel's throttle must never be what decides. */
double session_rate_limit(double hz)
{
	double max = perfev_sysctl("perf_event_max_sample_rate", 100000) * 0.8;

	return hz <= max ? hz : max;
}

void session_take_rate(struct session *s, double hz)
{
	s->hz = session_rate_limit(hz);
	if (s->hz < hz)
		log_warn("session: %.0f samples/s are too near "
			 "kernel.perf_event_max_sample_rate: sampling at %.0f; raise "
			 "that sysctl for more",
			 hz, s->hz);
	for (int i = 0; i < s->nr_events; i++)
		s->periods[i] = event_period(&s->events[i], s->hz);
}

int session_begin_epoch(struct session *s, uint32_t uncertainty_ms, const char *label)
{
	uint64_t now = time_real_ns();

	s->epoch_end_real_ns = UINT64_MAX;
	if (s->cfg.epoch_ns)
		s->epoch_end_real_ns = (now / s->cfg.epoch_ns + 1) * s->cfg.epoch_ns;
	return outbox_add_epoch(s->outbox, now, uncertainty_ms, label);
}

/*
 * A clock that was set back by hours or years would not come to the epoch's end for as
 * long. By less than an epoch is waited for: small steps make no small epochs.
 */
static bool is_epoch_over(const struct session *s)
{
	const uint64_t now = time_real_ns(), end = s->epoch_end_real_ns;

	return end != UINT64_MAX && (now >= end || now + 2 * s->cfg.epoch_ns < end);
}

static void ask_exec_id(void *ctx, uint32_t tgid)
{
	struct session *s = ctx;
	uint64_t when;
	uint32_t id;

	if (!s->ops->exec_id(s->collector, tgid, &id, &when))
		procmap_set_exec_id(s->procmap, tgid, id, when);
}

void session_ask_exec_ids(struct session *s)
{
	if (s->ops->exec_id)
		procmap_for_each(s->procmap, ask_exec_id, s);
}

/* What processes say of themselves comes before the scan: it fills what was lost. */
void session_read_mappings(struct session *s)
{
	bool gap;

	s->mapped_ns = time_mono_ns();
	gap = sideband_read(s->sideband);
	if (sideband_had_news(s->sideband))
		s->alert_until_ns = s->mapped_ns + ALERT_NS;
	if (s->announce)
		announce_run(s->announce, gap);
	if (!gap)
		return;
	sideband_mend(s->sideband);
	s->gap = true;
	session_ask_exec_ids(s);
}

/*
 * When mapping records were lost, the samples from before that go into a batch
 * of their own, and those from then on too: only the latter have a gap.
 */
static void cycle(struct session *s)
{
	bool gap;

	s->ops->snapshot(s->collector);
	if (s->stacks.sampler)
		stacksampler_snapshot(s->stacks.sampler);
	if (s->windows.sampler)
		windowsampler_snapshot(s->windows.sampler);
	session_read_mappings(s);
	gap = s->gap;
	s->gap = false;
	if (gap)
		s->ops->sweep(s->collector);
	s->ops->drain(s->collector);
	if (s->stacks.sampler)
		stacksampler_drain(s->stacks.sampler);
	if (s->windows.sampler)
		windowsampler_drain(s->windows.sampler, s->windows.tally);
	if (gap)
		s->ops->sweep(s->collector);
}

/* Images that nothing refers to any more are dropped once there are many. */
static void sweep_images(struct session *s)
{
	if (images_nr(s->images) < IMAGES_SWEEP_ABOVE)
		return;
	images_clear_marks(s->images);
	procmap_mark_images(s->procmap);
	kernel_mark_images(s->kernel);
	jit_mark_images(s->attribution.jit);
	tally_mark_images(s->attribution.tally);
	if (s->attribution.stacks)
		stacktally_mark_images(s->attribution.stacks);
	if (s->stacks.unwinding)
		unwinding_forget_images(s->stacks.unwinding);
	if (s->windows.sampler) {
		windowtally_mark_images(s->windows.tally);
		windowsampler_mark_images(s->windows.sampler);
	}
	if (s->anchors)
		anchortally_mark_images(anchors_tally(s->anchors));
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

static int set_cpus(struct session *s, const struct cpus *cpus)
{
	int err = s->ops->set_cpus(s->collector, cpus);

	if (!err && s->stacks.sampler)
		err = stacksampler_set_cpus(s->stacks.sampler, cpus);
	if (!err && s->windows.sampler)
		err = windowsampler_set_cpus(s->windows.sampler, cpus);
	return err ? err : sideband_set_cpus(s->sideband, cpus);
}

/* A CPU that went and came back has to be left before it is taken up again. */
static void follow_cpus(struct session *s)
{
	struct cpus now, stayed;
	int err;

	if (cpus_online(&now))
		return;
	stayed = now;
	sideband_leave_out_stopped(s->sideband, &stayed);
	if (!memcmp(&stayed, &s->cpus, sizeof(stayed)))
		return;
	log_info("session: %d CPUs are online now, before %d; %d of them went and came "
		 "back",
		 now.nr, s->cpus.nr, now.nr - stayed.nr);
	cycle(s); /* what a CPU left behind when it went */
	err = set_cpus(s, &stayed);
	if (!err)
		err = set_cpus(s, &now);
	if (err)
		log_warn("session: not all CPUs are sampled: %s", err_str(err));
	s->cpus = now;
}

static bool is_quiet(const struct session *s)
{
	return s->ops->is_quiet && s->ops->is_quiet(s->collector);
}

/* Nobody asks for what ended before. */
static uint64_t horizon(const struct session *s)
{
	uint64_t oldest_ns = s->swept_ns;

	if (s->stacks.unwinding && unwinding_oldest_ns(s->stacks.unwinding) < oldest_ns)
		oldest_ns = unwinding_oldest_ns(s->stacks.unwinding);
	return oldest_ns - FORGET_SLACK_NS;
}

/*
 * Takes in all samples and empties the tables: none is older than now. What counts()
 * says next goes with it, so nothing else is taken in after it.
 */
void session_sweep(struct session *s)
{
	uint64_t now = time_mono_ns();

	follow_cpus(s);
	cycle(s);
	s->ops->sweep(s->collector);
	procmap_forget(s->procmap, horizon(s), is_alive);
	jit_next_round(s->attribution.jit);
	s->swept_ns = now;
	s->next_sweep_ns = now + s->cfg.sweep_ns * (is_quiet(s) ? QUIET_SWEEPS : 1);
	if (s->capture)
		capture_note(s->capture, s->attribution.tally, true);
	images_next_round(s->images);
	sweep_images(s);
}

int session_register(struct session *s, const struct registration *r, struct buf *text)
{
	/*
	 * A batch that it falls into would be ambiguous. What was sampled before has
	 * been attributed by then, so it may be as if it had been for a while.
	 */
	session_sweep(s);
	return registration_take(r, s->swept_ns - FORGET_SLACK_NS, s->procmap,
				 s->images, text);
}

/* Profiles of two mean periods are two streams, and share no table. */
int session_change_rate(struct session *s, double hz)
{
	int err, failed;

	s->ops->stop(s->collector);
	err = session_post(s);
	if (!err) {
		session_take_rate(s, hz);
		log_info("session: %.0f samples/s per CPU from now on", s->hz);
	}
	failed = s->ops->restart(s->collector);
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

	if (hz != 0 && !(hz >= 1 && hz <= 100000))
		return -EINVAL;
	if (hz != 0)
		err = session_change_rate(s, hz);
	if (!err)
		s->cfg.hz = hz;
	return err;
}

static int until(uint64_t when_ns, uint64_t now_ns)
{
	uint64_t ms = when_ns > now_ns ? (when_ns - now_ns) / NSEC_PER_MSEC + 1 : 0;

	return ms < 60000 ? (int)ms : 60000;
}

static int earliest(const struct session *s, uint64_t now)
{
	int ms = until(s->next_sweep_ns, now), other = until(s->next_random_ns, now);

	ms = other < ms ? other : ms;
	other = until(s->next_flush_ns, now);
	ms = other < ms ? other : ms;
	if (s->epoch_end_real_ns != UINT64_MAX) {
		other = until(s->epoch_end_real_ns, time_real_ns());
		ms = other < ms ? other : ms;
	}
	if (s->windows.sampler) {
		other = windowsampler_wait_ms(s->windows.sampler);
		ms = other < ms ? other : ms;
	}
	if (s->anchors) {
		other = anchors_wait_ms(s->anchors);
		ms = other < ms ? other : ms;
	}
	if (s->announce && !announce_wakes(s->announce) && ms > ANNOUNCE_MS)
		ms = ANNOUNCE_MS;
	if (now < s->alert_until_ns && ms > ALERT_MS)
		ms = ALERT_MS;
	return ms;
}

/* On a schedule that does not drift: what restarts cost depends on their rate. */
static void randomise(struct session *s, uint64_t now)
{
	uint64_t interval = s->ops->randomise(s->collector);

	if (s->stacks.sampler)
		stacksampler_randomise(s->stacks.sampler);
	if (s->windows.sampler)
		windowsampler_randomise(s->windows.sampler);
	s->next_random_ns += interval;
	if (s->next_random_ns <= now) /* the machine slept, or is overloaded */
		s->next_random_ns = now + interval;
}

/*
 * Whether anything should be read before the next sweep. No epoll_wait() for it: the
 * owner's poll() has used perf's wakeup up.
 */
static bool is_due(struct session *s)
{
	if (!s->ops->poll || s->ops->poll(s->collector))
		return true;
	if (s->stacks.sampler && stacksampler_is_due(s->stacks.sampler))
		return true;
	if (s->windows.sampler && !windowsampler_wait_ms(s->windows.sampler))
		return true;
	return sideband_is_due(s->sideband);
}

/* Samples come again: nothing is put off any more. */
static void end_quiet(struct session *s, uint64_t now)
{
	uint64_t sweep_ns = s->swept_ns + s->cfg.sweep_ns;

	s->next_random_ns = now;
	if (s->next_sweep_ns > sweep_ns)
		s->next_sweep_ns = sweep_ns;
}

/* Of ms and what may be sooner; -1: it is not. */
static int sooner(int maybe_ms, int ms)
{
	return maybe_ms >= 0 && maybe_ms < ms ? maybe_ms : ms;
}

int session_run(struct session *s)
{
	uint64_t now = time_mono_ns();
	bool due = is_due(s);
	int capture_ms = -1, unwinding_ms = -1, ms;

	if (s->quiet && !is_quiet(s))
		end_quiet(s, now);
	if (now >= s->next_random_ns)
		randomise(s, now);
	s->quiet = is_quiet(s);
	if (due)
		cycle(s);
	else if (sideband_has_news(
			 s->sideband) || /* of whom may be gone at the sweep */
		 (s->announce && announce_wakes(s->announce)))
		session_read_mappings(s);
	if (now >= s->next_sweep_ns)
		session_sweep(s);
	if (is_epoch_over(s))
		session_new_epoch(s, NULL);
	if (now >= s->next_flush_ns ||
	    tally_memory(s->attribution.tally) > s->cfg.max_memory / 2 ||
	    (s->windows.sampler && windowtally_is_half_full(s->windows.tally)))
		session_flush(s);
	else if (s->retry_ns && now >= s->retry_ns)
		session_store(s);
	session_budget_run(s);
	if (s->windows.sampler)
		windowsampler_run(s->windows.sampler);
	session_run_anchors(s);
	if (s->capture)
		capture_ms = capture_run(s->capture);
	if (s->stacks.unwinding)
		unwinding_ms = unwinding_run(s->stacks.unwinding);
	ms = sooner(capture_ms, earliest(s, time_mono_ns()));
	return sooner(unwinding_ms, ms);
}

void session_free(struct session *s)
{
	session_close_windows(s); /* may be by the collector's device */
	if (s->ops)
		s->ops->close(s->collector);
	stacksampler_close(s->stacks.sampler);
	unwinding_close(s->stacks.unwinding);
	anchors_close(s->anchors);
	keeper_stop(s->keeper);
	announce_close(s->announce);
	capture_close(s->capture);
	kerneltext_close(s->kerneltext);
	sideband_close(s->sideband);
	cgroups_close(s->cgroups);
	kernel_close(s->kernel);
	outbox_free(s->outbox);
	tally_free(s->attribution.tally);
	stacktally_free(s->attribution.stacks);
	stacktally_free(s->stacks.next);
	jit_free(s->attribution.jit);
	codecache_free(s->codecache);
	procmap_free(s->procmap);
	images_free(s->images);
	store_free(s->store);
	db_close(s->db);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	free(s);
}

int session_close(struct session *s)
{
	uint64_t end_ns;
	int err, end;

	if (!s)
		return 0;
	s->ops->stop(s->collector);
	session_stop_stacks(s);
	if (s->windows.sampler)
		windowsampler_stop(s->windows.sampler);
	keeper_stop(s->keeper);
	s->keeper = NULL;
	err = session_post(s);
	if (!err)
		err = session_store(s);
	if (err)
		log_err("session: %s: %s: %llu samples are lost", s->cfg.db_path,
			err_str(err), (unsigned long long)session_nr_pending(s));
	end_ns = time_real_ns();
	if (s->capture)
		capture_finish(s->capture, s->cfg.capture_end_ns);
	end = store_end(s->store, end_ns);
	s->store = NULL;
	session_free(s);
	return err ? err : end;
}
