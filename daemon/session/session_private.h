/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_private.h - declarations that the session's files share
 *
 * README.md lists the files of a session and what each does.
 */
#ifndef CPI_DAEMON_SESSION_PRIVATE_H
#define CPI_DAEMON_SESSION_PRIVATE_H

#include "daemon/attribute/attribute.h"
#include "daemon/collect/collector.h"
#include "daemon/mappings/announce.h"
#include "daemon/mappings/newprogram.h"
#include "daemon/mappings/rescan.h"
#include "daemon/mappings/sideband.h"
#include "daemon/os/platform.h"
#include "daemon/procmap/kerneltext.h"
#include "daemon/session/alert.h"
#include "daemon/session/budget.h"
#include "daemon/session/sampler.h"
#include "daemon/session/session.h"
#include "daemon/store/capture.h"
#include "daemon/store/outbox.h"
#include "daemon/store/retention.h"
#include "daemon/store/saver.h"
#include "daemon/store/wallclock.h"
#include "db/store/store.h"

/* The cost of sampling, measured by session_budget.c. */
struct session_cost {
	uint64_t next_sample_ns, next_check_ns; /* monotonic */
	/* at the last check */
	uint64_t checked_ns, cpu_ns, received[SESSION_MAX_EVENTS];
	struct budget_cost now;
	uint64_t work_ns; /* for windows, outside of interrupts */
	double work;      /* its share, a moving average; now.windows contains it */
	/* the daemon's time for mapping records since the last check */
	uint64_t mapping_ns;
	/* share of all CPUs' time for mapping records, between the last two checks */
	double mappings;
	/*
	 * the share for mapping records and reads of files that does not count for the
	 * budget, because one user's processes cause too many
	 */
	double uncounted;
	double daemon_ns; /* the daemon's time per sample; 0: there were no samples */
	uint64_t nr_checks, nr_exceeded, nr_changes;
	bool warned;
};

/* Durations of flushes, from the sweep to the commit. */
struct flush_times {
	uint64_t begun_ns; /* 0: no flush is in progress */
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
	double max_hz;       /* the highest rate that the budget may choose */
	double interrupt_ns; /* CPU time of a sample; 0: not measured */
	struct stream stream[SESSION_MAX_EVENTS];
	uint64_t ring_lost[SESSION_MAX_EVENTS],
		table_lost[SESSION_MAX_EVENTS]; /* already in the tally */
	/* since the session was opened, up to the last flush */
	uint64_t idle[SESSION_MAX_EVENTS]; /* stored samples of idle CPUs */
	uint64_t unreadable;               /* samples with CPI_OUTCOME_UNREADABLE */
	uint64_t cut_stacks; /* branch stacks of which some branches were left out */
	uint64_t crowded;    /* samples in contexts beyond TALLY_CONTEXTS */
	/* for the flush that is being made */
	struct flush_stream described[SESSION_MAX_EVENTS];
	struct collector_counts now[SESSION_MAX_EVENTS];
	struct tally *next; /* the tally for the next flush; or NULL */
};

/* The state of storing, and of its failures. */
struct session_storing {
	int err; /* result of the last attempt to store */
	uint64_t retry_ns, last_real_ns;
	struct flush_times times;
	size_t empty_bytes;  /* memory of empty tallies */
	uint64_t failing_ns; /* time of the first failure; 0: storing works */
	uint64_t nr_failed;  /* failed attempts since then */
	uint64_t backoff_ns; /* wait until the next one, because of a lock */
	pid_t blocked_by;    /* holder of the lock; 0: not known */
	bool is_said;        /* the failure was logged */
	uint64_t said_ns;    /* when it was last logged */
};

/* The repair of a database that is no longer at its path, by session_mend.c. */
struct session_mend {
	bool active;           /* a repair is under way, and samples wait */
	enum place_state seen; /* the state that was logged */
	char *copy;            /* path of the copy */
	struct saver *saver;   /* NULL: no copy is being made */
	bool has_copy;         /* the copy is complete */
	bool is_back;          /* the copy was moved to the path, and is this file: */
	struct stat back;
	bool gave_up;      /* no copy was possible: stored samples are lost */
	bool retains;      /* retention must begin again */
	int err;           /* of the last copy */
	uint64_t retry_ns; /* time of the next attempt */
	bool closing;      /* the session ends: this is the last attempt */
	uint64_t nr;       /* number of repairs */
	nlink_t links;     /* number of names (hard links) of the database's file */
	bool lost_stored;  /* stored samples are lost, so the session's end fails */
};

