/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_table.h - the sample table that BPF programs keep in the kernel
 *
 * abi/bpf.h has the protocol. Each NUMA node has maps in its own memory, and programs
 * that write to them. Nothing is pinned, so the kernel removes everything when this
 * process ends.
 */
#ifndef CPI_DAEMON_BPF_TABLE_H
#define CPI_DAEMON_BPF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/bpf.h"
#include "daemon/collect/tick.h"

struct bpf_table_config {
	int nr_events;
	struct tick tick;    /* if function is not 0, the last event counts ticks */
	uint32_t nr_cpus;    /* number of possible CPUs */
	uint32_t nr_buckets; /* per CPU and set, a power of two */
	/* size of an overflow array, per CPU and set; a power of two */
	uint32_t nr_entries;
	bool outcome;   /* record whether conditional jumps are taken */
	bool pairs;     /* close pairs: if a window opened one, the next sample or tick
			   completes it (abi/pair.h) */
	bool by_thread; /* count by thread, not by process */
	/* some events are sampled outside of interrupts (event_interrupts()) */
	bool in_tasks;
};

struct bpf_table;

/*
 * Returns the default configuration. On machines with many CPUs the overflow arrays are
 * smaller: both sets of all CPUs take at most 64 MiB of kernel memory, or 16 KiB per
 * CPU if that is more.
 */
struct bpf_table_config bpf_table_default(int nr_events, uint32_t nr_cpus);

/* Loads programs and maps. Returns 0 or -errno, and logs the cause of an error. */
int bpf_table_open(const struct bpf_table_config *cfg, struct bpf_table **out);
void bpf_table_close(struct bpf_table *t); /* accepts NULL */

/* Counts the samples of a CPU's perf event as samples of event. 0 or -errno. */
int bpf_table_attach(const struct bpf_table *t, int perf_fd, uint32_t cpu, int event);

/* Starts and stops counting ticks. Returns 0 or -errno. */
int bpf_table_start_ticks(struct bpf_table *t);
void bpf_table_stop_ticks(struct bpf_table *t);

/*
 * Returns the number of ticks in the kernel that were not sampled
 * (collector_counts.elsewhere), modulo 2^32.
 */
uint32_t bpf_table_ticks_elsewhere(const struct bpf_table *t);

/*
 * Returns the descriptor of the program that takes event's samples on the CPU, and on
 * the other CPUs of its NUMA node. t owns it.
 */
int bpf_table_program(const struct bpf_table *t, uint32_t cpu, int event);

/*
 * Gets the number of runs of event's programs and their total time. The kernel counts
 * runs only while statistics are on (bpf_enable_stats()). Returns 0 or -errno.
 */
int bpf_table_runs(const struct bpf_table *t, int event, uint64_t *nr, uint64_t *ns);

/*
 * Return three things that a CPU has counted in the active set: the samples of an
 * event, the entries of the overflow array, and whether that array is 3/4 full.
 * Each may change at any time.
 */
uint64_t bpf_table_received(const struct bpf_table *t, uint32_t cpu, int event);
uint32_t bpf_table_overflow(const struct bpf_table *t, uint32_t cpu);
bool bpf_table_is_full(const struct bpf_table *t, uint32_t cpu);

/* Returns the descriptor of the map of pairs, by CPU; t owns it. */
int bpf_table_pairs(const struct bpf_table *t);

/*
 * bpf_table_notices() returns the descriptor of the ring of notices; t owns it.
 * bpf_table_work() returns a CPU's number of samples outside of the idle task, modulo
 * 2^32. A program sends a notice when an overflow array is 3/4 full, and when this
 * number reaches the one set by bpf_table_notify_at().
 */
int bpf_table_notices(const struct bpf_table *t);
uint32_t bpf_table_work(const struct bpf_table *t, uint32_t cpu);
void bpf_table_notify_at(const struct bpf_table *t, uint32_t cpu, uint32_t work);

/*
 * Makes the other set the active one, and waits until no program uses the previous one:
 * for microseconds per CPU, or about 10 ms (bpf_grace.h). Returns 0 or -errno; after an
 * error do not call bpf_table_take().
 */
int bpf_table_flip(struct bpf_table *t);

struct bpf_table_counts {
	uint64_t received[CPI_MAX_EVENTS]; /* = Σ counts of the entries + lost */
	uint64_t lost[CPI_MAX_EVENTS];
	uint64_t evictions;
};

/* Returns the maximum number of entries of a CPU. */
size_t bpf_table_max_entries(const struct bpf_table *t);

/*
 * Copies the entries of a CPU in the inactive set to out, and empties that set. Call it
 * once for each CPU after a flip. A key may occur more than once in out. Returns the
 * number of entries, and adds to counts.
 */
size_t bpf_table_take(struct bpf_table *t, uint32_t cpu, struct cpi_entry *out,
		      struct bpf_table_counts *counts);

/*
 * Reads the exec ids of all processes that are not in the middle of an exec, sorted by
 * tgid; the caller frees *out. Returns 0, -EOPNOTSUPP if the kernel has no task
 * iterator, or another -errno.
 */
int bpf_table_exec_ids(const struct bpf_table *t, struct cpi_bpf_exec_id **out,
		       size_t *nr);

/* Finds a process in the nr sorted exec ids. Returns NULL if it is not there. */
const struct cpi_bpf_exec_id *
bpf_table_find_exec_id(const struct cpi_bpf_exec_id *sorted, size_t nr, uint32_t tgid);

#endif
