/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_windows.c - the stream of windows that a session has beside its samples
 *
 * By the clock that stacks would be sampled by. Where windows cannot be had, all the
 * rest goes on without them.
 */
#include "config.h"

#include <errno.h>

#include "base/log.h"
#include "base/times.h"
#include "daemon/session_private.h"

/* The stream's own name: its samples are no time that others have not told of. */
#define STREAM_EVENT "windows"

int session_start_windows(struct session *s)
{
	struct session_windows *sw = &s->windows;
	const struct windowsampler_config cfg = {
		.event = &sw->event,
		.period = &sw->period,
		.target = session_target(s),
		.device = s->ops->device ? s->ops->device(s->collector) : -1,
		.epoll_fd = s->epoll_fd,
		.max_bytes = s->cfg.windows_bytes,
		.attribution = &s->attribution,
		.exclude = s->cfg.windows_exclude,
		.nr_excluded = s->cfg.nr_windows_excluded,
		.anchors = s->anchors,
	};
	int err;

	if (s->cfg.windows_hz <= 0)
		return 0;
	err = session_choose_clock(s, &sw->event);
	if (err)
		return err;
	sw->period = event_period(&sw->event, s->cfg.windows_hz);
	sw->tally = windowtally_new();
	if (!sw->tally)
		return -ENOMEM;
	if (!windowsampler_open(&cfg, &s->cpus, &sw->sampler))
		log_info("session: %.0f windows/s per CPU", s->cfg.windows_hz);
	return 0;
}

void session_close_windows(struct session *s)
{
	windowsampler_close(s->windows.sampler);
	windowtally_free(s->windows.tally);
	windowtally_free(s->windows.next);
}

/* What the event counted and no flush has told of. */
static uint64_t count_since(const struct session_windows *sw,
			    const struct collector_counts *now)
{
	return sw->remainder + now->event_count - sw->flushed.event_count;
}

int session_describe_windows(struct session *s, struct outbox_windows *out)
{
	struct session_windows *sw = &s->windows;
	const struct collector_counts *before = &sw->flushed;
	struct collector_counts *now = &out->counts;
	uint64_t received, elsewhere;

	if (!sw->next)
		sw->next = windowtally_new();
	if (!sw->next)
		return -ENOMEM;
	windowsampler_counts(sw->sampler, now);
	received = now->received - before->received;
	elsewhere = now->elsewhere - before->elsewhere;
	out->tally = sw->tally;
	out->stream = (struct flush_stream){
		.desc = { .event = STREAM_EVENT,
			  .source = windowsampler_source(sw->sampler),
			  .cpu_type = "",
			  .unit = event_unit_str(sw->event.unit),
			  .mean_period = sw->period,
			  .landing = sw->event.landing },
		.received = received,
		.not_delivered = (int64_t)(count_since(sw, now) / sw->period) -
				 (int64_t)(received + elsewhere),
		.enabled_ns = now->enabled_ns - before->enabled_ns,
		.running_ns = now->running_ns - before->running_ns,
	};
	return 0;
}

void session_took_windows(struct session *s, const struct outbox_windows *taken)
{
	struct session_windows *sw = &s->windows;

	sw->stored += taken->tally->kept;
	sw->cut += taken->tally->tally->cut_stacks;
	for (int l = 0; l < NR_LOSSES; l++)
		sw->lost[l] += taken->tally->tally->loss[0][l];
	sw->remainder = count_since(sw, &taken->counts) % sw->period;
	sw->flushed = taken->counts;
	sw->tally = sw->next;
	sw->next = NULL;
}

double session_windows_cost(const struct session *s)
{
	if (!s->windows.sampler)
		return 0;
	return s->cfg.windows_hz *
	       (s->interrupt_ns + windowsampler_mean_ns(s->windows.sampler)) /
	       NSEC_PER_SEC;
}

void session_windows_status(struct session *s, struct buf *out)
{
	const struct session_windows *sw = &s->windows;
	struct collector_counts now;

	buf_printf(out, "windows %s\n", sw->sampler ? "on" : "off");
	if (!sw->sampler)
		return;
	windowsampler_counts(sw->sampler, &now);
	buf_printf(out, "windows_rate_hz %.1f\n", s->cfg.windows_hz);
	buf_printf(out, "windows_received %llu\n", (unsigned long long)now.received);
	buf_printf(out, "windows_stored %llu\n",
		   (unsigned long long)(sw->stored + sw->tally->kept));
	buf_printf(out, "windows_pending %llu\n", (unsigned long long)now.pending);
	buf_printf(out, "windows_elsewhere %llu\n", (unsigned long long)now.elsewhere);
	for (int l = 0; l < NR_LOSSES; l++) {
		const uint64_t n = sw->lost[l] + sw->tally->tally->loss[0][l];

		if (n)
			buf_printf(out, "windows_lost.%s %llu\n", loss_name(l),
				   (unsigned long long)n);
	}
	if (sw->cut + sw->tally->tally->cut_stacks)
		buf_printf(out, "windows_cut %llu\n",
			   (unsigned long long)(sw->cut +
						sw->tally->tally->cut_stacks));
	buf_printf(out, "windows_memory_bytes %zu\n", windowtally_memory(sw->tally));
	windowsampler_status(sw->sampler, out);
}
