/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf.h - memory that the BPF collector's program and the daemon share
 *
 * The program counts samples in a table like the kernel module's. But the daemon cannot
 * stop it: it sends no IPI, and the program may be in the middle of a sample on any CPU
 * at any time. So each CPU has two sets, each with a table and an overflow array, and a
 * word that says which set is active:
 *
 * I1  The program reads its CPU's word once per sample, and uses only that set.
 * I2  The daemon uses only sets that are not active, and only after a grace period: all
 *     programs that were running when it changed the words have ended, and later ones
 *     see the change (daemon/collect/bpf_grace.c).
 * I3  Before a word is changed back, the other set is empty: everything is zero except
 *     entries beyond nr_overflow and word 0 of empty slots.
 * I4  In a set that is not active, per event: received = Σ counts in slots +
 *     Σ counts in the overflow array + lost.
 * I5  Only one program at a time writes a CPU's sets. The kernel does not run the
 *     program of a perf event while another one runs on this CPU (bpf_prog_active).
 *     Only an NMI can interrupt a tick, so the daemon samples ticks only together with
 *     software events, which raise no NMI. A tick cannot interrupt the program of a
 *     clock, which runs with interrupts disabled. It can interrupt the program of an
 *     event that happens in a task, but then it interrupts the kernel: together with
 *     such events the daemon counts only ticks that interrupt user mode.
 *
 * Without the grace period, a program that has read the word but not yet written could
 * write to a set that the daemon reads or clears: t/unit/check_flip.c finds this error.
 *
 * A ring carries notices, not samples. A notice wakes the daemon early. If the ring has
 * no room for a notice, the notice is dropped: the daemon reads the same numbers at its
 * next regular turn.
 *
 * Each NUMA node has its own maps and programs, in its memory, for its CPUs.
 */
#ifndef CPI_ABI_BPF_H
#define CPI_ABI_BPF_H

#include "abi/entry.h"

#define CPI_BPF_SETS 2

/*
 * One CPU's state. The tables of its sets follow directly, so that all of it is within
 * a few pages: between two samples other work evicts not only cache lines but also TLB
 * entries. A sample of one of the first events touches three cache lines at most: the
 * first one of this struct, that of its bucket, and, if an entry is evicted, one of the
 * overflow array.
 */
struct cpi_bpf_cpu {
	uint32_t active; /* the active set; written by the daemon, like the next two */
	uint32_t slot;   /* among the node's CPUs */
	uint32_t notice_at; /* a notice is sent when nr_work reaches this */
	uint32_t nr_work;   /* samples of processes, not of the idle task; wraps */
	uint32_t nr_overflow[CPI_BPF_SETS]; /* entries in the set's overflow array */
	uint32_t next_way; /* the way that is evicted next; shared by both sets */
	uint32_t ticks_elsewhere; /* ticks that are not counted as samples; wraps;
				     shared by both sets */
	uint64_t received[CPI_MAX_EVENTS][CPI_BPF_SETS];
	/* Counts that were lost because the overflow array was full. */
	uint64_t lost[CPI_MAX_EVENTS][CPI_BPF_SETS];
} __attribute__((aligned(64)));

#define CPI_BPF_BUCKET_BYTES 64

/*
 * Where a set's table begins in a CPU's state, and the size of the state with its
 * tables.
 */
static inline uint32_t cpi_bpf_table_at(uint32_t set, uint32_t nr_buckets)
{
	return sizeof(struct cpi_bpf_cpu) + set * nr_buckets * CPI_BPF_BUCKET_BYTES;
}

static inline uint32_t cpi_bpf_cpu_bytes(uint32_t nr_buckets)
{
	return cpi_bpf_table_at(CPI_BPF_SETS, nr_buckets);
}

/* The slot of a CPU of another node: the maps have no state for it. */
#define CPI_BPF_NO_SLOT UINT32_MAX

/* The index of the overflow array of a CPU's set. */
static inline uint32_t cpi_bpf_slot(uint32_t slot, uint32_t set)
{
	return slot * CPI_BPF_SETS + set;
}

/*
 * Placeholders in the program's code. Before the daemon loads the program it replaces
 * each one by the actual number.
 */
#define CPI_BPF_EVENT       0x7c910001
#define CPI_BPF_NR_BUCKETS  0x7c910002 /* of a table: a power of two */
#define CPI_BPF_NR_ENTRIES  0x7c910003 /* of an overflow array */
#define CPI_BPF_OUTCOME     0x7c910004 /* whether outcomes are recorded */
#define CPI_BPF_NR_FULL     0x7c910005 /* entries that make an overflow array full */
#define CPI_BPF_TICK_REGS   0x7c910006 /* from the tick's timer to __irq_regs */
#define CPI_BPF_BY_THREAD   0x7c910009 /* whether entries have the thread */
#define CPI_BPF_TICK        0x7c910007 /* address of the tick's callback: 64 bits */
#define CPI_BPF_PAIRS       0x7c910008 /* whether pairs are closed (abi/pair.h) */
#define CPI_BPF_TICK_KERNEL 0x7c91000a /* whether ticks in kernel mode are counted */

/* A notice in the ring: what happened on a CPU. */
struct cpi_bpf_notice {
	uint32_t cpu;
	enum cpi_bpf_notice_kind {
		CPI_BPF_NOTICE_FULL, /* its overflow array has CPI_BPF_NR_FULL entries
				      */
		CPI_BPF_NOTICE_WORK, /* nr_work has reached notice_at */
	} kind;
};

/* One process's exec id (abi/kmod.h), as the iterator over tasks writes it. */
struct cpi_bpf_exec_id {
	uint32_t tgid;
	uint32_t exec_id;
	uint64_t when_ns; /* monotonic; the id includes exactly the execs before this
			     time */
};

_Static_assert(sizeof(struct cpi_bpf_cpu) == 1088, "shared memory");
_Static_assert(sizeof(struct cpi_bpf_exec_id) == 16, "wire format");
_Static_assert(sizeof(struct cpi_bpf_notice) == 8, "wire format");

#endif
