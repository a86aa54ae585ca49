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
#include "daemon/arch.h"
#include "daemon/session_private.h"

/* Of a chain of some thirty frames, beside the interrupt; see PERFORMANCE.md. */
#define WALK_NS 4000.0
#define COPY_NS 10000.0 /* of registers and a stack, beside the kernel's part */

#define UNWIND_END_NS (10 * NSEC_PER_SEC) /* at most that long for what is pending */

int session_choose_clock(const struct session *s, struct event *event)
{
	*event = s->events[0];
	event->period = 0;
	if (event->unit != EVENT_EVENTS && !event_is_ticks(event))
		return 0;
	return event_parse("cpu-clock", s->platform.desc.clock_hz, event);
}

static double choose_hz(const struct session_config *cfg)
{
	if (cfg->stacks_hz > 0)
		return cfg->stacks_hz;
	return cfg->stacks == SESSION_STACKS_DWARF ? SESSION_STACKS_DWARF_HZ
						   : SESSION_STACKS_HZ;
}

static int open_unwinding(struct session *s)
{
	const struct unwinding_config cfg = { .images = s->images,
					      .procmap = s->procmap,
					      .jit = s->attribution.jit,
					      .epoll_fd = s->epoll_fd,
					      .take = attribute_chain,
					      .ctx = &s->attribution };

	if (arch_native.user_mask)
		return unwinding_open(&cfg, &s->stacks.unwinding);
	log_err("session: stacks of this machine cannot be unwound by tables");
	return -EOPNOTSUPP;
}

static int open_sampler(struct session *s)
{
	struct session_stacks *st = &s->stacks;
	struct stacksampler_config cfg = {
		.event = &st->event,
		.period = &st->period,
		.target = session_target(s),
		.enable_on_exec = s->cfg.enable_on_exec,
		.epoll_fd = s->epoll_fd,
		.take = attribute_chain,
		.ctx = &s->attribution,
	};
	int err;

	if (st->unwinding) {
		cfg.copy_bytes = s->cfg.stacks_copy & ~7u;
		cfg.take = unwinding_add;
		cfg.ctx = st->unwinding;
	}
	err = stacksampler_open(&cfg, &s->cpus, &st->sampler);
	if (err)
		session_log_refusal("call stacks", err);
	else
		log_info("session: %.0f call stacks/s per CPU, by %s", st->hz,
			 st->unwinding ? "unwind tables" : "frame pointers");
	return err;
}

int session_start_stacks(struct session *s)
{
	struct session_stacks *st = &s->stacks;
	int err;

	if (s->cfg.stacks == SESSION_STACKS_OFF && s->cfg.stacks_hz > 0)
		s->cfg.stacks = SESSION_STACKS_FP;
	if (s->cfg.stacks == SESSION_STACKS_OFF)
		return 0;
	err = session_choose_clock(s, &st->event);
	if (err)
		return err;
	st->hz = choose_hz(&s->cfg);
	st->period = event_period(&st->event, st->hz);
	s->attribution.stacks = stacktally_new();
	if (!s->attribution.stacks)
		return -ENOMEM;
	if (s->cfg.stacks == SESSION_STACKS_DWARF)
		err = open_unwinding(s);
	return err ? err : open_sampler(s);
}

void session_stop_stacks(struct session *s)
{
	if (!s->stacks.sampler)
		return;
	stacksampler_stop(s->stacks.sampler);
	if (!s->stacks.unwinding)
		return;
	session_sweep(s);
	unwinding_finish(s->stacks.unwinding, UNWIND_END_NS);
}

/* What was sampled and waits for its chain is part of no flush. */
static void count(const struct session_stacks *st, struct collector_counts *out)
{
	stacksampler_counts(st->sampler, out);
	if (st->unwinding)
		out->received -= unwinding_counts(st->unwinding)->pending;
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
	count(st, now);
	out->tally = s->attribution.stacks;
	out->lost[SAMPLE_RING_LOST] = now->ring_lost - before->ring_lost;
	out->lost[SAMPLE_NO_SPACE] = out->tally->no_space;
	if (st->unwinding) {
		const struct unwinding_counts *c = unwinding_counts(st->unwinding);

		out->lost[SAMPLE_UNWIND_FULL] = c->full - st->flushed_full;
		out->lost[SAMPLE_UNWIND_DIED] = c->died - st->flushed_died;
	}
	out->stream = (struct flush_stream){
		.desc = { .event = st->event.name,
			  .source = st->unwinding ? "dwarf" : "perf",
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
	for (int l = 0; l < NR_LOSSES; l++)
		st->lost += taken->lost[l];
	st->flushed_full += taken->lost[SAMPLE_UNWIND_FULL];
	st->flushed_died += taken->lost[SAMPLE_UNWIND_DIED];
	st->remainder = count_since(st, &taken->counts) % st->period;
	st->flushed = taken->counts;
	s->attribution.stacks = st->next;
	st->next = NULL;
}

double session_stacks_cost(const struct session *s)
{
	if (!s->stacks.sampler)
		return 0;
	return s->stacks.hz *
	       (s->interrupt_ns + (s->stacks.unwinding ? COPY_NS : WALK_NS)) /
	       NSEC_PER_SEC;
}

static void put_unwinding(const struct unwinding *u, struct buf *out)
{
	const struct unwinding_counts *c = unwinding_counts(u);

	buf_printf(out, "unwind %s\n", unwinding_runs(u) ? "on" : "stopped");
	buf_printf(out, "unwind_pending %llu\n", (unsigned long long)c->pending);
	buf_printf(out, "unwind_images %llu\n", (unsigned long long)c->nr_images);
	buf_printf(out, "unwind_deaths %llu\n", (unsigned long long)c->nr_died);
	for (int i = 0; i < CPI_UNWIND_NR_ENDS; i++)
		buf_printf(out, "unwind_end.%s %llu\n",
			   stack_mark_str(attribute_end_mark(i)),
			   (unsigned long long)c->end[i]);
}

void session_stacks_status(struct session *s, struct buf *out)
{
	const struct session_stacks *st = &s->stacks;
	const struct stacktally *t = s->attribution.stacks;
	struct collector_counts now;
	uint64_t lost;

	buf_printf(out, "stacks %s\n",
		   !st->sampler    ? "off"
		   : st->unwinding ? "dwarf"
				   : "fp");
	if (!st->sampler)
		return;
	stacksampler_counts(st->sampler, &now);
	lost = st->lost + t->no_space + now.ring_lost - st->flushed.ring_lost;
	if (st->unwinding)
		lost += unwinding_counts(st->unwinding)->full - st->flushed_full +
			unwinding_counts(st->unwinding)->died - st->flushed_died;
	buf_printf(out, "stacks_rate_hz %.1f\n", st->hz);
	buf_printf(out, "stacks_received %llu\n", (unsigned long long)now.received);
	buf_printf(out, "stacks_stored %llu\n", (unsigned long long)st->stored);
	buf_printf(out, "stacks_lost %llu\n", (unsigned long long)lost);
	buf_printf(out, "stacks_memory_bytes %zu\n", stacktally_memory(t));
	if (st->unwinding)
		put_unwinding(st->unwinding, out);
}
