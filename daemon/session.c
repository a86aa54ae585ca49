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

#define RETRY_NS           (10 * NSEC_PER_SEC) /* after a flush that could not be stored */
#define FORGET_SLACK_NS    NSEC_PER_SEC
#define IMAGES_SWEEP_ABOVE 4096
#define QUIET_SWEEPS       6 /* as many times longer is a sweep put off */

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
	session_read_mappings(s);
	gap = s->gap;
	s->gap = false;
	if (gap)
		s->ops->sweep(s->collector);
	s->ops->drain(s->collector);
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
	outbox_mark_images(s->outbox);
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

/*
 * Takes in all samples and empties the tables: none is older than now. What counts()
 * says next goes with it, so nothing else is taken in after it.
 */
static void sweep(struct session *s)
{
	uint64_t now = time_mono_ns();

	follow_cpus(s);
	cycle(s);
	s->ops->sweep(s->collector);
	procmap_forget(s->procmap, s->swept_ns - FORGET_SLACK_NS, is_alive);
	jit_next_round(s->attribution.jit);
	s->swept_ns = now;
	s->next_sweep_ns = now + s->cfg.sweep_ns * (is_quiet(s) ? QUIET_SWEEPS : 1);
	images_next_round(s->images);
	sweep_images(s);
}

/* What the event counted and no flush has told of, in its own unit. */
static uint64_t count_since(const struct session *s, int e,
			    const struct collector_counts *now)
{
	return s->remainder[e] + now->event_count - s->flushed[e].event_count;
}

int64_t session_not_delivered(const struct session *s, int e,
			      const struct collector_counts *now)
{
	return (int64_t)(count_since(s, e, now) / s->periods[e]) -
	       (int64_t)(now->received - s->flushed[e].received);
}

/* Names what the collector lost since this was asked last. */
static void note_losses(struct session *s, int e, const struct collector_counts *now)
{
	struct tally *t = s->attribution.tally;

	tally_lose(t, e, SAMPLE_RING_LOST, now->ring_lost - s->ring_lost[e], NULL);
	tally_lose(t, e, SAMPLE_TABLE_LOST, now->table_lost - s->table_lost[e], NULL);
	s->ring_lost[e] = now->ring_lost;
	s->table_lost[e] = now->table_lost;
}

/* What one event did since the last flush, in the database's terms. */
static struct flush_stream describe_stream(struct session *s, int e,
					   const struct collector_counts *now)
{
	const struct collector_counts *before = &s->flushed[e];

	return (struct flush_stream){
		.desc = { .event = s->events[e].name,
			  .source = s->ops->name,
			  .cpu_type = "",
			  .unit = event_unit_str(s->events[e].unit),
			  .mean_period = s->periods[e],
			  .landing = s->events[e].landing },
		.received = now->received - before->received,
		.not_delivered = session_not_delivered(s, e, now),
		.enabled_ns = now->enabled_ns - before->enabled_ns,
		.running_ns = now->running_ns - before->running_ns,
		.throttled = now->throttled - before->throttled,
	};
}

uint64_t session_nr_idle(const struct session *s, const struct tally *t, int e)
{
	const struct known_image *idle = kernel_idle_image(s->kernel);
	struct hnode *n, *next;
	uint64_t sum = 0;

	hmap_for_each (&t->profiles, n, next) {
		const struct tally_profile *p =
			container_of(n, struct tally_profile, node);

		if (p->image == idle && p->event == e && !p->context[0])
			sum += profile_total(p->profile);
	}
	return sum;
}

/* A flush is in the outbox: its counts are what the next ones start from. */
static void take_over(struct session *s, const struct tally *t,
		      const struct flush_stream *f, const struct collector_counts *now)
{
	for (int e = 0; e < s->nr_events; e++) {
		uint64_t lost = 0;

		for (int l = 0; l < NR_LOSSES; l++) {
			s->lost[e][l] += t->loss[e][l];
			lost += t->loss[e][l];
		}
		s->stored[e] += f[e].received - lost;
		s->idle[e] += session_nr_idle(s, t, e);
		s->not_delivered[e] += f[e].not_delivered;
		s->remainder[e] = count_since(s, e, &now[e]) % s->periods[e];
		s->flushed[e] = now[e];
		if (f[e].throttled)
			log_warn("session: the kernel throttled %s %llu times: see "
				 "kernel.perf_event_max_sample_rate",
				 f[e].desc.event, (unsigned long long)f[e].throttled);
	}
	s->unreadable += t->unreadable;
}

static void note_flush(struct flush_times *t)
{
	t->last_ns = time_mono_ns() - t->begun_ns;
	t->begun_ns = 0;
	t->sum_ns += t->last_ns;
	t->nr++;
	if (t->last_ns > t->max_ns)
		t->max_ns = t->last_ns;
}

/* Stores what waits. Says so once when that begins to fail, and when it works again. */
static int store(struct session *s)
{
	int err;

	if (!s->flush_times.begun_ns)
		s->flush_times.begun_ns = time_mono_ns();
	err = outbox_store(s->outbox, s->store);
	note_flush(&s->flush_times);
	if (err && err != s->store_err)
		log_err("session: %s: %s: samples are kept in memory (at most %llu "
			"MiB) "
			"until they can be stored",
			s->cfg.db_path, err_str(err),
			(unsigned long long)(s->cfg.max_memory >> 20));
	else if (!err && s->store_err)
		log_info("session: %s: stored what had been kept", s->cfg.db_path);
	s->store_err = err;
	s->retry_ns = err ? time_mono_ns() + RETRY_NS : 0;
	if (!err)
		s->last_flush_real_ns = time_real_ns();
	return err;
}

