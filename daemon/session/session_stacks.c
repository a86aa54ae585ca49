/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_stacks.c - the sampler of call stacks
 *
 * Stacks are sampled by the first event if that counts time or cycles, else by
 * cpu-clock, at a fixed rate. The budget includes their cost, but changes only the rate
 * of the collector's samples.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/os/arch.h"
#include "daemon/os/helper.h"
#include "daemon/session/session_private.h"
#include "daemon/stacks/stacksampler.h"
#include "daemon/stacks/unwind_child.h"
#include "daemon/stacks/unwinding.h"

/*
 * The time for a chain of about thirty frames, without the interrupt; see
 * PERFORMANCE.md.
 */
#define WALK_NS 4000.0
/* the time to copy registers and a stack, without the kernel's chain */
#define COPY_NS 10000.0

#define UNWIND_END_NS (10 * NSEC_PER_SEC) /* wait for pending stacks at the end */

struct stacks {
	struct sampler sampler;
	struct unwinding *unwinding; /* NULL: the kernel follows frame pointers */
	double hz;
	struct event event;
	uint64_t period;
	struct stream stream;
	struct stacktally *next;        /* the tally for the next flush; or NULL */
	struct outbox_stacks described; /* for the flush that is being made */
	struct collector_counts now;
};

static struct stacks *stacks_of(const struct sampler *p)
{
	return container_of(p, struct stacks, sampler);
}

int session_choose_clock(const struct session *s, struct event *event)
{
	*event = s->events.event[0];
	event->period = 0;
	if (event->unit != EVENT_EVENTS && !event_is_ticks(event))
		return 0;
	return event_parse("cpu-clock", s->platform.desc.clock_hz, event);
}

static double choose_hz(const struct session_config *cfg)
{
	if (cfg->stacks.hz > 0)
		return cfg->stacks.hz;
	return cfg->stacks.walk == SESSION_STACKS_DWARF ? SESSION_STACKS_DWARF_HZ
							: SESSION_STACKS_HZ;
}

bool session_can_unwind(void)
{
	return arch_native.user_mask && helper_is_installed(UNWIND_CHILD_NAME);
}

static int open_unwinding(struct session *s, struct stacks *st)
{
	const struct unwinding_config cfg = { .images = s->images,
					      .procmap = s->procmap,
					      .jit = s->attribution.jit,
					      .epoll_fd = s->epoll_fd,
					      .take = attribute_chain,
					      .ctx = &s->attribution };

	if (arch_native.user_mask)
		return unwinding_open(&cfg, &st->unwinding);
	log_err("session: stacks of this machine cannot be unwound by tables");
	return -EOPNOTSUPP;
}

static int open_source(struct session *s, struct stacks *st)
{
	struct stacksampler_config cfg = {
		.event = &st->event,
		.period = &st->period,
		.target = session_target(s),
		.epoll_fd = s->epoll_fd,
		.take = attribute_chain,
		.ctx = &s->attribution,
	};
	int err;

	if (st->unwinding) {
		cfg.copy_bytes = s->cfg.stacks.copy & ~7u;
		cfg.take = unwinding_add;
		cfg.ctx = st->unwinding;
	}
	err = stacksampler_open(&cfg, &s->cpus, &st->sampler.source);
	if (err)
		session_log_refusal("call stacks", err);
	else
		log_info("session: %.0f call stacks/s per CPU, by %s", st->hz,
			 st->unwinding ? "unwind tables" : "frame pointers");
	return err;
}

static void close_stacks(struct sampler *p)
{
	struct stacks *st = stacks_of(p);

	unwinding_close(st->unwinding);
	stacktally_free(p->session->attribution.stacks);
	p->session->attribution.stacks = NULL;
	stacktally_free(st->next);
	free(st);
}

static int start(struct session *s, struct stacks *st)
{
	int err = session_choose_clock(s, &st->event);

	if (err)
		return err;
	st->hz = choose_hz(&s->cfg);
	st->period = event_period(&st->event, st->hz);
	s->attribution.stacks = stacktally_new();
	if (!s->attribution.stacks)
		return -ENOMEM;
	if (s->cfg.stacks.walk == SESSION_STACKS_DWARF)
		err = open_unwinding(s, st);
	return err ? err : open_source(s, st);
}

static int open_stacks(struct session *s, struct sampler **out)
{
	struct stacks *st;
	int err;

	if (s->cfg.stacks.walk == SESSION_STACKS_OFF && s->cfg.stacks.hz > 0)
		s->cfg.stacks.walk = SESSION_STACKS_FP;
	if (s->cfg.stacks.walk == SESSION_STACKS_OFF)
		return 0;
	st = calloc(1, sizeof(*st));
	if (!st)
		return -ENOMEM;
	st->sampler.session = s;
	st->sampler.from = &source_stacks;
	err = start(s, st);
	if (err)
		close_stacks(&st->sampler);
	else
		*out = &st->sampler;
	return err;
}

