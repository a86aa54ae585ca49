/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session.h - one collection: collector, process map, attribution, flushes
 *
 * cpid runs one for weeks, cpi record for the length of a command. It is single
 * threaded: the owner polls session_fd() and calls session_run().
 *
 * I1  Per stream, at any moment: received = stored + Σ losses + in memory.
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
	uint64_t bytes; /* of shared memory for windows and their tables */
	const char *exclude[WINDOWEXCLUDE_MAX]; /* windowexclude.h */
	int nr_excluded;
	uint64_t after_ns; /* begin so long after the session; 0: with it */
	bool by_context;   /* kept by context, too: more than profiles by it take */
};

struct session_config {
	const char *db_path;
	bool one_file;                          /* is left of it (db_close_whole()) */
	const char *collector;                  /* "auto" or a collector's name */
	const char *events[SESSION_MAX_EVENTS]; /* "cycles", "page-faults@100", … */
	int nr_events; /* 0: cycles, or cpu-clock without a PMU */
	bool ticks;    /* of cpu-clock by default and hz 0: ticks beside it */
	double hz;     /* samples per second and CPU; 0: from budget */
	struct session_stacks_config stacks;
	struct session_windows_config windows;
	double budget;           /* share of a CPU's time, 0.005 for 0.5 % */
	uint64_t sweep_ns;       /* longest wait of a sample in a table */
	uint64_t flush_ns;       /* between flushes to the database */
	uint64_t epoch_ns;       /* length of an epoch, aligned to UTC; 0: one; with a
				    label it is an hour at least */
	uint64_t check_ns;       /* between looks at what sampling costs */
	uint64_t max_memory;     /* bytes of counts kept in memory */
	uint64_t capture_bytes;  /* of the database, for captures; 0: none */
	uint64_t capture_end_ns; /* how long the session's end waits for captures */
	unsigned int by; /* 1 << each kind (db/profile/context.h): of which profiles by
			    context are kept, too */
	const char *by_process; /* of which commands by process; NULL: of all */
	pid_t target;           /* 0: the whole system, else this process, its threads
				   and what they start */
	bool enable_on_exec;    /* with target: start when it calls exec */
	const char *label;      /* of the first epoch, may be NULL */
	int raw_fd;             /* every sample is also written there (raw.h); -1: no */

	struct retain_policy retain; /* all 0: the database grows */
	const char *announce_path;   /* the loader hook's socket; NULL: none */
	struct heartbeat *heartbeat; /* is told of slow work; the owner's; or NULL */
	const struct clock *clock;   /* decides when work is due; the owner's */
};

/* The limits of a requested rate. */
#define SESSION_MIN_HZ 1e-3
#define SESSION_MAX_HZ 1e6

#define SESSION_STACKS_HZ       49.0 /* the default rate of call stacks */
#define SESSION_STACKS_DWARF_HZ 19.0
#define SESSION_STACKS_MAX_HZ   10000.0
#define SESSION_STACKS_COPY     61440 /* bytes; only what there is is copied */
#define SESSION_STACKS_MIN_COPY 1024
#define SESSION_STACKS_MAX_COPY 65000

#define SESSION_WINDOWS_HZ     50.0
#define SESSION_WINDOWS_MAX_HZ 1000.0

/* The defaults that cpid(8) documents. */
struct session_config session_config_default(void);

struct session;

/*
 * 0 if this process may sample the whole system; else -errno, -EXDEV in a PID
 * namespace.
 */
int session_system_access(void);

/*
 * Opens database and collector and starts sampling. A failure is logged, with a remedy.
 * Returns 0, -errno or -CPI_E….
 */
int session_open(const struct session_config *cfg, struct session **out);

/*
 * Starts retention by the configuration's policy. Call it after privileges were
 * dropped. 0, -errno or -CPI_E…, logged.
 */
int session_retain(struct session *s);

/* Readable when session_run() has something to do; owned by the session. */
int session_fd(const struct session *s);

/*
 * Does all work that is due: drains, attributes, sweeps, flushes, begins epochs.
 * Returns the milliseconds after which it must run again at the latest.
 */
int session_run(struct session *s);

/*
 * Sweeps all CPUs, attributes and stores. 0; or -errno, and the samples stay in memory.
 */
int session_flush(struct session *s);

/* session_flush(), then begins a new epoch; label may be NULL or "". */
int session_new_epoch(struct session *s, const char *label);

/*
 * Stores a mark of this moment (store_mark()), which *at_ns becomes; it begins no
 * epoch. Returns 0 if it is stored, -EINPROGRESS if it waits in memory until it can be,
 * -EIO if the database refused it, or -ENOBUFS or -ENOMEM if it is not taken.
 */
int session_mark(struct session *s, const char *text, uint64_t *at_ns);

/*
 * Sweeps, then samples at hz per second and CPU: a new stream. The budget does not
 * change the rate any more, until hz is 0. Returns 0, -EINVAL, -errno.
 */
int session_set_rate(struct session *s, double hz);

/*
 * Takes what can change while samples are taken: rate, budget, the intervals of sweeps,
 * flushes, epochs (the next one's length) and checks, the limit of memory, and
 * retention's policy. The rest of cfg is ignored. Returns 0, or the first -errno or
 * -CPI_E…, logged; what could be changed was.
 */
int session_reconfigure(struct session *s, const struct session_config *cfg);

struct registration;

/* registration_take() (registration.h) with the session's process map. */
int session_register(struct session *s, const struct registration *r, struct buf *text);

/* Appends lines "name value" (cpid(8), "STATUS") for the control socket. */
void session_status(struct session *s, struct buf *out);

/*
 * Stops sampling, stores the remaining samples, ends the run, and frees s. Accepts
 * NULL. 0, or the error because of which samples were lost.
 */
int session_close(struct session *s);

#endif
