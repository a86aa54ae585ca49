/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_table.h - the sample table that BPF programs keep in the kernel
 *
 * abi/bpf.h has the protocol. Each NUMA node has maps in its own memory, and programs
 * that write to them. Everything goes when the process ends, however it
 * does: nothing is pinned.
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
	struct tick tick;    /* the last event; function 0: there are no ticks */
	uint32_t nr_cpus;    /* as many as there may ever be */
	uint32_t nr_buckets; /* per CPU and set, a power of two */
	uint32_t nr_entries; /* of the overflow array, likewise */
	bool outcome;        /* record whether conditional jumps are taken */
	bool pairs;          /* samples close pairs (abi/pair.h) */
	bool by_thread;      /* count by thread, not by process */
	bool in_tasks;       /* events' samples are taken in tasks, too: event.h */
};

struct bpf_table;

/*
 * The table's usual size, smaller where there are many CPUs: two sets of all of
 * them take 64 MiB of kernel memory at most, unless there are thousands.
 */
struct bpf_table_config bpf_table_default(int nr_events, uint32_t nr_cpus);

/* Loads programs and maps. Returns 0 or -errno; what is wrong is logged. */
int bpf_table_open(const struct bpf_table_config *cfg, struct bpf_table **out);
void bpf_table_close(struct bpf_table *t); /* accepts NULL */

/* Counts the samples of a CPU's perf event as samples of event. 0 or -errno. */
int bpf_table_attach(const struct bpf_table *t, int perf_fd, uint32_t cpu, int event);

/* Starts and stops counting ticks that interrupt user mode. Returns 0 or -errno. */
int bpf_table_start_ticks(struct bpf_table *t);
void bpf_table_stop_ticks(struct bpf_table *t);

/* Returns the number of ticks outside of user mode, modulo 2^32. */
uint32_t bpf_table_ticks_elsewhere(const struct bpf_table *t);

/*
 * Returns the descriptor of the program that takes event's samples on the CPU, and on
 * the other CPUs of its NUMA node. t owns it.
 */
int bpf_table_program(const struct bpf_table *t, uint32_t cpu, int event);

/*
 * How often event's programs ran, and for how long, while the kernel was asked to keep
 * such statistics (bpf_enable_stats()). 0 or -errno.
 */
int bpf_table_runs(const struct bpf_table *t, int event, uint64_t *nr, uint64_t *ns);

/* What a CPU has in the active set, which changes meanwhile. */
uint64_t bpf_table_received(const struct bpf_table *t, uint32_t cpu, int event);
uint32_t bpf_table_overflow(const struct bpf_table *t, uint32_t cpu);
bool bpf_table_is_full(const struct bpf_table *t, uint32_t cpu); /* by 3/4 */

/* Returns the descriptor of the map of pairs, by CPU; t owns it. */
int bpf_table_pairs(const struct bpf_table *t);

/*
 * Notices: the ring's descriptor, which is the table's. One comes when an overflow
 * array is full in that sense, and one when a CPU's samples of processes, which
 * wrap, are as many as was asked for.
 */
int bpf_table_notices(const struct bpf_table *t);
uint32_t bpf_table_work(const struct bpf_table *t, uint32_t cpu);
void bpf_table_notify_at(const struct bpf_table *t, uint32_t cpu, uint32_t work);

/*
 * Makes the other set the active one, and waits until no program uses the first
 * any more: microseconds per CPU, or some 10 ms (bpf_grace.h). Returns 0 or -errno;
 * then nothing may be taken.
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
 * After a flip, once for each CPU: takes what it has in the set that is not
 * active, and empties it. Keys may be in out more than once. Returns how many
 * entries there are; counts are added to.
 */
size_t bpf_table_take(struct bpf_table *t, uint32_t cpu, struct cpi_entry *out,
		      struct bpf_table_counts *counts);

/*
 * The exec ids of all processes that are not amid an exec, sorted by tgid; free()
 * them. Returns 0, -EOPNOTSUPP where the kernel cannot tell, or another -errno.
 */
int bpf_table_exec_ids(const struct bpf_table *t, struct cpi_bpf_exec_id **out,
		       size_t *nr);

/* Finds the exec id of a process among them; NULL if it has none. */
const struct cpi_bpf_exec_id *
bpf_table_find_exec_id(const struct cpi_bpf_exec_id *sorted, size_t nr, uint32_t tgid);

#endif
