/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sampler.h - the session's interface to a stream of samples
 *
 * Events (and ticks), stacks and windows are samplers. Each has an event that triggers
 * its samples, reads them, keeps a tally of those that were attributed, and adds the
 * tally to flushes. The session walks the list of samplers, session_samplers. To add a
 * sampler, write one file and add one line to this list.
 */
#ifndef CPI_DAEMON_SAMPLER_H
#define CPI_DAEMON_SAMPLER_H

#include "daemon/collect/collector.h"
#include "daemon/store/outbox.h"
#include "db/profile/stream_account.h"

struct session;
struct sampler;

/*
 * open_late, late_cpus, stopped, wait_ms, run, oldest_ns, is_half_full, cost, work_ns
 * and gives_way may be NULL.
 */
struct sampler_ops {
	const char *name; /* the status has "NAME off" if it is not open */
	/*
	 * Starts it, if it was asked for and is possible here; else *out stays NULL.
	 * Returns 0, or -errno (logged), and then the session cannot go on.
	 */
	int (*open)(struct session *s, struct sampler **out);
	/*
	 * If open() left the source NULL, this is called again and again while the
	 * session runs. Returns 0 when the source is open, and -EAGAIN until then.
	 * After another error (logged) the session goes on without this sampler.
	 */
	int (*open_late)(struct sampler *p);
	/* CPUs came or went before open_late() has succeeded. Returns 0 or -errno. */
	int (*late_cpus)(struct sampler *p, const struct cpus *cpus);
	/* Frees it; its source is closed already. */
	void (*close)(struct sampler *p);
	/* Called when its source was stopped: reads the remaining samples. */
	void (*stopped)(struct sampler *p);

	/* The ms within which its source must be drained; -1: at the next sweep. */
	int (*wait_ms)(struct sampler *p);
	/* Does other work that is due; returns the ms until the next call, or -1. */
	int (*run)(struct sampler *p);

	/*
	 * The time of the oldest sample that is not attributed yet. Until it is, the
	 * process map must keep its process.
	 */
	uint64_t (*oldest_ns)(const struct sampler *p);
	void (*mark_images)(const struct sampler *p);
	size_t (*memory)(const struct sampler *p); /* of its tally */
	bool (*is_half_full)(const struct sampler *p);
	void (*drop)(struct sampler *p); /* its tally becomes a loss, no_space */

	/*
	 * Makes f point to the sampler's tally and counts, which still belong to the
	 * sampler. Returns 0 or -ENOMEM. Call committed() when the outbox has taken f.
	 */
	int (*describe)(struct sampler *p, struct outbox_flush *f);
	void (*committed)(struct sampler *p, const struct outbox_flush *f);

	double (*cost)(const struct sampler *p); /* share of each busy CPU's time */
	/*
	 * The CPU time of its work so far outside of interrupts; *helper_ns is the part
	 * of it that a helper took.
	 */
	uint64_t (*work_ns)(const struct sampler *p, uint64_t *helper_ns);
	/* Whether its rate gives way before that of events (budget.h, I4). */
	bool (*gives_way)(const struct sampler *p);
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

/* In the order of opening; they are closed in the opposite order. */
#define NR_SAMPLERS 3
extern const struct sampler_ops *const session_samplers[NR_SAMPLERS];

/* What the next flush needs to know about a stream. */
struct stream {
	struct collector_counts flushed; /* at the last flush */
	/*
	 * The part of the event's count that was less than a whole period at the last
	 * flush. The next flush adds it.
	 */
	uint64_t remainder;
	struct stream_account account; /* since it was opened, up to the last flush */
};

/*
 * Returns the number of samples that are missing since the last flush, compared with
 * the event's own count. Negative if more samples came.
 */
int64_t stream_not_delivered(const struct stream *st, const struct event *event,
			     uint64_t period, const struct collector_counts *now);

/* Returns the stream's description and its counts since the last flush. */
struct flush_stream stream_describe(const struct stream *st, const struct event *event,
				    const char *source, uint64_t period,
				    const struct collector_counts *now);

/*
 * Call when the outbox has taken f and the losses `lost`. The next flush then counts
 * from the counts `now`.
 */
void stream_commit(struct stream *st, const struct flush_stream *f,
		   const uint64_t lost[NR_LOSSES], const struct collector_counts *now);

#endif
