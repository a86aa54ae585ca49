/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collector.h - where samples come from: one ops table per source
 *
 * A collector hands out batches: aggregated entries of an interval in which
 * all their samples were taken. Whoever gets a batch reads the mapping events
 * up to its end before it attributes them.
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

/* What hardware recorded of a sample, which is counted among the entries, too. */
struct batch_record {
	struct cpi_entry entry; /* that sample's key; its count is 0 */
	struct hw_record hw;
};

struct branch {
	uint64_t from, to;
	uint16_t cycles; /* since the branch before; 0: not known */
	bool mispredicted;
};

/* The branches before a sample, as processors record them. */
struct branch_stack {
	uint64_t time_ns;
	uint32_t tgid;
	int event;
	const struct branch *branch; /* the newest first */
	size_t nr;
};

/* Samples of an event that are lost. */
struct batch_loss {
	int event;
	enum loss loss;
	uint64_t n;
};

struct batch {
	uint64_t from_ns, to_ns; /* monotonic; both ends belong to it */
	const struct cpi_entry *entries;
	size_t nr;
	const struct batch_record *records;
	size_t nr_records;
	const struct batch_loss *losses; /* received, too, and counted nowhere else */
	size_t nr_losses;
	const struct branch_stack *stacks; /* of branches, beside their samples */
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
	const uint64_t *regs; /* as arch_native wants them, or NULL */
};

/* What the owner of a collector does for it. */
struct collector_owner {
	/* Takes a batch; the entries are the collector's. */
	void (*batch)(void *ctx, const struct batch *batch);
	/*
	 * For collectors without a view of the process map: which incarnation of
	 * the tgid took the sample (0 unknown), and its outcome. prepare() is told
	 * of it first, so that its code can be read in between.
	 */
	void (*prepare)(void *ctx, const struct raw_sample *sample);
	void (*classify)(void *ctx, const struct raw_sample *sample,
			 unsigned int *generation, enum cpi_outcome *outcome);
	void *ctx;
};

struct collector_config {
	const struct event *events;
	const uint64_t *periods; /* by event; the stream's mean; the owner's */
	int nr_events;
	bool by_thread; /* entries have the thread in place of the process */
	struct perftarget target;
	int epoll_fd; /* gets every descriptor that says "drain" */
	bool pairs;   /* samples close the pairs that windows open (abi/pair.h) */
	int raw_fd;   /* -1, or where each sample is also written (raw.h) */
	struct timed_child
		*timed_child; /* who asks about other processes (timed_child.h) */
	struct collector_owner owner;
};

/* Since the collector was opened, summed over CPUs. */
struct collector_counts {
	uint64_t received;    /* at the handler's entry, lost ones included */
	uint64_t ring_lost;   /* the ring was full */
	uint64_t table_lost;  /* the table's overflow buffers were full */
	uint64_t pending;     /* received, and in no batch yet */
	uint64_t event_count; /* the event's own count */
	uint64_t enabled_ns, running_ns;
	uint64_t throttled; /* how often the kernel did; at least, where it says not */
	uint64_t throttled_ns; /* in which the event stood still; of clocks alone */
	uint64_t elsewhere; /* counted, but outside of user mode, where none is taken */
};

struct collector;

/*
 * What every source of samples does: a collector, and what samples stacks or windows.
 * Every member is there.
 */
struct source_ops {
	/*
	 * Takes in what the kernel's side says of itself, before each round; whether
	 * there is anything to drain.
	 */
	bool (*poll)(struct collector *c);
	/*
	 * Draining has three steps. snapshot notes how far each CPU's samples go;
	 * then the owner reads the mapping events; preview shows it those of which
	 * something must be read first, and it reads that; drain takes in the
	 * samples that were noted, handing out a batch whenever the table is full.
	 */
	void (*snapshot)(struct collector *c);
	void (*preview)(struct collector *c);
	void (*drain)(struct collector *c);
	/* Hands out everything that was drained and is left in the table. */
	void (*sweep)(struct collector *c);
	void (*randomise)(struct collector *c); /* new periods around the mean */
	void (*counts)(struct collector *c, int event, struct collector_counts *out);
	int (*set_cpus)(struct collector *c, const struct cpus *cpus);
	void (*stop)(struct collector *c);  /* no samples after this; drain once more */
	void (*close)(struct collector *c); /* accepts NULL */
};

/* Every member is there; collector_none.c has those of what a collector lacks. */
struct collector_ops {
	const char *name;
	struct source_ops source;
	bool takes_threads;         /* see by_thread */
	bool takes_ticks;           /* the event, as the last one; others are perf's */
	bool takes_branches;        /* of events that have stacks of them */
	unsigned int takes_records; /* 1 << enum event_record of each that it reads */
	/*
	 * Opens the events on the CPUs and starts. 0, or -errno (*event is then the
	 * index of the one that failed, or -1).
	 */
	int (*open)(const struct collector_config *cfg, const struct cpus *cpus,
		    struct collector **out, int *event);
	/* For how many ns periods that were drawn now would do. */
	uint64_t (*random_ns)(const struct collector *c);
	/* Whether hardly any process has been sampled lately, as far as is known. */
	bool (*is_quiet)(const struct collector *c);
	/*
	 * Of a collector whose batches are by_exec_id, else -EOPNOTSUPP: a process's
	 * exec id, the execs before *when_ns included. 0 or -errno.
	 */
	int (*exec_id)(struct collector *c, uint32_t tgid, uint32_t *id,
		       uint64_t *when_ns);
	/*
	 * How often event's handler has run, and for how long, as far as the kernel
	 * has kept count (kernel.bpf_stats_enabled). 0 or -errno.
	 */
	int (*handler)(const struct collector *c, int event, uint64_t *nr,
		       uint64_t *ns);
	/* A number that each sample on a CPU changes; cheap to ask for. */
	uint64_t (*progress)(const struct collector *c, int cpu);
	/* The module's descriptor, for windows; -1: there is none. */
	int (*device)(const struct collector *c);
	/*
	 * The map in which its samples close pairs (abi/pair.h), for windows: the
	 * collector's descriptor; -1: its samples do not.
	 */
	int (*pairs)(const struct collector *c);
	/* Goes on after stop(), with what cfg.periods holds now. 0 or the last -errno.
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
extern const struct collector_ops collector_bpf; /* where HAVE_BPF */
extern const struct collector_ops collector_perf;

#endif
