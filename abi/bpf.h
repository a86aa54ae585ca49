/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf.h - what the BPF collector's program and the daemon share
 *
 * The program counts samples in a table like the kernel module's, but nothing
 * can keep it out of one: there is no IPI to hide behind, and it may be in the
 * middle of a sample on any CPU at any time. So each CPU has two sets, of a table
 * and an overflow array each, and a word that says which of them is active:
 *
 * I1  The program reads its CPU's word once per sample, and touches that set alone.
 * I2  The daemon touches sets that are not active alone, and only after a grace
 *     period: all programs that were running when it changed the words have
 *     ended, and the next ones see the change (daemon/collect/bpf_grace.c).
 * I3  Before a word is changed back, the other set is empty: all zeros but for
 *     what is behind nr_overflow, and word 0 of empty slots.
 * I4  In a set that is not active, per event: received = Σ counts in slots +
 *     Σ counts in the overflow array + lost.
 * I5  One program at a time writes a CPU's sets: the kernel does not run a perf
 *     event's program inside another one's (bpf_prog_active). A tick that
 *     interrupted user mode interrupted none, and masks all that is no NMI: the
 *     daemon samples ticks beside software events alone.
 *
 * Without the wait, a program that has read the word but not yet written would
 * write into a set that is being read or cleared: t/unit/check_flip.c finds it.
 *
 * A ring carries notices, and no samples. They wake the daemon before its time; one
 * that finds no room in the ring is gone, for the daemon looks at the same numbers
 * when its time comes.
 *
 * Maps and programs are there once per NUMA node, in its memory, for its CPUs.
 */
#ifndef CPI_ABI_BPF_H
#define CPI_ABI_BPF_H

#include "abi/entry.h"

#define CPI_BPF_SETS 2

/*
 * One CPU's state; its sets' tables follow it, next to one another: all within a few
 * pages, for it is not only lines but what translates their addresses that other work
 * drives out of the caches between two samples. A sample of one of the first events
 * touches the first line, that of its bucket, and one of the overflow array if an entry
 * is evicted.
 */
struct cpi_bpf_cpu {
	uint32_t active;    /* the set; written by the daemon, as the next two are */
	uint32_t slot;      /* among the node's CPUs */
	uint32_t notice_at; /* when nr_work is as much, the daemon wants to know */
	uint32_t nr_work;   /* samples of processes, not of the idle task; wraps */
	uint32_t nr_overflow[CPI_BPF_SETS]; /* entries in the set's overflow array */
	uint32_t next_way;        /* whose turn it is to be evicted; not of a set */
	uint32_t ticks_elsewhere; /* that interrupted the kernel; wraps, not of a set */
	uint64_t received[CPI_MAX_EVENTS][CPI_BPF_SETS];
	/* Counts that are gone because the overflow array was full. */
	uint64_t lost[CPI_MAX_EVENTS][CPI_BPF_SETS];
} __attribute__((aligned(64)));

#define CPI_BPF_BUCKET_BYTES 64

/* Bytes of a CPU's state with its tables, and where in them a set's table begins. */
static inline uint32_t cpi_bpf_table_at(uint32_t set, uint32_t nr_buckets)
{
	return sizeof(struct cpi_bpf_cpu) + set * nr_buckets * CPI_BPF_BUCKET_BYTES;
}

static inline uint32_t cpi_bpf_cpu_bytes(uint32_t nr_buckets)
{
	return cpi_bpf_table_at(CPI_BPF_SETS, nr_buckets);
}

/* Another node's CPU: maps have nothing at this slot. */
#define CPI_BPF_NO_SLOT UINT32_MAX

/* The index of a CPU's overflow array, in units of such. */
static inline uint32_t cpi_bpf_slot(uint32_t slot, uint32_t set)
{
	return slot * CPI_BPF_SETS + set;
}

/*
 * Numbers that the program has as immediate operands: the daemon writes them
 * where these are before it loads the program.
 */
#define CPI_BPF_EVENT      0x7c910001
#define CPI_BPF_NR_BUCKETS 0x7c910002 /* of a table: a power of two */
#define CPI_BPF_NR_ENTRIES 0x7c910003 /* of an overflow array */
#define CPI_BPF_OUTCOME    0x7c910004 /* whether outcomes are told of */
#define CPI_BPF_NR_FULL    0x7c910005 /* entries that make an overflow array full */
#define CPI_BPF_TICK_REGS  0x7c910006 /* from the tick's timer to __irq_regs */
#define CPI_BPF_BY_THREAD  0x7c910009 /* whether entries have the thread */
#define CPI_BPF_TICK       0x7c910007 /* address of the tick's callback: 64 bits */
#define CPI_BPF_PAIRS      0x7c910008 /* whether pairs are closed (abi/pair.h) */

/* What happened on a CPU; in the ring. */
struct cpi_bpf_notice {
	uint32_t cpu;
	enum cpi_bpf_notice_kind {
		CPI_BPF_NOTICE_FULL, /* its overflow array has CPI_BPF_NR_FULL entries
				      */
		CPI_BPF_NOTICE_WORK, /* nr_work has reached notice_at */
	} kind;
};

/* One process's exec id, as the iterator tells it: abi/kmod.h says what it is. */
struct cpi_bpf_exec_id {
	uint32_t tgid;
	uint32_t exec_id;
	uint64_t when_ns; /* monotonic; execs before it are included, others not */
};

_Static_assert(sizeof(struct cpi_bpf_cpu) == 1088, "shared memory");
_Static_assert(sizeof(struct cpi_bpf_exec_id) == 16, "wire format");
_Static_assert(sizeof(struct cpi_bpf_notice) == 8, "wire format");

#endif
