/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collector.h - the interface of the sources of samples: one ops table each
 *
 * A collector hands out batches: aggregated entries, with the interval in which all
 * their samples were taken. The receiver of a batch reads the mapping events up to the
 * batch's end before it attributes the entries.
 */
#ifndef CPI_DAEMON_COLLECTOR_H
#define CPI_DAEMON_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/entry.h"
#include "base/buf.h"
#include "daemon/collect/event.h"
#include "daemon/os/cpus.h"
#include "daemon/os/loss.h"
#include "daemon/os/perftarget.h"
#include "daemon/os/timed_child.h"
#include "decode/hwrecord.h"

/* A hardware record of a sample. The sample itself is also counted in an entry. */
struct batch_record {
	struct cpi_entry entry; /* the sample's key; count 0 */
	struct hw_record hw;
};

struct branch {
	uint64_t from, to;
	uint16_t cycles; /* since the previous branch; 0: not known */
	bool mispredicted;
};

/* The branches before a sample, as the processor recorded them. */
struct branch_stack {
	uint64_t time_ns;
	uint32_t tgid;
	int event;
	const struct branch *branch; /* the newest first */
	size_t nr;
};

/* Lost samples of an event. */
struct batch_loss {
	int event;
	enum loss loss;
	uint64_t n;
};

struct batch {
	uint64_t from_ns, to_ns; /* monotonic clock; both ends are included */
	const struct cpi_entry *entries;
	size_t nr;
	const struct batch_record *records;
	size_t nr_records;
	/* losses that only this batch tells of: collector_counts has them in received,
	 * but neither in ring_lost nor in table_lost
	 */
	const struct batch_loss *losses;
	size_t nr_losses;
	/* branch stacks, in addition to their samples' entries */
	const struct branch_stack *stacks;
	size_t nr_stacks;
	bool by_exec_id; /* the generations are exec ids: see exec_id() */
};

/* One sample with what identifies it, before it is aggregated. */
struct raw_sample {
	uint64_t time_ns;
	uint64_t pc;
	uint32_t tgid, tid;
	uint16_t cpu;
	uint8_t event;
	/*
	 * the interrupted registers in arch_native.regs_mask, in the order of its bits;
	 * NULL: not sampled
	 */
	const uint64_t *regs;
};

/* Callbacks of a collector's owner. */
struct collector_owner {
	/* Receives a batch, which is valid only during the call. */
	void (*batch)(void *ctx, const struct batch *batch);
	/*
	 * For collectors that cannot see the process map. classify() sets the sample's
	 * generation (which process with this tgid it belongs to; 0: unknown) and its
	 * outcome. prepare() is called earlier with the same sample, so that its code
	 * can be read in the meantime.
	 */
	void (*prepare)(void *ctx, const struct raw_sample *sample);
	void (*classify)(void *ctx, const struct raw_sample *sample,
			 unsigned int *generation, enum cpi_outcome *outcome);
	/*
	 * For ticks: the address of a function of the kernel; 0: it is not known. NULL
	 * if no ticks are sampled.
	 */
	uint64_t (*kernel_address)(void *ctx, const char *name);
	void *ctx;
};

#define COLLECTOR_QUIET_SAMPLES 16

struct collector_config {
	const struct event *events;
	/* mean period of each event; the owner may change them */
	const uint64_t *periods;
	int nr_events;
	bool by_thread; /* entries have the tid in place of the tgid */
	struct perftarget target;
	int epoll_fd; /* gets all descriptors that become readable when there is work */
	bool pairs;   /* close pairs: the sample after a window completes the pair that
			 the window opened (abi/pair.h) */
	int raw_fd;   /* file to which each sample is also written (raw.h); -1: none */
	struct timed_child *timed_child; /* for questions about other processes */
	struct collector_owner owner;
};

/* Counts of an event since the collector was opened, summed over CPUs. */
struct collector_counts {
	uint64_t received;    /* all samples, lost ones included */
	uint64_t ring_lost;   /* the ring was full */
	uint64_t table_lost;  /* the table's overflow buffers were full */
	uint64_t pending;     /* received, but not handed out yet */
	uint64_t event_count; /* the event's own count */
	uint64_t enabled_ns, running_ns;
	/* how often the kernel throttled the event; a lower bound with BPF */
	uint64_t throttled;
	/* time without samples due to throttling; cpu-clock only */
	uint64_t throttled_ns;
	/*
	 * ticks in the kernel that were not sampled, because another event takes its
	 * samples in tasks (event_interrupts())
	 */
	uint64_t elsewhere;
};

