/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kmod.h - /dev/cpi: the interface of the kernel module cpi.ko
 *
 * Only one process at a time can open the device. It needs CAP_PERFMON or
 * CAP_SYS_ADMIN; open, mmap and each ioctl check this. The calls are:
 *
 *	CONFIGURE	chooses events and sizes, opens counters on all CPUs
 *	START, STOP	enable and disable them, as often as wanted
 *	mmap		maps a CPU's pair of overflow buffers, read-only
 *	poll		says when a buffer somewhere is full
 *	FLUSH		hands out a CPU's buffers, one per call, without a copy
 *	PERIOD		changes an event's mean period while stopped
 *	COUNTS, STATS	accounting by event, and by CPU
 *	EXEC_ID		what a process's samples have as generation
 *	WINDOWS		asks for windows, which a clock of their own starts; their
 *			memory is mapped at CPI_KMOD_WINDOWS_AT, for writing, too
 *	FOLLOW		starts and stops windows
 *	SYNCHRONIZE	waits until windows that began before the call have ended
 *	FOLLOWED	reads the counts of windows
 *	close		ends everything; what was not flushed is gone
 *
 * The size of a structure is part of its ioctl number, so the call fails with ENOTTY if
 * program and module disagree about the structure. All reserved fields, and flags
 * without a meaning, must be 0; otherwise the call fails with EINVAL.
 */
#ifndef CPI_ABI_KMOD_H
#define CPI_ABI_KMOD_H

#include "abi/entry.h"
#include "abi/window_bpf.h"

#ifdef __KERNEL__
#include <linux/ioctl.h>
#else
#include <sys/ioctl.h>
#endif

#define CPI_KMOD_DEVICE  "/dev/cpi"
#define CPI_KMOD_VERSION 4

/*
 * One event, as perf_event_attr names it: a hardware event of any PMU, or
 * cpu-clock. Periods are drawn uniformly from [period - spread, period +
 * spread] at every interrupt; spread is less than period.
 */
struct cpi_kmod_event {
	uint32_t type;
	uint32_t flags; /* CPI_KMOD_EXCLUDE_… */
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	uint64_t period;
	uint64_t spread;
};

#define CPI_KMOD_EXCLUDE_USER   (1u << 0)
#define CPI_KMOD_EXCLUDE_KERNEL (1u << 1)
#define CPI_KMOD_EXCLUDE_HV     (1u << 2)
#define CPI_KMOD_EVENT_FLAGS    7u

struct cpi_kmod_config {
	uint32_t version; /* CPI_KMOD_VERSION */
	uint32_t flags;   /* CPI_KMOD_OUTCOME … */
	uint32_t nr_events;
	uint32_t nr_buckets;  /* of a CPU's table, a power of two; 0: the default */
	uint32_t nr_entries;  /* of one overflow buffer; 0: the default */
	uint32_t pair_bytes;  /* out: the size of a CPU's mapping */
	int32_t failed_event; /* out, on failure: the index of the event that failed, or
				 -1 */
	uint32_t reserved;
	struct cpi_kmod_event events[CPI_MAX_EVENTS];
};

/* Record for each sampled conditional jump whether it was about to be taken. */
#define CPI_KMOD_OUTCOME (1u << 0)
/* Measure the handler's cycles (STATS); costs two readings of the clock. */
#define CPI_KMOD_TIMED        (1u << 1)
#define CPI_KMOD_CONFIG_FLAGS 3u

/* 512 KiB per CPU: a table of 256, a pair of 252, and a page for the state. */
#define CPI_KMOD_DEFAULT_BUCKETS 4096u
#define CPI_KMOD_DEFAULT_ENTRIES 8064u
#define CPI_KMOD_MIN_BUCKETS     16u
#define CPI_KMOD_MAX_BUCKETS     65536u
#define CPI_KMOD_MIN_ENTRIES     16u
#define CPI_KMOD_MAX_ENTRIES     65536u

/*
 * A CPU's pair of buffers is mapped at offset cpu × pair_bytes: buffer 0, then buffer
 * 1, each with nr_entries of struct cpi_entry. A FLUSH hands out a buffer, and the next
 * FLUSH of this CPU takes it back. The contents are valid only between the two.
 */
struct cpi_kmod_flush {
	uint32_t cpu;
	uint32_t depth;  /* enum cpi_kmod_depth */
	uint32_t buffer; /* out: 0 or 1 */
	uint32_t nr;     /* out: entries in it; 0: no more buffers */
};

/* What a flush hands out. It is complete when a call returns nr 0. */
enum cpi_kmod_depth {
	CPI_KMOD_FULL = 0,  /* buffers that are full */
	CPI_KMOD_TABLE = 1, /* all buffers and the table: no older sample is left */
};

struct cpi_kmod_period {
	uint32_t event;
	uint32_t reserved;
	uint64_t period;
	uint64_t spread;
};

/*
 * The counts of one event since CONFIGURE, over all CPUs, including those that are
 * offline now. received = handed out by FLUSH + still in tables and buffers + overflow
 * + nested.
 */
struct cpi_kmod_counts {
	uint32_t event;
	uint32_t nr_error;    /* CPUs on which no hardware counter was free */
	uint64_t received;    /* at the handler's entry */
	uint64_t overflow;    /* lost: both buffers were full */
	uint64_t nested;      /* lost: one interrupt's handler interrupted another's */
	uint64_t event_count; /* the event's own count */
	uint64_t enabled_ns;
	uint64_t running_ns;
};

