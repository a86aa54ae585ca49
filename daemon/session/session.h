/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session.h - one collection: collector, process map, attribution, flushes
 *
 * cpid runs one for weeks, cpi record for the length of a command. It is single
 * threaded: the owner polls session_fd() and calls session_run().
 *
 * I1  Per stream, at any moment: received = stored + Σ losses + in memory. Unknown
 *     samples are among the losses (enum loss), and are not counted as stored.
 * I2  Memory is bounded by the configuration's limits, whatever is sampled.
 */
#ifndef CPI_DAEMON_SESSION_H
#define CPI_DAEMON_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/times.h"
#include "daemon/os/heartbeat.h"
#include "daemon/windows/windowexclude.h"
#include "db/retain/retain.h"

#define SESSION_MAX_EVENTS 32

enum session_walk {
	SESSION_STACKS_OFF,
	SESSION_STACKS_FP,    /* the kernel follows frame pointers */
	SESSION_STACKS_DWARF, /* cpi-unwind follows unwind tables */
};

/* Whether SESSION_STACKS_DWARF is possible here. */
bool session_can_unwind(void);

struct session_stacks_config {
	enum session_walk walk; /* whether call stacks are sampled, and how */
	double hz;              /* stacks per second and CPU; 0: the default */
	uint32_t copy;          /* bytes of a stack that are copied */
};

struct session_windows_config {
	double hz;      /* windows per second and CPU; 0: none */
	bool by_budget; /* later the budget may lower the rate (session_windows.c) */
	uint64_t bytes; /* of shared memory for windows and their tables; 0: usual */
	const char *exclude[WINDOWEXCLUDE_MAX]; /* windowexclude.h */
	int nr_excluded;
	/*
	 * windows start this long after the session; with a target, when the target has
	 * used so much CPU time. 0: together with the session
	 */
	uint64_t after_ns;
	bool is_patient;  /* a thread of low priority loads their BPF program */
	bool with_values; /* also keep values of operands */
	bool by_context;  /* also keep windows by context, which takes much memory */
};

struct session_config {
	const char *db_path;
	/* the closed session leaves one file, without WAL (db_close_whole()) */
	bool one_file;
	const char *collector;                  /* "auto" or a collector's name */
	const char *events[SESSION_MAX_EVENTS]; /* "cycles", "page-faults@100", … */
	int nr_events; /* 0: cycles, or cpu-clock if there is no PMU */
	/* if cpu-clock is sampled by default and hz is 0: also sample ticks */
	bool ticks;
	double hz; /* samples per second and CPU; 0: from budget */
	struct session_stacks_config stacks;
	struct session_windows_config windows;
	double budget;     /* share of all CPUs' time; 0.005 is 0.5 % */
	uint64_t sweep_ns; /* between sweeps; six times this on a quiet machine */
	uint64_t flush_ns; /* between flushes to the database */
	/*
	 * length of an epoch, aligned to UTC; 0: a single epoch. If it is less than an
	 * hour, an epoch with a label ends with the hour instead. session_new_epoch()
	 * may end any epoch earlier
	 */
	uint64_t epoch_ns;
	uint64_t check_ns;       /* between checks of the cost of sampling */
	uint64_t max_memory;     /* limit of data that wait to be stored, in bytes */
	uint64_t capture_bytes;  /* limit of captures in the database; 0: no captures */
	uint64_t capture_end_ns; /* how long the session's end waits for captures */
	/*
	 * 1 << kind, for each kind of context to keep profiles by
	 * (db/profile/context.h)
	 */
	unsigned int by;
	/*
	 * profiles by process are kept only for commands that match this pattern; NULL:
	 * for all commands
	 */
	const char *by_process;
	/* 0: the whole system; else this process, with its threads and children */
	pid_t target;
	bool enable_on_exec; /* with target: start when it calls exec */
	const char *label;   /* label of the first epoch; may be NULL */
	int raw_fd; /* file to which all samples are also written (raw.h); -1: none */