/* When work is due; monotonic, except real_ns. */
struct session_times {
	uint64_t begun_ns;
	uint64_t next_sweep_ns, next_flush_ns, next_random_ns;
	uint64_t last_sweep_ns;
	/* by the kernel's clock, as samples are */
	uint64_t swept_ns;     /* all samples in the tables are newer */
	uint64_t gave_back_ns; /* when freed memory was last returned */
	uint64_t mapped_ns;    /* mapping records have been read up to then */
	bool gap;              /* mapping records were lost; not a gap in sampling */
	bool quiet;            /* the collector had no samples in the last cycle */
	uint64_t flush_from_ns, epoch_end_real_ns;
	uint64_t flushed_real_ns; /* the end of the last flush; 0: there was none */
	/* length of the current epoch; 0: it ends with the session */
	uint64_t epoch_ns;
};

struct session {
	struct session_config cfg;
	struct platform platform;
	struct db *db;
	struct store *store;
	struct retention *retention; /* NULL: everything is kept */
	int epoll_fd;
	struct wallclock wall; /* for all stored times */

	struct cpus cpus;
	int cpus_missing; /* -errno: some CPUs could not be opened; 0: all are open */
	/* threads of a target that was already running (perftarget.h) */
	pid_t *threads;
	int nr_threads;
	struct timed_child *timed_child;
	struct images *images;
	struct procmap *procmap;
	struct rescan rescan;
	struct kernel *kernel;
	struct codecache *codecache;
	struct cgroups *cgroups;    /* NULL: contexts by cgroup are not kept */
	struct threadmap threadmap; /* empty unless profiles are kept by thread */
	struct sideband *sideband;
	struct newprogram *newprogram; /* NULL: no notices of new programs */
	struct alert alert;
	struct announce *announce; /* NULL: none */
	struct attribution attribution;
	struct outbox *outbox;
	struct capture *capture;       /* NULL: nothing is captured */
	struct kerneltext *kerneltext; /* NULL: the kernel's code is not captured */

	struct session_events events;
	struct sampler *sampler[NR_SAMPLERS]; /* open samplers */
	int nr_samplers;
	struct sampler *late; /* a sampler that opens later; NULL: none */
	struct late_newprogram *late_newprogram; /* NULL: it is not to be opened */
	struct budget budget;
	struct session_cost cost;
	struct session_times times;
	struct session_storing storing;
	struct session_mend mend;
};

