/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * window_bpf.h - what the program that follows processes forward shares with the daemon
 *
 * The program (kmod/cpi_window.bpf.c, or the module's kmod/cpi_follow.c) finds the
 * process that it interrupted by its tgid, in it the region that holds an address, of
 * that the page's entry, and by the entry the page's micro-ops, packed (abi/uop.h).
 * All of these the daemon writes, in arrays that it maps; the program may read them at
 * any time, on any CPU.
 *
 * I1  Nothing is read of a process that the daemon has not entered: it has this tgid,
 *     start and exec id, and is not excluded.
 * I2  A packed page is complete before an entry names its first cell. Its cells are
 *     written again only when no entry has named it for a grace period, and when all
 *     records made up to then have been walked, which needs the same micro-ops.
 * I3  A process's sequence is odd while its regions change. A window that does not find
 *     at its end the even number that it began with is stale, and is not recorded.
 * I4  Of each sample in user mode: received = recorded + Σ dropped.
 */
#ifndef CPI_ABI_WINDOW_BPF_H
#define CPI_ABI_WINDOW_BPF_H

#include "abi/window.h"

#define CPI_WINDOW_SETS      128 /* of processes, by a hash of the tgid */
#define CPI_WINDOW_WAYS      4
#define CPI_WINDOW_PROCESSES (CPI_WINDOW_SETS * CPI_WINDOW_WAYS)
#define CPI_WINDOW_REGIONS   32 /* of a process */
#define CPI_WINDOW_CGROUPS   16 /* that are excluded */
#define CPI_WINDOW_NOWHERE   0x7fffffffffffffffULL

/* How far a window goes at most; its time is bounded by these, and by micro-ops. */
#define CPI_WINDOW_INSTRUCTIONS 100
#define CPI_WINDOW_USER_READS   64

/* Code that is mapped; its first address is beside it. */
struct cpi_window_region {
	uint64_t end;
	uint64_t first; /* the entry of its first page; those of the others follow */
};

struct cpi_window_process {
	uint32_t sequence; /* I3 */
	uint32_t tgid;     /* 0: nobody */
	uint32_t exec_id;
	uint32_t used;       /* set by the program, cleared by the daemon */
	uint64_t started_ns; /* when its first thread did, monotonic */
	uint64_t excluded;
	uint64_t start[CPI_WINDOW_REGIONS]; /* ascending; NOWHERE behind the last */
	struct cpi_window_region region[CPI_WINDOW_REGIONS];
};

/* Of a page of code. */
struct cpi_window_entry {
	uint32_t cell; /* the packed page's first; 0: it is not translated */
	uint32_t used; /* set by the program, cleared by the daemon */
};

static inline uint32_t cpi_window_set(uint32_t tgid)
{
	return (tgid * 0x9e3779b1u >> 16) & (CPI_WINDOW_SETS - 1);
}

/* Samples that make no record. */
#define CPI_WINDOW_DROPS(X)                                                     \
	X(NESTED, "nested")     /* one came amid another's window */            \
	X(COMPAT, "compat")     /* 32-bit code */                               \
	X(EXCLUDED, "excluded") /* the process, or its cgroup, is left alone */ \
	X(STALE, "stale")       /* its mappings were changed amid the window */ \
	X(RING, "ring_lost")    /* the ring was full */

enum cpi_window_drop {
#define CPI_WINDOW_DROP_ENUM(name, text) CPI_WINDOW_DROP_##name,
	CPI_WINDOW_DROPS(CPI_WINDOW_DROP_ENUM)
#undef CPI_WINDOW_DROP_ENUM
		CPI_WINDOW_NR_DROPS
};

/*
 * Times in classes: four to an octave, up to 2^24 ns.
 */
#define CPI_WINDOW_TIMES 96

static inline uint32_t cpi_window_time_class(uint64_t ns)
{
	uint32_t log = 0;

	if (ns >> 24)
		return CPI_WINDOW_TIMES - 1;
	if (ns < 4)
		return (uint32_t)ns;
	if (ns >> (log + 16))
		log += 16;
	if (ns >> (log + 8))
		log += 8;
	if (ns >> (log + 4))
		log += 4;
	if (ns >> (log + 2))
		log += 2;
	if (ns >> (log + 1))
		log += 1;
	return (log - 1) * 4 + (ns >> (log - 2) & 3);
}

/* The shortest time of a class. */
static inline uint64_t cpi_window_class_time(uint32_t class)
{
	return class < 4 ? class : (uint64_t)(4 + (class & 3)) << (class / 4 - 1);
}

/* What the ring carries. Samples of whom is no process here make one, too. */
struct cpi_window_record {
	uint64_t started_ns;
	uint32_t exec_id;
	uint32_t process; /* CPI_WINDOW_PROCESSES: it is not there */
	uint64_t sequence;
	struct cpi_window window;
};

struct cpi_window_counts {
	uint64_t received;  /* in user mode */
	uint64_t elsewhere; /* in the kernel: nothing can be followed there */
	uint64_t dropped[CPI_WINDOW_NR_DROPS];
	uint64_t recorded;
	uint64_t strangers; /* of those, samples of who is no process here */
	uint64_t nr_timed, sum_ns, max_ns; /* of those that followed anything */
	uint64_t nr_by_time[CPI_WINDOW_TIMES];
};

static inline void cpi_window_add_counts(struct cpi_window_counts *sum,
					 const struct cpi_window_counts *c)
{
	int i;

	sum->received += c->received;
	sum->elsewhere += c->elsewhere;
	sum->recorded += c->recorded;
	sum->strangers += c->strangers;
	sum->nr_timed += c->nr_timed;
	sum->sum_ns += c->sum_ns;
	if (c->max_ns > sum->max_ns)
		sum->max_ns = c->max_ns;
	for (i = 0; i < CPI_WINDOW_NR_DROPS; i++)
		sum->dropped[i] += c->dropped[i];
	for (i = 0; i < CPI_WINDOW_TIMES; i++)
		sum->nr_by_time[i] += c->nr_by_time[i];
}

/* One CPU's; written by the program alone. */
struct cpi_window_cpu {
	uint32_t busy, padding;
	struct cpi_window_counts counts;
	struct cpi_window_record record;
	struct cpi_window_state state;
	/* The line of code that was compared last, and its page's first cell. */
	uint64_t line;
	uint64_t differ; /* a bit for each byte that is not what was translated */
	uint32_t differ_behind; /* likewise, of the 16 bytes behind the line */
	uint32_t page;
	uint64_t code[2 * CPI_CODE_LINE_CELLS]; /* what is there */
};

/*
 * A CPU's records on their way from the module, which writes head, to the daemon, which
 * writes tail: both count records, of which the ring keeps the last nr, a power of two.
 */
struct cpi_window_ring {
	uint64_t head;
	uint64_t tail;
	uint64_t padding[6];
	struct cpi_window_record record[];
};

_Static_assert(sizeof(struct cpi_window_process) % 8 == 0, "elements are not padded");
_Static_assert(sizeof(struct cpi_window_cpu) % 8 == 0, "elements are not padded");

#endif
