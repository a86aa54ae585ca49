/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pair.h - two samples of one thread, a short time apart
 *
 * Double sampling (SOSP'97 section 7) in software. After a window, the BPF program of
 * windows opens a pair: it stores the thread's registers. The collector's next sample
 * or tick on this CPU in user mode closes the pair if it is of the same thread: it
 * replaces each register by its change. The pair's time is the CPU time of the thread;
 * what the hypervisor took meanwhile is left out, as samples leave it out. The next
 * window hands the closed pair to the daemon. If a loop adds a constant to a register,
 * the change of the register shows how many iterations ran between the two samples
 * (analysis/windows/steps.h).
 *
 * P1  A value of a register never leaves the kernel: a record has only changes.
 *
 * P2  Only BPF programs on a CPU write the CPU's pair. The exception is stolen_at,
 *     which the daemon writes before the first window. state is written last, so a
 *     program that interrupts another one finds a complete pair, or none. A program at
 *     a tick may be interrupted by those of samples and windows: while it looks at the
 *     pair, is_at_tick is set, and they leave the pair alone.
 *
 * P3  Per CPU: received = recorded + Σ dropped + (state is not NONE).
 */
#ifndef CPI_ABI_PAIR_H
#define CPI_ABI_PAIR_H

#include <stdint.h>

#define CPI_PAIR_REGS   32 /* x86-64 has 16 of them; the numbers are abi/uop.h's */
#define CPI_PAIR_SAVED  34 /* words that an interrupt of user mode saves on arm64 */
#define CPI_PAIR_BACK   16
#define CPI_PAIR_MIN_NS 20000     /* a shorter pair stays open */
#define CPI_PAIR_MAX_NS 100000000 /* elapsed, if the thread was switched out */

enum cpi_pair_state { CPI_PAIR_NONE, CPI_PAIR_OPEN, CPI_PAIR_CLOSED };

/*
 * Why a pair has no record. SWITCHED is also the reason if no sample or tick closed the
 * pair before the next window, or if it took longer than CPI_PAIR_MAX_NS.
 */
#define CPI_PAIR_DROPS(X)                                                   \
	X(SWITCHED, "switched") /* next sample or tick of another thread */ \
	X(RING, "ring_lost")    /* the ring was full */

enum cpi_pair_drop {
#define CPI_PAIR_DROP_ENUM(name, text) CPI_PAIR_DROP_##name,
	CPI_PAIR_DROPS(CPI_PAIR_DROP_ENUM)
#undef CPI_PAIR_DROP_ENUM
		CPI_PAIR_NR_DROPS
};

struct cpi_pair_record {
	uint64_t time;                /* of the first sample, monotonic */
	uint64_t ns;                  /* of CPU time, from the first to the second */
	uint64_t from, to;            /* the two PCs */
	uint64_t back[CPI_PAIR_BACK]; /* the targets of the window's first indirect
					 jumps: mostly returns; 0: no more */
	uint64_t started_ns; /* of the process, as in struct cpi_window_record */
	uint64_t sequence;
	uint32_t exec_id;
	uint32_t process;
	uint32_t tgid;
	uint32_t tid;
	uint64_t change[CPI_PAIR_REGS]; /* while the pair is open: the values */
};

struct cpi_pair_counts {
	uint64_t received; /* pairs that were opened */
	uint64_t dropped[CPI_PAIR_NR_DROPS];
	uint64_t recorded;
	uint64_t stolen_ns; /* in pairs that were closed */
};

/* One CPU's. */
struct cpi_pair_cpu {
	uint32_t state; /* enum cpi_pair_state */
	/*
	 * Where the CPU's stolen ns are: bytes from its run queue. 0: not known. All
	 * CPUs have the same.
	 */
	int32_t stolen_at;
	uint64_t switches; /* of the thread, when the pair was opened */
	uint64_t ran;      /* likewise: cpi_pair_ran() */
	uint64_t stolen;   /* likewise: cpi_pair_stolen() */
	struct cpi_pair_counts counts;
	uint64_t is_at_tick; /* a tick's program looks at the pair just now */
	uint64_t at_tick[CPI_PAIR_SAVED]; /* the registers, copied */
	struct cpi_pair_record record;
};

_Static_assert(sizeof(struct cpi_pair_record) == 448, "no padding");
_Static_assert(sizeof(struct cpi_pair_cpu) % 8 == 0, "elements are not padded");

#endif