struct collector;

/*
 * Operations that all sources of samples have: collectors, and the samplers of stacks
 * and windows. No member is NULL.
 */
struct source_ops {
	/*
	 * Called first each time that the daemon wakes up (session_run()). Reads
	 * the kernel side's notices, or takes its records, and returns whether
	 * there is anything to drain.
	 */
	bool (*poll)(struct collector *c);
	/*
	 * Draining has three steps. snapshot() notes how far each CPU's samples go;
	 * then the owner reads the mapping events. preview() passes samples to the
	 * owner's prepare(), which reads the code that classify() will need. drain()
	 * reads the samples up to the snapshot, and hands out a batch whenever the
	 * table is full.
	 */
	void (*snapshot)(struct collector *c);
	void (*preview)(struct collector *c);
	void (*drain)(struct collector *c);
	/* Hands out everything that is left in the table. */
	void (*sweep)(struct collector *c);
	void (*randomise)(struct collector *c); /* draws new periods */
	void (*counts)(struct collector *c, int event, struct collector_counts *out);
	int (*set_cpus)(struct collector *c, const struct cpus *cpus);
	/* ends sampling; the owner then drains the samples that were taken before */
	void (*stop)(struct collector *c);
	void (*close)(struct collector *c); /* accepts NULL */
};

/*
 * No member is NULL: collector_none.c has defaults for operations that a collector does
 * not support.
 */
struct collector_ops {
	const char *name;
	struct source_ops source;
	bool takes_threads;  /* see by_thread */
	bool takes_ticks;    /* the last event may be ticks */
	bool takes_branches; /* reads branch stacks */
	/* 1 << enum event_record for each kind of record that it reads */
	unsigned int takes_records;
	/*
	 * Opens the events on the CPUs and starts them. Returns 0 or -errno; on failure
	 * *event is the index of the event that failed, or -1.
	 */
	int (*open)(const struct collector_config *cfg, const struct cpus *cpus,
		    struct collector **out, int *event);
	/* Returns the time in ns after which randomise() should be called again. */
	uint64_t (*random_ns)(const struct collector *c);
	/*
	 * Whether few samples outside of the idle task were taken recently; false if
	 * not known. While true, a CPU wakes the owner when it has taken
	 * COLLECTOR_QUIET_SAMPLES of them.
	 */
	bool (*is_quiet)(const struct collector *c);
	/*
	 * Gets the exec id of a process, a number that each exec increases. It
	 * counts all execs before *when_ns, which is also set, and none after it.
	 * Returns 0 or -errno; -EOPNOTSUPP if the collector's batches are not
	 * by_exec_id.
	 */
	int (*exec_id)(struct collector *c, uint32_t tgid, uint32_t *id,
		       uint64_t *when_ns);
	/*
	 * Gets the number of runs of event's handler and their total time. The kernel
	 * counts them only while kernel.bpf_stats_enabled is set. Returns 0 or -errno.
	 */
	int (*handler)(const struct collector *c, int event, uint64_t *nr,
		       uint64_t *ns);
	/* Returns a number that each sample on a CPU changes. It is cheap to call. */
	uint64_t (*progress)(const struct collector *c, int cpu);
	/* Returns the kernel module's descriptor, for windows; -1 if there is none. */
	int (*device)(const struct collector *c);
	/*
	 * Returns the descriptor of the map of pairs (abi/pair.h), for windows; the
	 * collector owns it. -1: its samples do not close pairs.
	 */
	int (*pairs)(const struct collector *c);
	/*
	 * Continues after stop(), with the current cfg.periods. Returns 0 or the last
	 * -errno.
	 */
	int (*restart)(struct collector *c);
};

bool collector_poll_always(struct collector *c);
void collector_no_preview(struct collector *c);
void collector_no_sweep(struct collector *c);
bool collector_never_quiet(const struct collector *c);
int collector_no_exec_id(struct collector *c, uint32_t tgid, uint32_t *id,
			 uint64_t *when_ns);
int collector_no_handler(const struct collector *c, int event, uint64_t *nr,
			 uint64_t *ns);
int collector_no_device(const struct collector *c);
int collector_no_pairs(const struct collector *c);

extern const struct collector_ops collector_kmod;
extern const struct collector_ops collector_bpf; /* only if HAVE_BPF */
extern const struct collector_ops collector_perf;

#endif
