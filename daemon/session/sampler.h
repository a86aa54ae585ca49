/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sampler.h - a stream of samples, as the session knows it
 *
 * Events (and ticks), stacks and windows are samplers: each has a clock, takes in what
 * came, keeps a tally of what was attributed, and hands that to flushes. The session
 * walks their list, session_samplers. A new one is one file and one line there.
 */
#ifndef CPI_DAEMON_SAMPLER_H
#define CPI_DAEMON_SAMPLER_H

#include "daemon/collect/collector.h"
#include "daemon/store/outbox.h"
#include "db/profile/stream_account.h"

struct session;
struct sampler;

/* stopped, wait_ms, run, oldest_ns, is_half_full and cost may be NULL. */
struct sampler_ops {
	const char *name; /* status says NAME off where it is not open */
	/*
	 * Starts it, if it was asked for and is possible here; else *out stays NULL.
	 * 0 or -errno, logged: then the session cannot go on.
	 */
	int (*open)(struct session *s, struct sampler **out);
	/* Frees it; its source is closed already. */
	void (*close)(struct sampler *p);
	/* Its source was stopped: takes in what still waits. */
	void (*stopped)(struct sampler *p);

	/* Its source wants to be drained within so many ms. */
	int (*wait_ms)(struct sampler *p);
	/* Does what else there is to do; returns in how many ms again, or -1. */
	int (*run)(struct sampler *p);

	/* The time of the oldest sample that waits: its process is still needed. */
	uint64_t (*oldest_ns)(const struct sampler *p);
	void (*mark_images)(const struct sampler *p);
	size_t (*memory)(const struct sampler *p); /* of its tally */
	bool (*is_half_full)(const struct sampler *p);
	void (*drop)(struct sampler *p); /* its tally becomes a loss, no_space */

	/*
	 * Puts its tally and counts up to now into a flush, which stay its own. 0 or
	 * -ENOMEM. When the outbox has taken them, committed() is due.
	 */
	int (*describe)(struct sampler *p, struct outbox_flush *f);
	void (*committed)(struct sampler *p, const struct outbox_flush *f);

	double (*cost)(const struct sampler *p); /* share of a CPU's time */
	void (*status)(struct sampler *p, struct buf *out);
};

struct sampler {
	const struct sampler_ops *ops;
	struct session *session;
	const struct source_ops *from;
	struct collector *source;
};

extern const struct sampler_ops sampler_events;  /* session_events.c */
extern const struct sampler_ops sampler_stacks;  /* session_stacks.c */
extern const struct sampler_ops sampler_windows; /* session_windows.c */

/* In this order; closed in the opposite one. */
#define NR_SAMPLERS 3
extern const struct sampler_ops *const session_samplers[NR_SAMPLERS];

/* One stream, as flushes tell of it. */
struct stream {
	struct collector_counts flushed; /* at the last flush */
	uint64_t remainder; /* of the event's count then: less than a period */
	struct stream_account account; /* since it was opened, up to the last flush */
};

/*
 * How many samples should have come since the last flush, by the event's own count, and
 * did not. Negative when more came.
 */
int64_t stream_not_delivered(const struct stream *st, const struct event *event,
			     uint64_t period, const struct collector_counts *now);

/* What came since the last flush. */
struct flush_stream stream_describe(const struct stream *st, const struct event *event,
				    const char *source, uint64_t period,
				    const struct collector_counts *now);

/* The outbox has taken f, with these losses: the next flush starts from now. */
void stream_commit(struct stream *st, const struct flush_stream *f,
		   const uint64_t lost[NR_LOSSES], const struct collector_counts *now);

#endif
