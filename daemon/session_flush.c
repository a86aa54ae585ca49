/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_flush.c - from what was attributed to the database, by way of the outbox
 *
 * What the collector counts is told of since the flush before; what cannot be stored
 * waits, and what finds no room any more is lost by name.
 */
#include "config.h"

#include <errno.h>
#ifdef HAVE_MALLOC_TRIM
#include <malloc.h>
#endif

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/session_private.h"

#define RETRY_NS (10 * NSEC_PER_SEC) /* after a flush that could not be stored */

/* What the event counted and no flush has told of, in its own unit. */
static uint64_t count_since(const struct session *s, int e,
			    const struct collector_counts *now)
{
	return s->remainder[e] + now->event_count - s->flushed[e].event_count;
}

int64_t session_not_delivered(const struct session *s, int e,
			      const struct collector_counts *now)
{
	if (s->events[e].record == EVENT_RECORDS_SPE) /* which counts nothing */
		return 0;
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
	s->crowded += t->crowded;
	s->cut_stacks += t->cut_stacks;
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

#ifdef HAVE_MALLOC_TRIM
/* glibc keeps twice as much as the largest array that was freed, the kernel's symbols'.
 */
static void give_back_memory(void)
{
	malloc_trim(0);
}
#else
static void give_back_memory(void)
{
}
#endif

/* Stores what waits. Says so once when that begins to fail, and when it works again. */
int session_store(struct session *s)
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
	if (!err) {
		s->last_flush_real_ns = time_real_ns();
		keeper_wake(s->keeper);
		give_back_memory();
	}
	return err;
}

/* Memory's bound: what was attributed since the last flush becomes a named loss. */
static void drop_if_full(struct session *s)
{
	struct tally *t = s->attribution.tally;

	if (outbox_memory(s->outbox) + tally_memory(t) <= s->cfg.max_memory)
		return;
	if (s->attribution.stacks)
		stacktally_drop(s->attribution.stacks);
	if (s->windows.sampler)
		windowtally_drop(s->windows.tally, SAMPLE_NO_SPACE);
	log_err("session: %llu MiB of samples could not be stored: what is new is lost",
		(unsigned long long)(s->cfg.max_memory >> 20));
	tally_drop(t, SAMPLE_NO_SPACE);
}

/*
 * Sweeps, and moves what was attributed into the outbox. While nothing can be
 * stored and memory is full, losses are all there is: they wait, for a list of
 * them would grow.
 */
int session_post(struct session *s)
{
	struct collector_counts now[SESSION_MAX_EVENTS];
	struct flush_stream streams[SESSION_MAX_EVENTS];
	struct outbox_flush f = { .streams = streams,
				  .nr_streams = s->nr_events,
				  .kernel = s->kernel,
				  .text = s->kerneltext,
				  .jit = s->attribution.jit };
	struct tally *next = tally_new();
	struct outbox_stacks stacks = { 0 };
	struct outbox_windows windows;
	uint64_t mono;
	int err;

	if (!next)
		return -ENOMEM;
	s->flush_times.begun_ns = time_mono_ns();
	session_end_visit(s);
	session_sweep(s);
	attribute_settle(&s->attribution);
	if (s->store_err)
		session_store(s); /* there may be room again: then nothing is dropped */
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
	if (s->capture)
		capture_note(s->capture, f.tally, false);
	mono = time_mono_ns();
	f.to_ns = time_real_ns();
	f.duration_ns = mono - s->flush_from_ns;
	f.from_ns = f.to_ns - f.duration_ns;
	err = s->stacks.sampler ? session_describe_stacks(s, &stacks) : 0;
	if (!err && s->stacks.sampler)
		f.stacks = &stacks;
	if (!err && s->windows.sampler)
		err = session_describe_windows(s, &windows);
	if (!err && s->windows.sampler)
		f.windows = &windows;
	if (!err && s->anchors)
		f.anchors = anchortally_list(anchors_tally(s->anchors));
	if (!err && s->anchors && !f.anchors)
		err = -ENOMEM;
	if (!err)
		err = outbox_add_flush(s->outbox, &f);
	if (err) {
		anchorset_free(f.anchors);
		tally_free(next);
		return err;
	}
	take_over(s, f.tally, streams, now);
	if (f.stacks)
		session_took_stacks(s, f.stacks);
	if (f.windows)
		session_took_windows(s, f.windows);
	if (f.anchors)
		anchortally_took(anchors_tally(s->anchors));
	s->attribution.tally = next;
	s->flush_from_ns = mono;
	return 0;
}

int session_flush(struct session *s)
{
	int err = session_post(s);

	s->next_flush_ns = time_mono_ns() + s->cfg.flush_ns;
	return err ? err : session_store(s);
}

int session_new_epoch(struct session *s, const char *label)
{
	uint64_t before = time_mono_ns();
	int err = session_post(s);

	if (!err)
		err = session_begin_epoch(s,
					  (time_mono_ns() - before) / NSEC_PER_MSEC + 1,
					  label);
	return err ? err : session_store(s);
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
