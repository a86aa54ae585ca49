/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_stacks.c - the stream of call stacks that a session has beside its samples
 *
 * Its clock is that of the first event, where that is one, at a rate that stays as it
 * is: what it costs is no part of what the budget lets the samples cost.
 */
#include "config.h"

#include <errno.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/session_private.h"

/* Of a chain of some thirty frames, beside the interrupt; see PERFORMANCE.md. */
#define WALK_NS 4000.0

static int choose_event(struct session *s, struct event *event)
{
	*event = s->events[0];
	event->period = 0;
	if (event->unit != EVENT_EVENTS && !event_is_ticks(event))
		return 0;
	return event_parse("cpu-clock", s->platform.desc.clock_hz, event);
}

int session_start_stacks(struct session *s)
{
	struct session_stacks *st = &s->stacks;
	const struct stacksampler_config cfg = {
		.event = &st->event,
		.period = &st->period,
		.target = session_target(s),
		.enable_on_exec = s->cfg.enable_on_exec,
		.epoll_fd = s->epoll_fd,
		.take = attribute_chain,
		.ctx = &s->attribution,
	};
	int err;

	if (s->cfg.stacks_hz <= 0)
		return 0;
	err = choose_event(s, &st->event);
	if (err)
		return err;
	st->period = event_period(&st->event, s->cfg.stacks_hz);
	s->attribution.stacks = stacktally_new();
	if (!s->attribution.stacks)
		return -ENOMEM;
	err = stacksampler_open(&cfg, &s->cpus, &st->sampler);
	if (err)
		session_log_refusal("call stacks", err);
	else
		log_info("session: %.0f call stacks/s per CPU, by frame pointers",
			 s->cfg.stacks_hz);
	return err;
}

/* What the event counted and no flush has told of. */
static uint64_t count_since(const struct session_stacks *st,
			    const struct collector_counts *now)
{
	return st->remainder + now->event_count - st->flushed.event_count;
}

int session_describe_stacks(struct session *s, struct outbox_stacks *out)
{
	struct session_stacks *st = &s->stacks;
	const struct collector_counts *before = &st->flushed;
	struct collector_counts *now = &out->counts;

	if (!st->next)
		st->next = stacktally_new();
	if (!st->next)
		return -ENOMEM;
	stacksampler_counts(st->sampler, now);
	out->tally = s->attribution.stacks;
	out->ring_lost = now->ring_lost - before->ring_lost;
	out->stream = (struct flush_stream){
		.desc = { .event = st->event.name,
			  .source = "perf",
			  .cpu_type = "",
			  .unit = event_unit_str(st->event.unit),
			  .mean_period = st->period,
			  .landing = st->event.landing },
		.received = now->received - before->received,
		.not_delivered = (int64_t)(count_since(st, now) / st->period) -
				 (int64_t)(now->received - before->received),
		.enabled_ns = now->enabled_ns - before->enabled_ns,
		.running_ns = now->running_ns - before->running_ns,
		.throttled = now->throttled - before->throttled,
	};
	return 0;
}

void session_took_stacks(struct session *s, const struct outbox_stacks *taken)
{
	struct session_stacks *st = &s->stacks;

	st->stored += taken->tally->kept;
	st->lost += taken->ring_lost + taken->tally->no_space;
	st->remainder = count_since(st, &taken->counts) % st->period;
	st->flushed = taken->counts;
	s->attribution.stacks = st->next;
	st->next = NULL;
}

double session_stacks_cost(const struct session *s)
{
	if (!s->stacks.sampler)
		return 0;
	return s->cfg.stacks_hz * (s->interrupt_ns + WALK_NS) / NSEC_PER_SEC;
}

void session_stacks_status(struct session *s, struct buf *out)
{
	const struct session_stacks *st = &s->stacks;
	const struct stacktally *t = s->attribution.stacks;
	struct collector_counts now;

	buf_printf(out, "stacks %s\n", st->sampler ? "fp" : "off");
	if (!st->sampler)
		return;
	stacksampler_counts(st->sampler, &now);
	buf_printf(out, "stacks_rate_hz %.1f\n", s->cfg.stacks_hz);
	buf_printf(out, "stacks_received %llu\n", (unsigned long long)now.received);
	buf_printf(out, "stacks_stored %llu\n", (unsigned long long)st->stored);
	buf_printf(out, "stacks_lost %llu\n",
		   (unsigned long long)(st->lost + t->no_space + now.ring_lost -
					st->flushed.ring_lost));
	buf_printf(out, "stacks_memory_bytes %zu\n", stacktally_memory(t));
}
