/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cpi.h - the module's own declarations: state, and which file does what
 *
 *	cpi_main.c	device, ioctls, loading and unloading
 *	cpi_config.c	what user space may ask for
 *	cpi_counter.c	perf counters per CPU and event, CPU hotplug, accounting
 *	cpi_handler.c	the overflow handler, in NMI context
 *	cpi_buffer.c	memory of a CPU, and its mapping
 *	cpi_flush.c	taking samples away from the handler
 *
 * I1  cpi.lock protects everything but what the handler writes. It is taken
 *     inside the CPU hotplug lock (by the callbacks), so nothing that takes the
 *     hotplug lock is called while it is held.
 * I2  The handler writes its own CPU's counters and table only, and takes no lock.
 * I3  A CPU's memory outlives its counters: it goes when the device is closed or
 *     configured anew.
 */
#ifndef CPI_KMOD_CPI_H
#define CPI_KMOD_CPI_H

#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/jump_label.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/wait.h>

#include "abi/kmod.h"
#include "kmod/table.h"

#ifndef CONFIG_64BIT
#error "an entry keeps 57 bits of a PC: 64-bit kernels only"
#endif

struct cpi_cpu;

/*
 * One event on one CPU: all that a hit touches of the module's own memory,
 * besides the bucket, is this line, with copies of the settings (SOSP'97
 * section 4.2.2).
 */
struct cpi_counter {
	u64 received;
	u64 period_low;  /* the least period */
	u32 period_span; /* how many periods there are from there on */
	u32 random;
	struct cpi_bucket *buckets;
	u64 word0; /* the event's number, where an entry has it */
	struct cpi_cpu *cpu;
	u32 mask;   /* of the table */
	u32 direct; /* set while the table is swept: stay away from it */
	u64 nested; /* samples lost because another handler was active */
} __aligned(64);

static_assert(sizeof(struct cpi_counter) == 64, "a hit touches one line of state");
static_assert(sizeof(struct cpi_table) == 64, "and a miss this one");
static_assert(sizeof(struct cpi_bucket) == 64, "a look-up is in one cache line");

/* What the handler counts off the common path. */
struct cpi_tallies {
	u64 direct, inserts, evictions, unreadable, wakeups;
	u64 hit_cycles, nr_timed_hits;
	u64 miss_cycles, nr_timed_misses;
};

/* Where a flush of a CPU's table has got to. */
enum cpi_phase { CPI_DRAINING, CPI_SWEEPING, CPI_SWAPPING };

struct cpi_cpu {
	struct cpi_table table;
	struct cpi_counter counter[CPI_MAX_EVENTS];

	u32 busy; /* a handler is active: only with two sources of interrupts */
	struct irq_work wake;
	struct cpi_tallies tallies;
	u64 lost[CPI_MAX_EVENTS]; /* table.lost */

	struct perf_event *event[CPI_MAX_EVENTS]; /* NULL: not open */
	struct cpi_entry *pair; /* both overflow buffers, as they are mapped */
	int taken;              /* the buffer that user space reads, or -1 */
	enum cpi_phase phase;
	u32 cursor; /* the bucket from which the sweep goes on */
	unsigned int number;
};

/* What counters that are closed have counted. */
struct cpi_gone {
	u64 event_count, enabled_ns, running_ns;
};

struct cpi_device {
	struct mutex lock; /* I1 */
	bool open;
	bool running;
	struct cpi_kmod_config config; /* nr_events 0: not configured */
	struct cpi_gone gone[CPI_MAX_EVENTS];
	struct cpumask online; /* CPUs between their two callbacks */
	struct cpi_cpu **cpus; /* nr_cpu_ids of them; NULL: never online since */
	wait_queue_head_t wait;
};

extern struct cpi_device cpi;

/* cpi_config.c */
bool cpi_config_is_clock(const struct cpi_kmod_event *e);
bool cpi_config_can_sample(const struct cpi_kmod_event *e,
			   const struct perf_event *event);
int cpi_config_check_period(const struct cpi_kmod_event *e, u64 period, u64 spread);
int cpi_config_check(struct cpi_kmod_config *config);

/* cpi_counter.c; all but the callbacks with cpi.lock held. */
int cpi_counter_configure(struct cpi_kmod_config *config);
void cpi_counter_close(void);
int cpi_counter_start(void);
void cpi_counter_stop(void);
void cpi_counter_suspend(void);
void cpi_counter_resume(void);
int cpi_counter_set_period(const struct cpi_kmod_period *period);
int cpi_counter_counts(struct cpi_kmod_counts *counts);
int cpi_counter_stats(struct cpi_kmod_stats *stats);
int cpi_cpu_online(unsigned int cpu);
int cpi_cpu_offline(unsigned int cpu);

/* cpi_handler.c */
DECLARE_STATIC_KEY_FALSE(cpi_timed);
/* guarded: interrupts of one event may come inside those of another. */
perf_overflow_handler_t cpi_handler_choose(bool outcome, bool guarded);
void cpi_counter_draw(struct cpi_counter *c, struct perf_event *event);

/* cpi_buffer.c */
struct cpi_cpu *cpi_buffer_alloc(unsigned int cpu); /* NULL when out of memory */
void cpi_buffer_free(struct cpi_cpu *cpu);          /* accepts NULL */
u32 cpi_buffer_bytes(void);                         /* of kernel memory per CPU */
u32 cpi_buffer_pair_bytes(void);
int cpi_buffer_mmap(struct vm_area_struct *vma);

/* cpi_flush.c */
int cpi_flush(struct cpi_kmod_flush *flush);
bool cpi_flush_is_due(const struct cpi_cpu *cpu);

#endif
