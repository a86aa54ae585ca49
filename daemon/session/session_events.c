/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_events.c - the sampler of the collector's events
 */
#include "config.h"

#include <errno.h>

#include "base/log.h"
#include "base/times.h"
#include "daemon/os/perfev.h"
#include "daemon/session/session_private.h"

/* Stays below the kernel's limit, so that the kernel does not throttle. */
double session_rate_limit(double hz)
{
	double max = perfev_sysctl("perf_event_max_sample_rate", 100000) * 0.8;

	return hz <= max ? hz : max;
}

void session_take_rate(struct session *s, double hz)
{
	s->events.hz = session_rate_limit(hz);
	if (s->events.hz < hz)
		log_warn("session: %.0f samples/s are too near "
			 "kernel.perf_event_max_sample_rate: sampling at %.0f; raise "
			 "that sysctl for more",
			 hz, s->events.hz);
	for (int i = 0; i < s->events.nr; i++)
		s->events.periods[i] = event_period(&s->events.event[i], s->events.hz);
}

/* Adds the collector's losses since the last call to the tally. */
static void note_losses(struct session *s, int e, const struct collector_counts *now)
{
	struct tally *t = s->attribution.tally;

	tally_lose(t, e, SAMPLE_RING_LOST, now->ring_lost - s->events.ring_lost[e],
		   NULL);
	tally_lose(t, e, SAMPLE_TABLE_LOST, now->table_lost - s->events.table_lost[e],
		   NULL);
	s->events.ring_lost[e] = now->ring_lost;
	s->events.table_lost[e] = now->table_lost;
}

static uint64_t nr_idle(const struct session *s, const struct tally *t, int e)
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

static int open_events(struct session *s, struct sampler **out)
{
	struct session_events *ev = &s->events;
	int err = session_start_collector(s);

	if (err)
		return err;
	ev->sampler.from = &ev->ops->source;
	ev->sampler.source = ev->collector;
	*out = &ev->sampler;
	return 0;
}

static void close_events(struct sampler *p)
{
	tally_free(p->session->events.next);
}

static void mark_images(const struct sampler *p)
{
	tally_mark_images(p->session->attribution.tally);
}

static size_t memory(const struct sampler *p)
{
	return tally_memory(p->session->attribution.tally);
}

static void drop(struct sampler *p)
{
	tally_drop(p->session->attribution.tally, SAMPLE_NO_SPACE);
}

static int describe(struct sampler *p, struct outbox_flush *f)
{
	struct session *s = p->session;
	struct session_events *ev = &s->events;

	if (!ev->next)
		ev->next = tally_new();
	if (!ev->next)
		return -ENOMEM;
	for (int e = 0; e < ev->nr; e++) {
		ev->ops->source.counts(ev->collector, e, &ev->now[e]);
		note_losses(s, e, &ev->now[e]);
		ev->described[e] =
			stream_describe(&ev->stream[e], &ev->event[e], ev->ops->name,
					ev->periods[e], &ev->now[e]);
	}
	f->tally = s->attribution.tally;
	f->streams = ev->described;
	f->nr_streams = ev->nr;
	return 0;
}

static void committed(struct sampler *p, const struct outbox_flush *f)
{
	struct session *s = p->session;
	struct session_events *ev = &s->events;
	const struct tally *t = f->tally;

	for (int e = 0; e < ev->nr; e++) {
		stream_commit(&ev->stream[e], &f->streams[e], t->loss[e], &ev->now[e]);
		ev->idle[e] += nr_idle(s, t, e);
		if (f->streams[e].throttled)
			log_warn("session: the kernel throttled %s %llu times: see "
				 "kernel.perf_event_max_sample_rate",
				 ev->event[e].name,
				 (unsigned long long)f->streams[e].throttled);
	}
	ev->unreadable += t->unreadable;
	ev->crowded += t->crowded;
	ev->cut_stacks += t->cut_stacks;
	s->attribution.tally = ev->next;
	ev->next = NULL;
}

uint64_t session_nr_pending(const struct session *s)
{
	uint64_t n =
		tally_kept(s->attribution.tally) + jit_nr_waiting(s->attribution.jit);
	struct collector_counts now;

	for (int e = 0; e < s->events.nr; e++) {
		s->events.ops->source.counts(s->events.collector, e, &now);
		n += now.pending + outbox_nr_samples(s->outbox, e);
	}
	return n;
}

