/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * window_bpf.h - the tables that the kernel side of windows and the daemon share
 *
 * The kernel side is a BPF program (kmod/cpi_window.bpf.c) or the module
 * (kmod/cpi_follow.c). It finds the interrupted process by its tgid; in the process,
 * the region that contains an address; from the region, the entry of the page; and from
 * the entry, the packed micro-ops of the page (abi/uop.h). The daemon writes all of
 * these, in arrays that it maps. The kernel side may read them at any time, on any CPU.
 *
 * I1  Memory of a process is read only if the daemon has entered the process: tgid,
 *     start time and exec id agree, and the process is not excluded.
 * I2  A packed page is complete before an entry names its first cell. Its cells are
 *     written again only after two conditions hold: no entry has named the page for a
 *     grace period, and all records made with it have been walked, because a walk needs
 *     the same micro-ops.
 * I3  A process's sequence number is odd while its regions change. If a window does not
 *     find the same even number at its begin and its end, it is stale, and is not
 *     recorded.
 * I4  Of samples in user mode: received = recorded + Σ dropped.
 */
#ifndef CPI_ABI_WINDOW_BPF_H
#define CPI_ABI_WINDOW_BPF_H

#ifdef __KERNEL__
#include <linux/stddef.h>
#else
#include <stddef.h>
#endif

#include "abi/form.h"
#include "abi/window.h"

#define CPI_WINDOW_SETS      128 /* of processes, by a hash of the tgid */
#define CPI_WINDOW_WAYS      4
#define CPI_WINDOW_PROCESSES (CPI_WINDOW_SETS * CPI_WINDOW_WAYS)
#define CPI_WINDOW_REGIONS   32 /* of a process */
#define CPI_WINDOW_CGROUPS   16 /* that are excluded */
#define CPI_WINDOW_NOWHERE   0x7fffffffffffffffULL

/* Limits of a window. They, and a limit on micro-ops, bound its time. */
#define CPI_WINDOW_INSTRUCTIONS 100
#define CPI_WINDOW_USER_READS   64

/* A mapped region of code. Its first address is in start[] of the process. */
struct cpi_window_region {
	uint64_t end;
	uint32_t first; /* the entry of its first page; the entries of its other pages
			   follow */
	uint32_t made;  /* its code was made at run time: no forms interpret it */
};

struct cpi_window_process {
	uint32_t sequence; /* I3 */
	uint32_t tgid;     /* 0: the slot is free */
	uint32_t exec_id;
	uint32_t used;       /* set by the program, cleared by the daemon */
	uint64_t started_ns; /* when its first thread started, monotonic */
	uint64_t excluded;
	uint64_t start[CPI_WINDOW_REGIONS]; /* ascending; NOWHERE behind the last */
	struct cpi_window_region region[CPI_WINDOW_REGIONS];
};

/* The entry of a page of code. */
struct cpi_window_entry {
	uint32_t cell; /* the first cell of the packed page; 0: the page is not
			  translated */
	uint32_t used; /* set by the program, cleared by the daemon */
};

static inline uint32_t cpi_window_set(uint32_t tgid)
{
	return (tgid * 0x9e3779b1u >> 16) & (CPI_WINDOW_SETS - 1);
}

/* Why a sample has no record. */
#define CPI_WINDOW_DROPS(X)                                                     \
	X(NESTED, "nested")     /* one came during another's window */          \
	X(COMPAT, "compat")     /* 32-bit code */                               \
	X(EXCLUDED, "excluded") /* the process, or its cgroup, is left alone */ \
	X(STALE, "stale")       /* its mappings changed during the window */    \
	X(RING, "ring_lost")    /* the ring was full */

enum cpi_window_drop {
#define CPI_WINDOW_DROP_ENUM(name, text) CPI_WINDOW_DROP_##name,
	CPI_WINDOW_DROPS(CPI_WINDOW_DROP_ENUM)
#undef CPI_WINDOW_DROP_ENUM
		CPI_WINDOW_NR_DROPS
};

/*
 * A histogram of times: four classes for each power of two, up to 2^24 ns.
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

/* The shortest time of a class, in ns. */
static inline uint64_t cpi_window_class_time(uint32_t class)
{
	return class < 4 ? class : (uint64_t)(4 + (class & 3)) << (class / 4 - 1);
}

/*
 * A record in the ring. A sample whose process is not in the table also has a record.
 */
struct cpi_window_record {
	uint64_t started_ns;
	uint32_t exec_id;
	uint32_t process; /* CPI_WINDOW_PROCESSES: the process is not in the table */
	uint64_t sequence;
	struct cpi_window window;
};

/*
 * The state with which a window began, and the values that it loaded. With these and
 * the same micro-ops, user space can interpret the window again, and then knows the
 * operands of its instructions (daemon/windows/windowreplay.h). The ring has this after
 * the record, up to the last load, only if the daemon asked for it.
 */
