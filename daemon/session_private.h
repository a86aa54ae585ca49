/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_private.h - what session's own files share
 *
 * session_open.c and session_collector.c make one, session.c runs and closes it,
 * session_flush.c stores, session_stacks.c samples call stacks, session_windows.c
 * makes windows, session_budget.c keeps the rate within the budget, session_status.c
 * tells about it.
 */
#ifndef CPI_DAEMON_SESSION_PRIVATE_H
#define CPI_DAEMON_SESSION_PRIVATE_H

#include "daemon/anchors.h"
#include "daemon/announce.h"
#include "daemon/attribute.h"
#include "daemon/budget.h"
#include "daemon/capture.h"
#include "daemon/collector.h"
#include "daemon/keeper.h"
#include "daemon/outbox.h"
#include "daemon/platform.h"
#include "daemon/kerneltext.h"
#include "daemon/session.h"
#include "daemon/sideband.h"
#include "daemon/stacksampler.h"
#include "daemon/unwinding.h"
#include "daemon/windowsampler.h"
#include "db/store.h"

/* What sampling costs, by session_budget.c. */
struct session_cost {
	uint64_t next_sample_ns, next_check_ns; /* monotonic */
	/* at the last check */
	uint64_t checked_ns, cpu_ns, received[SESSION_MAX_EVENTS];
	struct budget_cost now;
	double daemon_ns; /* of the daemon's time, by sample; 0: there were none */
	uint64_t nr_measured, nr_checks, nr_exceeded, nr_changes;
	bool warned;
};

/* How long flushes took, from the sweep to what is in the database. */
struct flush_times {
	uint64_t begun_ns; /* 0: none is under way */
	uint64_t nr, last_ns, max_ns, sum_ns;
};

/* The stream of call stacks, by session_stacks.c. */
struct session_stacks {
	struct stacksampler *sampler; /* NULL: there is none */
	struct unwinding *unwinding;  /* NULL: the kernel walks the stacks */
	double hz;
	struct event event;
	uint64_t period;
	struct stacktally *next;         /* what the next flush begins with; or NULL */
	struct collector_counts flushed; /* at the last flush */
	uint64_t remainder;              /* of the event's count then */
	uint64_t stored, lost; /* since the session was opened, up to the last flush */
	uint64_t flushed_full, flushed_died; /* of those, by unwinding's names */
};

/* The stream of windows, by session_windows.c. */
struct session_windows {
	struct windowsampler *sampler; /* NULL: there is none */
	struct event event;
	uint64_t period;
	struct windowtally *tally;
	struct windowtally *next;         /* what the next flush begins with; or NULL */
	struct collector_counts flushed;  /* at the last flush */
	uint64_t remainder;               /* of the event's count then */
	uint64_t stored, lost[NR_LOSSES]; /* since the session was opened, up to then */
	uint64_t cut;                     /* of those that were stored */
};

struct session {
	struct session_config cfg;
	struct platform platform;
	struct db *db;
	struct store *store;
	struct keeper *keeper; /* NULL: everything is kept */
	int epoll_fd;

	struct cpus cpus;
	struct images *images;
	struct procmap *procmap;
	struct kernel *kernel;
	struct codecache *codecache;
	struct cgroups *cgroups; /* NULL: not kept */
	struct sideband *sideband;
	struct announce *announce; /* NULL: none */
	struct attribution attribution;
	struct session_stacks stacks;
	struct session_windows windows;
	struct anchors *anchors; /* NULL: there are none */
	struct outbox *outbox;
	struct capture *capture;       /* NULL: nothing is captured */
	struct kerneltext *kerneltext; /* NULL: nothing of the kernel's code is */

	const struct collector_ops *ops;
	struct collector *collector;
	struct event events[SESSION_MAX_EVENTS];
	uint64_t periods[SESSION_MAX_EVENTS];
	struct collector_counts flushed[SESSION_MAX_EVENTS]; /* at the last flush */
	uint64_t remainder[SESSION_MAX_EVENTS]; /* of the event's count then: less than
						   what a sample stands for */
	uint64_t ring_lost[SESSION_MAX_EVENTS],
		table_lost[SESSION_MAX_EVENTS]; /* noted */
	int nr_events;
	double hz;
	double max_hz;       /* the budget's rate goes no higher */
	double interrupt_ns; /* what a sample costs its CPU; 0: not measured */
	struct budget budget;
	struct session_cost cost;

