/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sampler.c - the list of samplers, and the counts of a stream in each flush
 *
 * A flush has the counts since the previous flush, so a stream keeps the counts of the
 * last one. The number of expected samples is the event's own count, divided by the
 * period. The remainder is added in the next flush, so that the sum over flushes is
 * exact.
 */
#include "config.h"

#include "daemon/session/sampler.h"

const struct sampler_ops *const session_samplers[NR_SAMPLERS] = {
	&sampler_events,
	&sampler_stacks,
	&sampler_windows,
};

_Static_assert(NR_LOSSES <= ACCOUNT_LOSSES, "an account has room for each loss");

/*
 * Returns the event's count since the last flush, with the remainder, in the event's
 * unit.
 */
static uint64_t count_since(const struct stream *st, const struct collector_counts *now)
{
	return st->remainder + now->event_count - st->flushed.event_count;
}

int64_t stream_not_delivered(const struct stream *st, const struct event *event,
			     uint64_t period, const struct collector_counts *now)
{
	const uint64_t came = now->received - st->flushed.received + now->elsewhere -
			      st->flushed.elsewhere;

	if (event->record == EVENT_RECORDS_SPE) /* SPE has no count */
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
		    account_nr_lost(a); /* in a flush, stored + lost = received */
	a->not_delivered += f->not_delivered;
	st->remainder = count_since(st, now) % f->desc.mean_period;
	st->flushed = *now;
}
