/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_node.h - kmod/cpi.bpf.c, loaded for the CPUs of one NUMA node
 *
 * The maps' memory is on the node, and mapped into this process.
 */
#ifndef CPI_DAEMON_BPF_NODE_H
#define CPI_DAEMON_BPF_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/bpf.h"
#include "daemon/collect/tick.h"
#include "kmod/table.h"

struct bpf_node_config {
	int node;             /* -1: wherever there is memory */
	uint32_t nr_cpus;     /* one more than the highest number of its CPUs */
	uint32_t nr_slots;    /* as many as it has CPUs */
	int nr_events;        /* a program each */
	struct tick tick;     /* the last event; function 0: there are no ticks */
	uint32_t nr_buckets;  /* per CPU and set, a power of two */
	uint32_t nr_entries;  /* of the overflow array, likewise */
	uint32_t nr_full;     /* entries at which the ring gets a notice */
	bool outcome;         /* record whether conditional jumps are taken */
	bool by_thread;       /* count by thread, not by process */
	bool exec_ids;        /* load the iterator, if the kernel has such */
	int notices_fd;       /* the ring; -1: one of its own */
	bool pairs;           /* samples close pairs (abi/pair.h) */
	uint32_t nr_all_cpus; /* pairs, if they do */
	int pairs_fd;         /* their map; -1: one of its own */
};

struct bpf_node;
struct bpf_program;

/* Writes the numbers of abi/bpf.h into a program before it is loaded. 0 or -errno. */
int bpf_node_set_numbers(const struct bpf_node_config *cfg, struct bpf_program *prog,
			 int event);

/* Returns 0 or -errno. */
int bpf_node_open(const struct bpf_node_config *cfg, struct bpf_node **out);
void bpf_node_close(struct bpf_node *n); /* accepts NULL */

/* Returns the descriptor of the program that takes event's samples; n owns it. */
int bpf_node_program(const struct bpf_node *n, int event);

/* Counts ticks until bpf_node_stop_ticks(), if ticks are an event. 0 or -errno. */
int bpf_node_start_ticks(struct bpf_node *n);
void bpf_node_stop_ticks(struct bpf_node *n);

/* Returns the ring's descriptor; n owns it. */
int bpf_node_notices(const struct bpf_node *n);

/* Returns the descriptor of the map of pairs; n owns it. */
int bpf_node_pairs(const struct bpf_node *n);

/* Return a CPU's parts of the maps, and the overflow array of a cpi_bpf_slot(). */
struct cpi_bpf_cpu *bpf_node_cpu(const struct bpf_node *n, uint32_t cpu);
struct cpi_bucket *bpf_node_buckets(const struct bpf_node *n, uint32_t cpu,
				    uint32_t set);
const struct cpi_entry *bpf_node_overflow(const struct bpf_node *n, uint32_t slot);

/* Opens a descriptor to read exec ids from; or -EOPNOTSUPP, or another -errno. */
int bpf_node_iterate(const struct bpf_node *n);

#endif
