/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_private.h - what session's own files share
 *
 * session_open.c and session_collector.c make one, session.c runs and closes it,
 * session_flush.c stores; session_events.c, session_stacks.c and session_windows.c are
 * its samplers; session_budget.c keeps the rate within the budget, session_status.c
 * tells about it.
 */
#ifndef CPI_DAEMON_SESSION_PRIVATE_H
#define CPI_DAEMON_SESSION_PRIVATE_H

#include "daemon/attribute/attribute.h"
#include "daemon/collect/collector.h"
#include "daemon/mappings/announce.h"
#include "daemon/mappings/rescan.h"
#include "daemon/mappings/sideband.h"
#include "daemon/os/platform.h"
#include "daemon/procmap/kerneltext.h"
#include "daemon/session/budget.h"
#include "daemon/session/sampler.h"
#include "daemon/session/session.h"
#include "daemon/store/capture.h"
#include "daemon/store/outbox.h"
#include "daemon/store/retention.h"
#include "daemon/store/saver.h"
#include "daemon/store/wallclock.h"
#include "db/store/store.h"

/* What sampling costs, by session_budget.c. */
struct session_cost {
	uint64_t next_sample_ns, next_check_ns; /* monotonic */
	/* at the last check */
	uint64_t checked_ns, cpu_ns, received[SESSION_MAX_EVENTS];
	struct budget_cost now;
	uint64_t mapping_ns; /* of the daemon's time, since then, for mapping records */
	double mappings;  /* share of all CPUs' time that these took before, and ... */
	double uncounted; /* ... what of it does not count for the budget */
	double daemon_ns; /* of the daemon's time, by sample; 0: there were none */
	uint64_t nr_checks, nr_exceeded, nr_changes;
	bool warned;
};

/* How long flushes took, from the sweep to what is in the database. */
struct flush_times {
	uint64_t begun_ns; /* 0: none is under way */
	uint64_t nr, last_ns, max_ns, sum_ns;
};

/* The streams of the collector's events, by session_events.c. */
struct session_events {
	struct sampler sampler;
	const struct collector_ops *ops;
	struct collector *collector;
	struct event event[SESSION_MAX_EVENTS];
	uint64_t periods[SESSION_MAX_EVENTS];
	int nr;
	double hz;
	double max_hz;       /* the budget's rate goes no higher */
	double interrupt_ns; /* what a sample costs its CPU; 0: not measured */
	struct stream stream[SESSION_MAX_EVENTS];
	uint64_t ring_lost[SESSION_MAX_EVENTS],
		table_lost[SESSION_MAX_EVENTS]; /* noted */
	/* since the session was opened, up to the last flush */
	uint64_t idle[SESSION_MAX_EVENTS]; /* of those stored, of idle CPUs */
	uint64_t unreadable;               /* samples whose outcome could not be told */
	uint64_t cut_stacks;               /* of branches */
	uint64_t crowded;                  /* in contexts beyond TALLY_CONTEXTS */
	/* of the flush that is made */
	struct flush_stream described[SESSION_MAX_EVENTS];
	struct collector_counts now[SESSION_MAX_EVENTS];
	struct tally *next; /* what the next flush begins with; or NULL */
};

/* Storing, and since when it fails. */
struct session_storing {
	int err; /* of the last attempt */
	uint64_t retry_ns, last_real_ns;
	struct flush_times times;
	size_t empty_bytes;  /* of tallies without anything in them */
	uint64_t failing_ns; /* 0: it does not */
	uint64_t nr_failed;  /* tries */
	uint64_t backoff_ns; /* until the next one, for a lock */
	pid_t blocked_by;    /* who has that; 0: not known */
	bool is_said;
	uint64_t said_ns; /* the last time that it was */
};

/* A database that is not at its path any more, by session_mend.c. */
struct session_mend {
	bool active;           /* since then samples wait */
	enum place_state seen; /* that was said */
	char *copy;            /* where it is copied to */
	struct saver *saver;   /* NULL: none is at work */
	bool has_copy;         /* it is there, whole */
	bool is_back;          /* and was moved to the path, where it is: */
	struct stat back;
	bool gave_up;      /* what was stored is lost */
	bool retains;      /* retention is to begin again */
	int err;           /* of the last copy */
	uint64_t retry_ns; /* then comes the next one */
	bool closing;      /* the session ends: there is no later */
	uint64_t nr;       /* how often it happened */
	nlink_t links;     /* names of the database's file */
	bool lost_stored;  /* what was stored is lost, so the session's end fails */
};

/* When what is due; monotonic, but for real_ns. */
struct session_times {
	uint64_t begun_ns;
	uint64_t next_sweep_ns, next_flush_ns, next_random_ns;
	uint64_t last_sweep_ns, alert_until_ns;
	/* by the kernel's clock, as samples are */
	uint64_t swept_ns;  /* nothing older is in a table */
	uint64_t mapped_ns; /* mapping events have been read up to then */
	bool gap;           /* ... and some of them were lost */
	bool quiet;         /* the collector was, after the last round */
	uint64_t flush_from_ns, epoch_end_real_ns;
	uint64_t epoch_ns; /* of the present epoch; 0: it ends with the session */
};