/* One CPU since CONFIGURE. hits = received − nested − direct − inserts − evictions. */
struct cpi_kmod_stats {
	uint32_t cpu;
	uint32_t bytes; /* of kernel memory for the CPU's state */
	uint64_t received;
	uint64_t nested;
	uint64_t direct; /* samples written directly to the buffer, while a flush read
			    the table */
	uint64_t inserts;
	uint64_t evictions;
	uint64_t overflow;
	uint64_t unreadable; /* samples whose outcome could not be decided */
	uint64_t wakeups;
	uint64_t hit_cycles, nr_timed_hits; /* with CPI_KMOD_TIMED */
	uint64_t miss_cycles, nr_timed_misses;
};

/*
 * The generation of an entry is the low bits of its process's exec id. A child begins
 * with its parent's id, and each exec adds 1. So from the id at one time, and the forks
 * and execs after it, follows the id at any later time.
 */
struct cpi_kmod_exec_id {
	uint32_t tgid;    /* in the caller's namespace; ESRCH if there is none, EBUSY
			     during an exec */
	uint32_t exec_id; /* out */
	uint64_t when_ns; /* out: monotonic; exec_id includes exactly the execs before
			     this time */
};

/*
 * Windows (abi/window_bpf.h). They are independent of the other calls. Their memory is
 * one mapping, which contains CPI_WINDOW_PROCESSES processes, then the entries, the
 * cells, and a struct cpi_window_ring for each CPU. To request windows, and to map
 * their memory, CAP_SYS_PTRACE is needed as well. Whatever user space writes to this
 * memory, the module reads only this memory and memory that the interrupted process
 * itself may read, and writes only the rings, and "used" of processes and entries.
 */
struct cpi_kmod_windows {
	struct cpi_kmod_event event;
	uint32_t nr_entries;
	uint32_t nr_cells;    /* 0: switches windows off and frees their memory */
	uint32_t nr_records;  /* of a CPU's ring, a power of two */
	uint32_t flags;       /* CPI_KMOD_WINDOW_ORIGINS */
	uint32_t slot_bytes;  /* out: distance from one record of a ring to the next */
	uint32_t nr_excluded; /* cgroups that are excluded, with all below them */
	int32_t excluded[CPI_WINDOW_CGROUPS]; /* descriptors of cgroups of version 2 */
	uint32_t nr_cpus;                     /* out: rings */
	uint32_t ring_bytes; /* out: distance from one ring to the next */
	uint64_t entries_at; /* out: offsets in the mapping */
	uint64_t cells_at;
	uint64_t rings_at;
	uint64_t bytes; /* out: of the whole mapping */
};

/*
 * Each record of a window with instructions has an origin (struct cpi_window_origin)
 * behind it: the registers of the window's start, and what it loaded, which the program
 * itself could load. Nothing else is read for it.
 */
#define CPI_KMOD_WINDOW_ORIGINS (1u << 0)
#define CPI_KMOD_WINDOW_FLAGS   1u

#define CPI_KMOD_WINDOWS_AT         (1ULL << 40) /* offset of their mapping */
#define CPI_KMOD_MAX_WINDOW_ENTRIES (1u << 20)
#define CPI_KMOD_MAX_WINDOW_CELLS   (1u << 26)
#define CPI_KMOD_MAX_WINDOW_RECORDS (1u << 14)
#define CPI_KMOD_MAX_WINDOW_BYTES   (1ULL << 31)

/* Sums over all CPUs, including those that are offline now. */
struct cpi_kmod_followed {
	struct cpi_window_counts counts;
	uint64_t event_count; /* the event's own count */
	uint64_t enabled_ns;
	uint64_t running_ns;
};

#define CPI_KMOD_IOC_CONFIGURE   _IOWR(0xc7, 1, struct cpi_kmod_config)
#define CPI_KMOD_IOC_START       _IO(0xc7, 2)
#define CPI_KMOD_IOC_STOP        _IO(0xc7, 3)
#define CPI_KMOD_IOC_FLUSH       _IOWR(0xc7, 4, struct cpi_kmod_flush)
#define CPI_KMOD_IOC_PERIOD      _IOW(0xc7, 5, struct cpi_kmod_period)
#define CPI_KMOD_IOC_COUNTS      _IOWR(0xc7, 6, struct cpi_kmod_counts)
#define CPI_KMOD_IOC_STATS       _IOWR(0xc7, 7, struct cpi_kmod_stats)
#define CPI_KMOD_IOC_EXEC_ID     _IOWR(0xc7, 8, struct cpi_kmod_exec_id)
#define CPI_KMOD_IOC_WINDOWS     _IOWR(0xc7, 9, struct cpi_kmod_windows)
#define CPI_KMOD_IOC_FOLLOW      _IOW(0xc7, 10, uint32_t) /* 1 starts, 0 stops */
#define CPI_KMOD_IOC_SYNCHRONIZE _IO(0xc7, 11)
#define CPI_KMOD_IOC_FOLLOWED    _IOR(0xc7, 12, struct cpi_kmod_followed)

_Static_assert(sizeof(struct cpi_kmod_event) == 48, "wire format");
_Static_assert(sizeof(struct cpi_kmod_config) == 32 + 48 * CPI_MAX_EVENTS,
	       "wire format");
_Static_assert(sizeof(struct cpi_kmod_flush) == 16, "wire format");
_Static_assert(sizeof(struct cpi_kmod_period) == 24, "wire format");
_Static_assert(sizeof(struct cpi_kmod_counts) == 56, "wire format");
_Static_assert(sizeof(struct cpi_kmod_stats) == 104, "wire format");
_Static_assert(sizeof(struct cpi_kmod_exec_id) == 16, "wire format");
_Static_assert(sizeof(struct cpi_kmod_windows) == 176, "wire format");

#endif
