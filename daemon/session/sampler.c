/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sampler.c - the list of samplers, and what a stream tells of itself at each flush
 *
 * A flush has what came since the one before, so a stream keeps the counts of the last
 * flush. Samples that the event's own count promised are told of in whole periods; the
 * rest of a period is kept for the next flush, so that nothing is missing in the sum.
 */
#include "config.h"

#include "daemon/session/sampler.h"

const struct sampler_ops *const session_samplers[NR_SAMPLERS] = {
	&sampler_events,
	&sampler_stacks,
	&sampler_windows,
};

_Static_assert(NR_LOSSES <= ACCOUNT_LOSSES, "an account has room for each loss");

/* What the event counted and no flush has told of, in its own unit. */
static uint64_t count_since(const struct stream *st, const struct collector_counts *now)
{
	return st->remainder + now->event_count - st->flushed.event_count;
}

int64_t stream_not_delivered(const struct stream *st, const struct event *event,
			     uint64_t period, const struct collector_counts *now)
{
	const uint64_t came = now->received - st->flushed.received + now->elsewhere -
			      st->flushed.elsewhere;

	if (event->record == EVENT_RECORDS_SPE) /* which counts nothing */
		return 0;
	return (int64_t)(count_since(st, now) / period) - (int64_t)came;
}

struct flush_stream stream_describe(const struct stream *st, const struct event *event,
				    const char *source, uint64_t period,
				    const struct collector_counts *now)
{
	const struct collector_counts *before = &st->flushed;

	return (struct flush_stream){
		.desc = { .event = event->name,
			  .source = source,
			  .cpu_type = "",
			  .unit = event_unit_str(event->unit),
			  .mean_period = period,
			  .landing = event->landing },
		.received = now->received - before->received,
		.not_delivered = stream_not_delivered(st, event, period, now),
		.enabled_ns = now->enabled_ns - before->enabled_ns,
		.running_ns = now->running_ns - before->running_ns,
		.throttled = now->throttled - before->throttled,
	};
}

void stream_commit(struct stream *st, const struct flush_stream *f,
		   const uint64_t lost[NR_LOSSES], const struct collector_counts *now)
{
	struct stream_account *a = &st->account;

	for (int l = 0; l < NR_LOSSES; l++)
		a->lost[l] += lost[l];
	a->received += f->received;
	a->stored = a->received -
		    account_nr_lost(a); /* which the outbox's flush adds up to */
	a->not_delivered += f->not_delivered;
	st->remainder = count_since(st, now) % f->desc.mean_period;
	st->flushed = *now;
}