/* Memory's bound: what was attributed since the last flush becomes a named loss. */
static void drop_if_full(struct session *s)
{
	struct tally *t = s->attribution.tally;

	if (outbox_memory(s->outbox) + tally_memory(t) <= s->cfg.max_memory)
		return;
	log_err("session: %llu MiB of samples could not be stored: what is new is lost",
		(unsigned long long)(s->cfg.max_memory >> 20));
	tally_drop(t, SAMPLE_NO_SPACE);
}

/*
 * Sweeps, and moves what was attributed into the outbox. While nothing can be
 * stored and memory is full, losses are all there is: they wait, for a list of
 * them would grow.
 */
static int post(struct session *s)
{
	struct collector_counts now[SESSION_MAX_EVENTS];
	struct flush_stream streams[SESSION_MAX_EVENTS];
	struct outbox_flush f = { .streams = streams,
				  .nr_streams = s->nr_events,
				  .kernel = s->kernel,
				  .jit = s->attribution.jit };
	struct tally *next = tally_new();
	uint64_t mono;
	int err;

	if (!next)
		return -ENOMEM;
	s->flush_times.begun_ns = time_mono_ns();
	sweep(s);
	attribute_settle(&s->attribution);
	if (s->store_err)
		store(s); /* there may be room again: then nothing is dropped */
	for (int e = 0; e < s->nr_events; e++) {
		s->ops->counts(s->collector, e, &now[e]);
		note_losses(s, e, &now[e]);
		streams[e] = describe_stream(s, e, &now[e]);
	}
	drop_if_full(s);
	f.tally = s->attribution.tally;
	if (s->store_err && !f.tally->profiles.nr) {
		tally_free(next);
		return 0;
	}
	mono = time_mono_ns();
	f.to_ns = time_real_ns();
	f.duration_ns = mono - s->flush_from_ns;
	f.from_ns = f.to_ns - f.duration_ns;
	err = outbox_add_flush(s->outbox, &f);
	if (err) {
		tally_free(next);
		return err;
	}
	take_over(s, f.tally, streams, now);
	s->attribution.tally = next;
	s->flush_from_ns = mono;
	return 0;
}

int session_flush(struct session *s)
{
	int err = post(s);

	s->next_flush_ns = time_mono_ns() + s->cfg.flush_ns;
	return err ? err : store(s);
}

int session_new_epoch(struct session *s, const char *label)
{
	uint64_t before = time_mono_ns();
	int err = post(s);

	if (!err)
		err = session_begin_epoch(s,
					  (time_mono_ns() - before) / NSEC_PER_MSEC + 1,
					  label);
	return err ? err : store(s);
}

int session_register(struct session *s, const struct registration *r, struct buf *text)
{
	/*
	 * A batch that it falls into would be ambiguous. What was sampled before has
	 * been attributed by then, so it may be as if it had been for a while.
	 */
	sweep(s);
	return registration_take(r, s->swept_ns - FORGET_SLACK_NS, s->procmap,
				 s->images, text);
}

/* Profiles of two mean periods are two streams, and share no table. */
int session_change_rate(struct session *s, double hz)
{
	int err, failed;

	s->ops->stop(s->collector);
	err = post(s);
	if (!err) {
		session_take_rate(s, hz);
		log_info("session: %.0f samples/s per CPU from now on", s->hz);
	}
	failed = s->ops->restart(s->collector);
	if (failed)
		log_err("session: not all CPUs are sampled any more: %s",
			err_str(failed));
	if (!err)
		store(s);
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
	return s->announce && ms > ANNOUNCE_MS ? ANNOUNCE_MS : ms;
}

/* On a schedule that does not drift: what restarts cost depends on their rate. */
static void randomise(struct session *s, uint64_t now)
{
	uint64_t interval = s->ops->randomise(s->collector);

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

int session_run(struct session *s)
{
	uint64_t now = time_mono_ns();
	bool due = is_due(s);

	if (s->quiet && !is_quiet(s))
		end_quiet(s, now);
	if (now >= s->next_random_ns)
		randomise(s, now);
	s->quiet = is_quiet(s);
	if (due)
		cycle(s);
	else if (sideband_has_news(s->sideband)) /* of whom may be gone at the sweep */
		session_read_mappings(s);
	if (now >= s->next_sweep_ns)
		sweep(s);
	if (time_real_ns() >= s->epoch_end_real_ns)
		session_new_epoch(s, NULL);
	if (now >= s->next_flush_ns ||
	    tally_memory(s->attribution.tally) > s->cfg.max_memory / 2)
		session_flush(s);
	else if (s->retry_ns && now >= s->retry_ns)
		store(s);
	session_budget_run(s);
	return earliest(s, time_mono_ns());
}

uint64_t session_nr_pending(const struct session *s)
{
	uint64_t n =
		tally_kept(s->attribution.tally) + jit_nr_waiting(s->attribution.jit);
	struct collector_counts now;

	for (int e = 0; e < s->nr_events; e++) {
		s->ops->counts(s->collector, e, &now);
		n += now.pending + outbox_nr_samples(s->outbox, e);
	}
	return n;
}

void session_free(struct session *s)
{
	if (s->ops)
		s->ops->close(s->collector);
	announce_close(s->announce);
	sideband_close(s->sideband);
	kernel_close(s->kernel);
	outbox_free(s->outbox);
	tally_free(s->attribution.tally);
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
	int err, end;

	if (!s)
		return 0;
	s->ops->stop(s->collector);
	err = post(s);
	if (!err)
		err = store(s);
	if (err)
		log_err("session: %s: %s: %llu samples are lost", s->cfg.db_path,
			err_str(err), (unsigned long long)session_nr_pending(s));
	end = store_end(s->store, time_real_ns());
	s->store = NULL;
	session_free(s);
	return err ? err : end;
}