static uint64_t nr_lost(const struct session *s, int e, enum loss l,
			const struct collector_counts *now)
{
	uint64_t n =
		s->events.stream[e].account.lost[l] + s->attribution.tally->loss[e][l];

	if (l == SAMPLE_RING_LOST)
		n += now->ring_lost - s->events.ring_lost[e];
	else if (l == SAMPLE_TABLE_LOST)
		n += now->table_lost - s->events.table_lost[e];
	return n;
}

/* Writes the losses, summed over all events. */
static void put_losses(const struct session *s, struct buf *out)
{
	struct collector_counts now[SESSION_MAX_EVENTS];

	for (int e = 0; e < s->events.nr; e++)
		s->events.ops->source.counts(s->events.collector, e, &now[e]);
	for (int l = 0; l < NR_LOSSES; l++) {
		uint64_t n = 0;

		for (int e = 0; e < s->events.nr; e++)
			n += nr_lost(s, e, l, &now[e]);
		if (n)
			buf_printf(out, "%s.%s %llu\n",
				   loss_class_of(l) == LOSS_UNKNOWN ? "unknown"
								    : "lost",
				   loss_name(l), (unsigned long long)n);
	}
}

/* Writes the runs and time of the handler, if the kernel counts them. */
static void put_handler(const struct session *s, int e, struct buf *out)
{
	uint64_t nr, ns;

	if (s->events.ops->handler(s->events.collector, e, &nr, &ns) || !nr)
		return;
	buf_printf(out, "handler_runs.%s %llu\n", s->events.event[e].name,
		   (unsigned long long)nr);
	buf_printf(out, "handler_ns.%s %.1f\n", s->events.event[e].name,
		   (double)ns / (double)nr);
}

static void put_stream(struct session *s, int e, struct buf *out)
{
	struct collector_counts now;
	const struct stream *st = &s->events.stream[e];
	const char *name = s->events.event[e].name;

	s->events.ops->source.counts(s->events.collector, e, &now);
	buf_printf(out, "event.%d %s\n", e, name);
	buf_printf(out, "period.%s %llu\n", name,
		   (unsigned long long)s->events.periods[e]);
	buf_printf(out, "received.%s %llu\n", name, (unsigned long long)now.received);
	buf_printf(out, "stored.%s %llu\n", name,
		   (unsigned long long)(st->account.stored -
					outbox_nr_samples(s->outbox, e)));
	buf_printf(out, "not_delivered.%s %lld\n", name,
		   (long long)(st->account.not_delivered +
			       stream_not_delivered(st, &s->events.event[e],
						    s->events.periods[e], &now)));
	if (now.throttled)
		buf_printf(out, "throttled.%s %llu\n", name,
			   (unsigned long long)now.throttled);
	if (now.throttled && now.throttled_ns)
		buf_printf(out, "throttled_s.%s %.6f\n", name,
			   (double)now.throttled_ns / NSEC_PER_SEC);
	if (now.elsewhere)
		buf_printf(out, "elsewhere.%s %llu\n", name,
			   (unsigned long long)now.elsewhere);
	put_handler(s, e, out);
	buf_printf(out, "idle.%s %llu\n", name,
		   (unsigned long long)(s->events.idle[e] +
					nr_idle(s, s->attribution.tally, e)));
}

/* Writes the numbers of samples that are stored with less information than others. */
static void put_shortcomings(const struct session *s, struct buf *out)
{
	const struct session_events *ev = &s->events;
	const struct tally *t = s->attribution.tally;

	buf_printf(out, "outcome_unreadable %llu\n",
		   (unsigned long long)(ev->unreadable + t->unreadable));
	if (ev->cut_stacks + t->cut_stacks)
		buf_printf(out, "branch_stacks_cut %llu\n",
			   (unsigned long long)(ev->cut_stacks + t->cut_stacks));
	if (s->cfg.by)
		buf_printf(out, "contexts_other %llu\n",
			   (unsigned long long)(ev->crowded + t->crowded));
}

static void status(struct sampler *p, struct buf *out)
{
	struct session *s = p->session;

	for (int e = 0; e < s->events.nr; e++)
		put_stream(s, e, out);
	put_losses(s, out);
	put_shortcomings(s, out);
}

const struct sampler_ops sampler_events = {
	.name = "events",
	.open = open_events,
	.close = close_events,
	.mark_images = mark_images,
	.memory = memory,
	.drop = drop,
	.describe = describe,
	.committed = committed,
	.status = status,
};