/* Waits until copied stacks are unwound. Those left after UNWIND_END_NS are lost. */
static void stopped(struct sampler *p)
{
	struct stacks *st = stacks_of(p);

	if (!st->unwinding)
		return;
	session_sweep(p->session);
	unwinding_finish(st->unwinding, UNWIND_END_NS);
}

static int run_stacks(struct sampler *p)
{
	struct unwinding *u = stacks_of(p)->unwinding;

	return u ? unwinding_run(u) : -1;
}

static uint64_t oldest_ns(const struct sampler *p)
{
	const struct unwinding *u = stacks_of(p)->unwinding;

	return u ? unwinding_oldest_ns(u) : UINT64_MAX;
}

static void mark_images(const struct sampler *p)
{
	const struct stacks *st = stacks_of(p);

	stacktally_mark_images(p->session->attribution.stacks);
	if (st->unwinding)
		unwinding_forget_images(st->unwinding);
}

static size_t memory(const struct sampler *p)
{
	return stacktally_memory(p->session->attribution.stacks);
}

static void drop(struct sampler *p)
{
	stacktally_drop(p->session->attribution.stacks);
}

/* Lists the losses since the last flush. */
static void list_losses(const struct stacks *st, const struct stacktally *t,
			const struct collector_counts *now, uint64_t lost[NR_LOSSES])
{
	const uint64_t *told = st->stream.account.lost;

	lost[SAMPLE_RING_LOST] = now->ring_lost - st->stream.flushed.ring_lost;
	lost[SAMPLE_NO_SPACE] = t->no_space;
	if (st->unwinding) {
		const struct unwinding_counts *c = unwinding_counts(st->unwinding);

		lost[SAMPLE_UNWIND_FULL] = c->full - told[SAMPLE_UNWIND_FULL];
		lost[SAMPLE_UNWIND_DIED] = c->died - told[SAMPLE_UNWIND_DIED];
	}
}

/* Stacks that still wait for their chain are not part of the flush. */
static int describe(struct sampler *p, struct outbox_flush *f)
{
	struct stacks *st = stacks_of(p);
	struct outbox_stacks *out = &st->described;

	if (!st->next)
		st->next = stacktally_new();
	if (!st->next)
		return -ENOMEM;
	source_stacks.counts(p->source, 0, &st->now);
	if (st->unwinding)
		st->now.received -= unwinding_counts(st->unwinding)->pending;
	*out = (struct outbox_stacks){ .tally = p->session->attribution.stacks };
	list_losses(st, out->tally, &st->now, out->lost);
	out->stream =
		stream_describe(&st->stream, &st->event,
				st->unwinding ? "dwarf" : "perf", st->period, &st->now);
	f->stacks = out;
	return 0;
}

static void committed(struct sampler *p, const struct outbox_flush *f)
{
	struct stacks *st = stacks_of(p);

	stream_commit(&st->stream, &f->stacks->stream, f->stacks->lost, &st->now);
	p->session->attribution.stacks = st->next;
	st->next = NULL;
}

static double cost(const struct sampler *p)
{
	const struct stacks *st = stacks_of(p);

	return st->hz *
	       (p->session->events.interrupt_ns + (st->unwinding ? COPY_NS : WALK_NS)) /
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

static void status(struct sampler *p, struct buf *out)
{
	const struct stacks *st = stacks_of(p);
	const struct stacktally *t = p->session->attribution.stacks;
	uint64_t lost[NR_LOSSES] = { 0 }, sum = account_nr_lost(&st->stream.account);
	struct collector_counts now;

	source_stacks.counts(p->source, 0, &now);
	list_losses(st, t, &now, lost);
	for (int l = 0; l < NR_LOSSES; l++)
		sum += lost[l];
	buf_printf(out, "stacks %s\n", st->unwinding ? "dwarf" : "fp");
	buf_printf(out, "stacks_rate_hz %.1f\n", st->hz);
	buf_printf(out, "stacks_received %llu\n", (unsigned long long)now.received);
	buf_printf(out, "stacks_stored %llu\n",
		   (unsigned long long)st->stream.account.stored);
	buf_printf(out, "stacks_lost %llu\n", (unsigned long long)sum);
	buf_printf(out, "stacks_memory_bytes %zu\n", stacktally_memory(t));
	if (st->unwinding)
		put_unwinding(st->unwinding, out);
}

const struct sampler_ops sampler_stacks = {
	.name = "stacks",
	.open = open_stacks,
	.close = close_stacks,
	.stopped = stopped,
	.run = run_stacks,
	.oldest_ns = oldest_ns,
	.mark_images = mark_images,
	.memory = memory,
	.drop = drop,
	.describe = describe,
	.committed = committed,
	.cost = cost,
	.status = status,
};