	struct retain_policy retain; /* all 0: nothing is removed */
	/* socket of the loader hook, libcpi-audit.so (announce.h); NULL: none */
	const char *announce_path;
	/* gets the names of slow steps; not owned; may be NULL */
	struct heartbeat *heartbeat;
	const struct clock *clock; /* decides when work is due; not owned */
};

/* The limits of a requested rate. */
#define SESSION_MIN_HZ 1e-3
#define SESSION_MAX_HZ 1e6

#define SESSION_STACKS_HZ       49.0 /* the default rate of call stacks */
#define SESSION_STACKS_DWARF_HZ 19.0
#define SESSION_STACKS_MAX_HZ   10000.0
/* bytes; the kernel copies only the used part of a stack */
#define SESSION_STACKS_COPY     61440
#define SESSION_STACKS_MIN_COPY 1024
#define SESSION_STACKS_MAX_COPY 65000

#define SESSION_WINDOWS_HZ     50.0
#define SESSION_WINDOWS_MAX_HZ 1000.0

/* The defaults that cpid(8) documents. */
struct session_config session_config_default(void);

struct session;

/*
 * Returns 0 if this process may sample the whole system; otherwise -errno. -EXDEV means
 * that it is not in the machine's initial PID namespace.
 */
int session_system_access(void);

/*
 * Opens database and collector and starts sampling. A failure is logged, with a remedy.
 * Returns 0, -errno or -CPI_E….
 */
int session_open(const struct session_config *cfg, struct session **out);

/*
 * Starts retention with the configured policy. Call it after privileges were dropped.
 * Returns 0, -errno or -CPI_E… (logged).
 */
int session_retain(struct session *s);

/* Readable when session_run() has something to do; owned by the session. */
int session_fd(const struct session *s);

/*
 * Does all work that is due: drains, attributes, sweeps, flushes, begins epochs.
 * Returns the number of milliseconds within which it must be called again.
 */
int session_run(struct session *s);

/*
 * Sweeps all CPUs, attributes and stores. Returns 0; on -errno the samples stay in
 * memory.
 */
int session_flush(struct session *s);

/* session_flush(), then begins a new epoch; label may be NULL or "". */
int session_new_epoch(struct session *s, const char *label);

/*
 * Stores a mark at the current time (store_mark()), and sets *at_ns to this time.
 * Returns 0 if it is stored; -EINPROGRESS if it waits in memory; -EIO if the database
 * can never store it; -ENOBUFS or -ENOMEM if it was not accepted.
 */
int session_mark(struct session *s, const char *text, uint64_t *at_ns);

/*
 * Takes the name of a container; the next flush stores it. id and name must be as
 * struct store_container requires. Returns 0, or as outbox_add_container().
 */
int session_container(struct session *s, const char *id, const char *name);

/*
 * Sweeps, and then takes hz samples per second and CPU, as a new stream. The rate is
 * then fixed; hz 0 lets the budget change it again. Returns 0, -EINVAL or another
 * -errno.
 */
int session_set_rate(struct session *s, double hz);

/*
 * Applies the settings of cfg that can change while the session runs: rate, budget, the
 * intervals of sweeps, flushes and checks, the length of the next epoch, the limit of
 * memory, and the retention policy. Ignores the rest of cfg. Returns 0, or the first
 * -errno or -CPI_E… (logged); the other settings were still applied.
 */
int session_reconfigure(struct session *s, const struct session_config *cfg);

struct registration;

/* Calls registration_take() (registration.h) with the session's process map. */
int session_register(struct session *s, const struct registration *r, struct buf *text);

/* Appends lines "name value" (cpid(8), "STATUS") for the control socket. */
void session_status(struct session *s, struct buf *out);

/*
 * Stops sampling, stores the remaining samples, ends the run, and frees s. Accepts
 * NULL. Returns 0, or the error that caused samples to be lost.
 */
int session_close(struct session *s);

#endif
