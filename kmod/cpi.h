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
 *	cpi_window.c	windows: memory, counters, accounting
 *	cpi_follow.c	the overflow handler that follows the program
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

/* The range from which periods are drawn: [low, low + span). */
struct cpi_period {
	u64 low;  /* the shortest period */
	u32 span; /* the number of possible periods */
	u32 random;
};

/*
 * One event on one CPU. A hit uses only this cache line of the module's memory, and the
 * bucket; so the line has copies of the settings (SOSP'97 section 4.2.2).
 */
struct cpi_counter {
	u64 received;
	struct cpi_period period;
	struct cpi_bucket *buckets;
	u64 word0; /* the event's number, in the bits of an entry's word 0 */
	struct cpi_cpu *cpu;
	u32 mask;   /* of the table */
	u32 direct; /* set while a flush reads the table: the handler must not use it */
	u64 nested; /* samples that were lost because another handler was active */
} __aligned(64);

static_assert(sizeof(struct cpi_counter) == 64, "a hit touches one line of state");
static_assert(sizeof(struct cpi_table) == 64, "and a miss this one");
static_assert(sizeof(struct cpi_bucket) == 64, "a look-up is in one cache line");

/* Counts for the rare cases of the handler. */
struct cpi_tallies {
	u64 direct, inserts, evictions, unreadable, wakeups;
	u64 hit_cycles, nr_timed_hits;
	u64 miss_cycles, nr_timed_misses;
};

/* The phase of a flush of a CPU's table. */
enum cpi_phase { CPI_DRAINING, CPI_SWEEPING, CPI_SWAPPING };

struct cpi_cpu {
	struct cpi_table table;
	struct cpi_counter counter[CPI_MAX_EVENTS];

	u32 busy; /* a handler is active; used only if there are two sources of
		     interrupts */
	struct irq_work wake;
	struct cpi_tallies tallies;
	u64 lost[CPI_MAX_EVENTS]; /* table.lost */

	struct perf_event *event[CPI_MAX_EVENTS]; /* NULL: not open */
	struct cpi_entry *pair; /* both overflow buffers, which user space maps */
	int taken;              /* the buffer that user space reads, or -1 */
	enum cpi_phase phase;
	u32 cursor; /* the bucket from which the sweep goes on */
	unsigned int number;
};

/* The counts of counters that were closed. */
struct cpi_gone {
	u64 event_count, enabled_ns, running_ns;
};

/* The windows of one CPU. */
struct cpi_follower {
	struct cpi_window_cpu cpu;
	struct cpi_uop uop; /* a copy of the micro-op that is interpreted, because
			       others may write the cells */
	struct cpi_window_ring *ring;
	u64 head; /* the module's own copy of the ring's head, which user space cannot
		     write */
	struct cpi_period period;
	struct perf_event *event; /* NULL: not open */
};

/* If config.bytes is 0, windows are off. */
struct cpi_windows {
	struct cpi_kmod_windows config;
	void *memory; /* config.bytes of it; the next three point into it */
	struct cpi_window_process *process;
	struct cpi_window_entry *entry;
	union cpi_code_cell *cell;
	struct cgroup *excluded[CPI_WINDOW_CGROUPS];
	struct cpi_follower **followers; /* by CPU, nr_cpu_ids of them */
	struct cpi_gone gone;
	bool running;
};

struct cpi_device {
	struct mutex lock; /* I1 */
	bool open;
	bool running;
	struct cpi_kmod_config config; /* not configured if nr_events is 0 */
	struct cpi_gone gone[CPI_MAX_EVENTS];
	struct cpumask
		online; /* CPUs that are online: between the two hotplug callbacks */
	struct cpi_cpu *
		*cpus; /* nr_cpu_ids of them; NULL: not online since CONFIGURE */
	struct cpi_windows windows;
	wait_queue_head_t wait;
};

extern struct cpi_device cpi;

/* cpi_config.c */
bool cpi_config_is_clock(const struct cpi_kmod_event *e);
bool cpi_config_can_sample(const struct cpi_kmod_event *e,
			   const struct perf_event *event);
int cpi_config_check_period(const struct cpi_kmod_event *e, u64 period, u64 spread);
int cpi_config_check_event(const struct cpi_kmod_event *e);
int cpi_config_check(struct cpi_kmod_config *config);

/*
 * Draws a new period for the event, uniformly (SOSP'97 section 4.1.1). The generator is
 * linear congruential; only its upper bits are used, which are random enough.
 */
static __always_inline void cpi_period_draw(struct cpi_period *p,
					    struct perf_event *event)
{
	p->random = p->random * 1664525 + 1013904223;
	event->hw.sample_period = p->low + ((u64)p->random * p->span >> 32);
}

static inline void cpi_period_set(struct cpi_period *p, u64 mean, u64 spread)
{
	p->low = mean - spread;
	p->span = 2 * spread + 1;
}

/* cpi_counter.c. The caller holds cpi.lock, except in callbacks. */
struct perf_event *cpi_counter_create(const struct cpi_kmod_event *e, unsigned int cpu,
				      bool pinned, perf_overflow_handler_t handler,
				      void *context);
void cpi_counter_add_value(struct perf_event *event, struct cpi_gone *sum);
bool cpi_counter_is_missing(int err);
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
/* guarded: the interrupt of one event may interrupt the handler of another. */
perf_overflow_handler_t cpi_handler_choose(bool outcome, bool guarded);

/* cpi_buffer.c */
struct cpi_cpu *cpi_buffer_alloc(unsigned int cpu); /* NULL when out of memory */
void cpi_buffer_free(struct cpi_cpu *cpu);          /* accepts NULL */
u32 cpi_buffer_bytes(void);                         /* bytes of kernel memory per CPU */
u32 cpi_buffer_pair_bytes(void);
int cpi_buffer_mmap(struct vm_area_struct *vma);

/* cpi_flush.c */
int cpi_flush(struct cpi_kmod_flush *flush);
bool cpi_flush_is_due(const struct cpi_cpu *cpu);

/* cpi_window.c, if windows are built in. The caller holds cpi.lock. */
#ifdef CONFIG_X86_64
int cpi_window_configure(struct cpi_kmod_windows *config);
void cpi_window_close(void);
int cpi_window_switch(bool on);
int cpi_window_followed(struct cpi_kmod_followed *followed);
int cpi_window_mmap(struct vm_area_struct *vma);
void cpi_window_online(unsigned int cpu);
void cpi_window_offline(unsigned int cpu);
void cpi_window_suspend(void);
void cpi_window_resume(void);
#else
static inline int cpi_window_configure(struct cpi_kmod_windows *config)
{
	return -EOPNOTSUPP;
}

static inline int cpi_window_switch(bool on)
{
	return -ENXIO;
}

static inline int cpi_window_followed(struct cpi_kmod_followed *followed)
{
	return -ENXIO;
}

static inline int cpi_window_mmap(struct vm_area_struct *vma)
{
	return -ENXIO;
}

static inline void cpi_window_close(void)
{
}

static inline void cpi_window_online(unsigned int cpu)
{
}

static inline void cpi_window_offline(unsigned int cpu)
{
}

static inline void cpi_window_suspend(void)
{
}

static inline void cpi_window_resume(void)
{
}
#endif

/* cpi_follow.c */
void cpi_follow_handle(struct perf_event *event, struct perf_sample_data *data,
		       struct pt_regs *regs);

#endif