#define for_each_sampler(s, p)                                                       \
	for (int p##_i = 0; p##_i < (s)->nr_samplers && ((p) = (s)->sampler[p##_i]); \
	     p##_i++)

/* CLOCK_MONOTONIC of the session's clock, for due times and durations. */
static inline uint64_t session_now(const struct session *s)
{
	return clock_mono_ns(s->cfg.clock);
}

/*
 * Sets the rate to session_rate_limit(hz), and computes the periods from this rate.
 */
void session_take_rate(struct session *s, double hz);

/*
 * What opens while the session already samples (session_late.c). run() opens what can
 * be opened now; wait_ms() is the time until the next call, -1 if nothing is left.
 */
void session_late_begin(struct session *s);
void session_late_run(struct session *s);
int session_late_wait_ms(const struct session *s);
void session_late_end(struct session *s);

/* Returns freed memory to the system. */
void session_give_back_memory(struct session *s);

/* Returns hz, or the kernel's limit if that is lower. */
double session_rate_limit(double hz);

/* Sweeps, and then samples at the rate hz, as a new stream. Returns 0 or -errno. */
int session_change_rate(struct session *s, double hz);

/*
 * Starts to measure the session's cost. From then on the rate is adjusted to this cost.
 */
void session_budget_begin(struct session *s);

/* Whether samples give way before windows (budget.h, I4). */
bool session_samples_first(const struct session *s);

/* The rate of windows changed by this factor: expects their cost to do so, too. */
void session_budget_scale_windows(struct session *s, double factor);

/* Does measurements and checks that are due. The daemon does not wake up for these. */
void session_budget_run(struct session *s);

/* Return the CPU time of this process, and of this thread. */
uint64_t session_cpu_ns(void);
uint64_t session_thread_ns(void);

/* Charges the thread's time since since_ns (session_thread_ns()) to mapping records. */
void session_count_mappings(struct session *s, uint64_t since_ns);

/* Chooses the event that triggers stacks and windows. Returns 0 or -errno. */
int session_choose_clock(const struct session *s, struct event *event);

/*
 * Puts the beginning of an epoch into the outbox, and notes its end. Returns 0 or
 * -ENOMEM.
 */
int session_begin_epoch(struct session *s, uint32_t uncertainty_ms, const char *label);

/*
 * Returns the number of samples that are still in memory: in a table, a tally or the
 * outbox.
 */
uint64_t session_nr_pending(const struct session *s);

/*
 * If the collector tells incarnations of a process apart by exec ids (collector.h),
 * asks it for the exec id of each process.
 */
void session_ask_exec_ids(struct session *s);

/* Reads the mapping records up to now. */
void session_read_mappings(struct session *s);

/*
 * Samples these CPUs, and reads their mapping events. Returns 0, or the first -errno;
 * then the CPUs that could be opened are sampled, and the next sweep tries the others
 * again.
 */
int session_set_cpus(struct session *s, const struct cpus *cpus);

/*
 * Returns the target of the session's perf events: the system, a command, or a process.
 */
struct perftarget session_target(const struct session *s);

/* Logs why perf refused something, with a remedy. */
void session_log_refusal(const char *what, int err);

/* Parses the configured events, or the default, cycles. 0 or -errno. */
int session_parse_events(struct session *s);

/*
 * Chooses cpu-clock if no event is configured and there is no counter of cycles. Call
 * it before the rate is chosen: to choose the rate, the cost of the event is measured.
 * Returns 0 or -errno.
 */
int session_choose_events(struct session *s);

/* Opens the configured collector, or the first that works. 0 or -errno. */
int session_start_collector(struct session *s);

/*
 * Reads all samples and empties the tables. All samples that come later are newer than
 * the beginning of this sweep.
 */
void session_sweep(struct session *s);

/*
 * session_post() sweeps, and moves the tallies into the outbox; session_store() stores
 * the outbox. Both return 0 or -errno; flushes that could not be stored wait.
 */
int session_post(struct session *s);
int session_store(struct session *s);

/*
 * session_post() before a sampling period changes. If storing fails and nothing was
 * posted, returns the error of storing. Then the period must not change: samples that
 * were taken with the present period still have to be described by a later flush.
 */
int session_end_streams(struct session *s);

/* session_store(), repeated for up to max_ns while another process holds a lock. */
int session_store_patiently(struct session *s, uint64_t max_ns);

/*
 * The same as session_flush() and session_new_epoch(), for calls at the due time
 * instead of on request. They wait for a lock for about 60 ms. If an attempt failed
 * because of a lock, they do not try again before the next attempt is due.
 */
int session_flush_due(struct session *s);
int session_new_epoch_due(struct session *s, const char *label);

/* Whether storing fails for another reason than a short lock. */
bool session_cannot_store(const struct session *s);

/*
 * Bytes of all data that wait to be stored (memory_bytes in the status), and the bytes
 * that may be added. Call session_begin_memory() with empty tallies.
 */
size_t session_memory(const struct session *s);
size_t session_memory_left(const struct session *s);
void session_begin_memory(struct session *s);

/* Whether so many samples were attributed that a flush is due. */
bool session_is_half_full(const struct session *s);

/* Sets the tallies' limits; while storing fails, loses samples beyond them. */
void session_bound_memory(struct session *s);

/*
 * Checks that the database is at its path. If it is not, does one step of the repair
 * per call. Returns 0 if it is there, -EINPROGRESS while it is being copied, or the
 * error that prevents the repair.
 */
int session_mend(struct session *s);

/* After session_mend() failed: returns how long to wait before the next call. */
uint64_t session_mend_wait_ns(const struct session *s);

/*
 * Call at the session's end if session_mend() failed. Stores the waiting flushes into
 * the file that is still open, ends the run in it, and saves a copy of it beside the
 * path. Returns 0, or the error because of which the flushes are lost.
 */
int session_mend_last(struct session *s);
void session_mend_free(struct session *s);
void session_mend_status(const struct session *s, struct buf *out);

void session_free(struct session *s);

#endif
