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
	int node;            /* -1: memory of any node */
	uint32_t nr_cpus;    /* the node's highest CPU number, plus one */
	uint32_t nr_slots;   /* number of CPUs of the node */
	int nr_events;       /* one program is loaded for each */
	struct tick tick;    /* if function is not 0, the last event counts ticks */
	uint32_t nr_buckets; /* per CPU and set, a power of two */
	/* size of an overflow array, per CPU and set; a power of two */
	uint32_t nr_entries;
	uint32_t nr_full; /* a notice is sent when an overflow array has this many
			     entries */
	bool outcome;     /* record whether conditional jumps are taken */
	bool by_thread;   /* count by thread, not by process */
	bool exec_ids; /* for exec ids (numbers that change with each exec; abi/kmod.h),
			  also load the task iterator if the kernel has it */
	int notices_fd; /* ring of notices to use; -1: make one */
	bool pairs;     /* close pairs: if a window opened one, the next sample or tick
			   completes it (abi/pair.h) */
	uint32_t nr_all_cpus; /* size of the map of pairs, if pairs */
	int pairs_fd;         /* map of pairs to use; -1: make one */
};

struct bpf_node;
struct bpf_program;

/*
 * Sets the constants of abi/bpf.h in a program before it is loaded. Returns 0 or
 * -errno.
 */
int bpf_node_set_numbers(const struct bpf_node_config *cfg, struct bpf_program *prog,
			 int event);

/* Returns 0 or -errno. */
int bpf_node_open(const struct bpf_node_config *cfg, struct bpf_node **out);
void bpf_node_close(struct bpf_node *n); /* accepts NULL */

/* Returns the descriptor of the program that takes event's samples; n owns it. */
int bpf_node_program(const struct bpf_node *n, int event);

/* Starts counting ticks; does nothing if no event counts ticks. Returns 0 or -errno. */
int bpf_node_start_ticks(struct bpf_node *n);
void bpf_node_stop_ticks(struct bpf_node *n);

/* Returns the ring's descriptor; n owns it. */
int bpf_node_notices(const struct bpf_node *n);

/* Returns the descriptor of the map of pairs; n owns it. */
int bpf_node_pairs(const struct bpf_node *n);

/*
 * Return a CPU's counters and buckets in the maps, and the overflow array of a slot
 * (cpi_bpf_slot()).
 */
struct cpi_bpf_cpu *bpf_node_cpu(const struct bpf_node *n, uint32_t cpu);
struct cpi_bucket *bpf_node_buckets(const struct bpf_node *n, uint32_t cpu,
				    uint32_t set);
const struct cpi_entry *bpf_node_overflow(const struct bpf_node *n, uint32_t slot);

/*
 * Returns a new descriptor from which exec ids can be read; the caller closes it.
 * Returns -EOPNOTSUPP if the kernel has no task iterator, or another -errno.
 */
int bpf_node_iterate(const struct bpf_node *n);

#endif
