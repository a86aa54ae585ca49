/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf.h - what the BPF collector's program and the daemon share
 *
 * The program counts samples in a table like the kernel module's, but nothing
 * can keep it out of one: there is no IPI to hide behind, and it may be in the
 * middle of a sample on any CPU at any time. So there are two sets of tables
 * and overflow arrays, and a word that says which of them is active:
 *
 * I1  The program reads the word once per sample, and touches that set alone.
 * I2  The daemon touches the set that is not active alone, and only after a
 *     grace period: all programs that were running when it changed the word
 *     have ended. They run with preemption off and inside an RCU read-side
 *     section, so synchronize_rcu() is that wait; the kernel does it in every
 *     update of a map of maps, which says that it waits for running programs
 *     (maybe_wait_bpf_programs(), Linux 4.19 and newer). membarrier(2) ends in
 *     the same call, but does not promise it, and refuses nohz_full.
 * I3  Before the word is changed back, the other set is empty: all zeros but
 *     for what is behind nr_overflow, and word 0 of empty slots.
 * I4  In a set that is not active, per event: received = Σ counts in slots +
 *     Σ counts in the overflow array + lost.
 * I5  One program at a time writes a CPU's part of a set: the kernel does not
 *     run a perf event's program inside another one's (bpf_prog_active).
 *
 * Without the wait, a program that has read the word but not yet written would
 * write into a set that is being read or cleared: t/unit/check_flip.c finds it.
 */
#ifndef CPI_ABI_BPF_H
#define CPI_ABI_BPF_H

#include "abi/entry.h"

#define CPI_BPF_SETS 2

/* The part of a set that is one CPU's, and what a hit touches beside its bucket. */
struct cpi_bpf_cpu {
	uint32_t nr_overflow; /* entries in the overflow array */
	uint32_t next_way;    /* whose turn it is to be evicted */
	uint64_t received[CPI_MAX_EVENTS];
	uint64_t lost[CPI_MAX_EVENTS]; /* counts, because the overflow array was full */
	uint64_t evictions;
} __attribute__((aligned(64)));

/* Where the parts of a CPU's set are, in units of such parts. */
static inline uint32_t cpi_bpf_slot(uint32_t cpu, uint32_t set)
{
	return cpu * CPI_BPF_SETS + (set & (CPI_BPF_SETS - 1));
}

/* One process's exec id, as the iterator tells it: abi/kmod.h says what it is. */
struct cpi_bpf_exec_id {
	uint32_t tgid;
	uint32_t exec_id;
	uint64_t when_ns; /* monotonic; execs before it are included, others not */
};

_Static_assert(sizeof(struct cpi_bpf_cpu) == 576, "shared memory");
_Static_assert(sizeof(struct cpi_bpf_exec_id) == 16, "wire format");

#endif