	uint64_t begun_ns; /* monotonic, as all below but the real ones */
	uint64_t next_sweep_ns, next_flush_ns, next_random_ns, retry_ns;
	uint64_t swept_ns; /* nothing older is in a table */
	uint64_t alert_until_ns;
	uint64_t mapped_ns; /* mapping events have been read up to then */
	bool gap;           /* ... and some of them were lost */
	bool quiet;         /* the collector was, after the last round */
	uint64_t flush_from_ns, epoch_end_real_ns;
	uint64_t last_flush_real_ns;
	struct flush_times flush_times;
	/* since the session was opened, up to the last flush */
	uint64_t stored[SESSION_MAX_EVENTS], lost[SESSION_MAX_EVENTS][NR_LOSSES];
	int64_t not_delivered[SESSION_MAX_EVENTS];
	uint64_t idle[SESSION_MAX_EVENTS]; /* of those, of idle CPUs */
	uint64_t unreadable;               /* samples whose outcome could not be told */
	uint64_t cut_stacks;               /* of branches */
	uint64_t crowded;                  /* in contexts beyond TALLY_CONTEXTS */
	int store_err;                     /* of the last attempt */
};

/* Takes hz as the rate, or what the kernel's throttle leaves of it, and its periods. */
void session_take_rate(struct session *s, double hz);

/* hz, or what the kernel's throttle leaves of it. */
double session_rate_limit(double hz);

/* Sweeps, and samples at hz from then on: a new stream. 0 or -errno. */
int session_change_rate(struct session *s, double hz);

/* From here on the session's cost is known, and its rate follows it. */
void session_budget_begin(struct session *s);

/* Measures and decides what is due. Nothing of it is worth waking up for. */
void session_budget_run(struct session *s);

/* CPU time of this process. */
uint64_t session_cpu_ns(void);

/* The clock that what is sampled beside the samples goes by. 0 or -errno. */
int session_choose_clock(const struct session *s, struct event *event);

/* Starts what samples stacks, if it was asked for. 0 or -errno (logged). */
int session_start_stacks(struct session *s);

/*
 * The stream's tally and counts up to now, for outbox_flush: 0 or -ENOMEM. When the
 * outbox has them, session_took_stacks() is due.
 */
int session_describe_stacks(struct session *s, struct outbox_stacks *out);
void session_took_stacks(struct session *s, const struct outbox_stacks *taken);

/* No more of them: what was copied is unwound, or lost. */
void session_stop_stacks(struct session *s);

/* Share of a CPU's time that sampling stacks takes, but for this process's. */
double session_stacks_cost(const struct session *s);

void session_stacks_status(struct session *s, struct buf *out);

/* Starts what makes windows, if that was asked for and is possible. 0 or -ENOMEM. */
int session_start_windows(struct session *s);

/* As those of stacks. */
int session_describe_windows(struct session *s, struct outbox_windows *out);
void session_took_windows(struct session *s, const struct outbox_windows *taken);
double session_windows_cost(const struct session *s);
void session_windows_status(struct session *s, struct buf *out);
void session_close_windows(struct session *s);

/* Before the windows start, if they are asked for and it is possible. 0 or -ENOMEM. */
int session_start_anchors(struct session *s);

/* Ends and begins visits, as it is time to; or ends the one that there is. */
void session_run_anchors(struct session *s);
void session_end_visit(struct session *s);

double session_anchors_cost(const struct session *s);
void session_anchors_status(const struct session *s, struct buf *out);

/* Puts the beginning of an epoch into the outbox, and notes when it ends. 0, -ENOMEM.
 */
int session_begin_epoch(struct session *s, uint32_t uncertainty_ms, const char *label);

/*
 * How many samples the event's own count promised since the last flush, and did
 * not give; now is what the collector counts.
 */
int64_t session_not_delivered(const struct session *s, int event,
			      const struct collector_counts *now);

/* Samples of an event in the tally that found their CPU idle. */
uint64_t session_nr_idle(const struct session *s, const struct tally *t, int event);

/* What was received and is in memory still: in a table, the tally or the outbox. */
uint64_t session_nr_pending(const struct session *s);

/* Asks the collector for the exec ids of all processes, if it goes by them. */
void session_ask_exec_ids(struct session *s);

/* Reads the mapping events up to now. */
void session_read_mappings(struct session *s);

/* The process that is sampled; -1: all of them. */
pid_t session_target(const struct session *s);

/* Says why perf refused what, and what helps. */
void session_log_refusal(const char *what, int err);

/* The events asked for, or cycles. 0 or -errno. */
int session_parse_events(struct session *s);

/*
 * Without an event asked for, and without a counter of cycles, cpu-clock. It is
 * settled before the rate is chosen, for that measures the event's cost. 0 or -errno.
 */
int session_settle_events(struct session *s);

/* Opens the collector that was asked for, or the first that works. 0 or -errno. */
int session_start_collector(struct session *s);

/* Takes in all samples and empties the tables: none is older than now. */
void session_sweep(struct session *s);

/*
 * Sweeps, and moves what was attributed into the outbox; stores what is there. Both
 * return 0 or -errno; what could not be stored waits.
 */
int session_post(struct session *s);
int session_store(struct session *s);

void session_free(struct session *s);

#endif