#define CPI_WINDOW_LOADS 128 /* CPI_WINDOW_USER_READS each: the lead-in, the window */

struct cpi_window_origin {
	uint64_t reg[CPI_REG_ZERO]; /* the integer registers */
	uint64_t thread;            /* CPI_REG_THREAD */
	uint32_t flags;
	uint16_t unknown_thread; /* its unknown bytes */
	uint16_t nr_loads;
	uint64_t failed[CPI_WINDOW_LOADS / 64]; /* a bit for each load that failed */
	uint64_t load[CPI_WINDOW_LOADS]; /* of the program's memory, in their order */
};

/*
 * The code that forms interpreted: nr_code bytes, one instruction after the other. If
 * the window ended because a form is lacking, CPI_FORM_BYTES bytes of the code at its
 * end follow. In the ring the code follows the record, up to its last word.
 */
#define CPI_WINDOW_CODE_WORDS ((CPI_WINDOW_CODE + CPI_FORM_BYTES) / 8)

static inline uint32_t cpi_window_code_words(const struct cpi_window *w)
{
	const uint32_t bytes = w->nr_code + (w->lacks_form ? CPI_FORM_BYTES : 0u);

	return bytes < 8 * CPI_WINDOW_CODE_WORDS ? (bytes + 7) / 8
						 : CPI_WINDOW_CODE_WORDS;
}

struct cpi_window_counts {
	uint64_t received;  /* in user mode */
	uint64_t elsewhere; /* samples in kernel mode, which get no window */
	uint64_t dropped[CPI_WINDOW_NR_DROPS];
	uint64_t recorded;
	uint64_t strangers; /* samples in user mode whose process is not in the table */
	uint64_t nr_timed, sum_ns,
		max_ns; /* of windows with at least one instruction */
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

/* The state of one CPU; only the kernel side writes it. */
struct cpi_window_cpu {
	uint32_t busy;
	uint32_t barrier; /* exchanged where BPF needs a barrier */
	struct cpi_window_counts counts;
	struct cpi_window_record record;
	uint64_t trace[CPI_WINDOW_CODE_WORDS]; /* right behind the record */
	struct cpi_window_origin origin;       /* right behind that */
	struct cpi_window_state state;
	struct cpi_form_parts parts; /* of the instruction that a form interprets */
	struct cpi_uop filled;       /* the micro-op, likewise */
	uint32_t how;                /* of its form */
	uint32_t has;                /* bytes of code[] that are there */
	uint64_t form_page; /* the last page of code in a region where forms may be */
	uint64_t bare_page; /* the last of those that is not translated */
	/* The line of code that was compared last, and the first cell of its page. */
	uint64_t line;
	uint64_t differ; /* a bit for each byte that differs from the translated one */
	uint32_t differ_behind; /* the same for the 16 bytes after the line */
	uint32_t page;
	uint64_t code[2 *
		      CPI_CODE_LINE_CELLS]; /* the bytes that the program has there */
};

/*
 * A ring of one CPU's records. The module writes head, the daemon writes tail; both
 * count records from the beginning. The record of number n is at n modulo nr, a power
 * of two. If origins were asked for, each slot has room for one behind the record; that
 * of a window without instructions is not written.
 */
struct cpi_window_ring {
	uint64_t head;
	uint64_t tail;
	uint64_t padding[6];
	uint64_t slots[];
};

static inline uint32_t cpi_window_slot_bytes(int with_origins)
{
	return sizeof(struct cpi_window_record) +
	       (with_origins ? sizeof(struct cpi_window_origin) : 0);
}

static inline struct cpi_window_record *cpi_window_slot(struct cpi_window_ring *ring,
							uint64_t number, uint32_t nr,
							uint32_t slot_bytes)
{
	return (void *)((char *)ring->slots + (number & (nr - 1)) * slot_bytes);
}

static inline struct cpi_window_origin *
cpi_window_slot_origin(struct cpi_window_record *slot)
{
	return (void *)(slot + 1);
}

/* The bytes of an origin up to its last load. */
static inline uint32_t cpi_window_origin_bytes(const struct cpi_window_origin *o)
{
	const uint32_t nr =
		o->nr_loads < CPI_WINDOW_LOADS ? o->nr_loads : CPI_WINDOW_LOADS;

	return offsetof(struct cpi_window_origin, load) + nr * sizeof(uint64_t);
}

_Static_assert(offsetof(struct cpi_window_cpu, origin) ==
		       offsetof(struct cpi_window_cpu, record) +
			       sizeof(struct cpi_window_record) +
			       CPI_WINDOW_CODE_WORDS * sizeof(uint64_t),
	       "the ring gets all at once");
_Static_assert(sizeof(struct cpi_window_process) % 8 == 0, "elements are not padded");
_Static_assert(sizeof(struct cpi_window_cpu) % 8 == 0, "elements are not padded");

#endif