struct session {
	struct session_config cfg;
	struct platform platform;
	struct db *db;
	struct store *store;
	struct retention *retention; /* NULL: everything is kept */
	int epoll_fd;
	struct wallclock wall; /* what is stored goes by it */

	struct cpus cpus;
	int cpus_missing; /* -errno: some of them could not be opened */
	pid_t *threads;   /* of the target, where it has been running (perftarget.h) */
	int nr_threads;
	struct timed_child *timed_child;
	struct images *images;
	struct procmap *procmap;
	struct rescan rescan;
	struct kernel *kernel;
	struct codecache *codecache;
	struct cgroups *cgroups; /* NULL: not kept */
	struct sideband *sideband;
	struct announce *announce; /* NULL: none */
	struct attribution attribution;
	struct outbox *outbox;
	struct capture *capture;       /* NULL: nothing is captured */
	struct kerneltext *kerneltext; /* NULL: nothing of the kernel's code is */

	struct session_events events;
	struct sampler *sampler[NR_SAMPLERS]; /* those that are open */
	int nr_samplers;
	struct budget budget;
	struct session_cost cost;
	struct session_times times;
	struct session_storing storing;
	struct session_mend mend;
};

#define for_each_sampler(s, p)                                                       \
	for (int p##_i = 0; p##_i < (s)->nr_samplers && ((p) = (s)->sampler[p##_i]); \
	     p##_i++)

/* CLOCK_MONOTONIC by the session's clock: what is due, and what took how long. */
static inline uint64_t session_now(const struct session *s)
{
	return clock_mono_ns(s->cfg.clock);
}

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

/* CPU time of this process, and of this thread. */
uint64_t session_cpu_ns(void);
uint64_t session_thread_ns(void);

/* What was done since then, by session_thread_ns(), was done because of mappings. */
void session_count_mappings(struct session *s, uint64_t since_ns);

/* The clock that what is sampled beside the samples goes by. 0 or -errno. */
int session_choose_clock(const struct session *s, struct event *event);

/* Puts the beginning of an epoch into the outbox, and notes its end. 0 or -ENOMEM. */
int session_begin_epoch(struct session *s, uint32_t uncertainty_ms, const char *label);

/* What was received and is in memory still: in a table, the tally or the outbox. */
uint64_t session_nr_pending(const struct session *s);

/* Asks the collector for the exec ids of all processes, if it goes by them. */
void session_ask_exec_ids(struct session *s);

/* Reads the mapping events up to now. */
void session_read_mappings(struct session *s);

/*
 * Samples these CPUs, and reads their mapping events. 0 or the first -errno; then the
 * CPUs that could be opened are sampled, and the next sweep tries the others again.
 */
int session_set_cpus(struct session *s, const struct cpus *cpus);

/* Whom perf events are of. */
struct perftarget session_target(const struct session *s);

/* Says why perf refused what, and what helps. */
void session_log_refusal(const char *what, int err);

/* The events asked for, or cycles. 0 or -errno. */
int session_parse_events(struct session *s);

/*
 * Without an event asked for, and without a counter of cycles, cpu-clock. It is
 * settled before the rate is chosen, for that measures the event's cost. 0 or -errno.
 */
int session_choose_events(struct session *s);

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

/* As session_store(), again and again for so long while another one has a lock. */
int session_store_patiently(struct session *s, uint64_t max_ns);

/*
 * As session_flush() and session_new_epoch(), for which nobody asked: a lock is waited
 * for some 60 ms, and not before it is time to try again.
 */
int session_flush_due(struct session *s);
int session_new_epoch_due(struct session *s, const char *label);

/* Storing fails, and not only for a lock of a moment. */
bool session_cannot_store(const struct session *s);

/*
 * Bytes of all that waits to be stored, what status calls memory_bytes, and how many
 * there may still be. session_begin_memory() is for empty tallies.
 */
size_t session_memory(const struct session *s);
size_t session_memory_left(const struct session *s);
void session_begin_memory(struct session *s);

/* So much was attributed that a flush is due. */
bool session_is_half_full(const struct session *s);

/* Bounds what is to come; while storing fails, loses what is too much. */
void session_bound_memory(struct session *s);

/*
 * Looks whether the database is at its path, and mends it, a step at each call. 0: it
 * is; -EINPROGRESS: it is being copied; or why it cannot be written to for now.
 */
int session_mend(struct session *s);

/* When a call makes sense again, after one that failed. */
uint64_t session_mend_wait_ns(const struct session *s);

/*
 * At the session's end, when that failed: stores what waits into the open file, ends
 * the run there, and saves all of it beside the path. 0, or why that is lost.
 */
int session_mend_last(struct session *s);
void session_mend_free(struct session *s);
void session_mend_status(const struct session *s, struct buf *out);

void session_free(struct session *s);

#endif
