/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters.h - opens perf events, one per CPU and kind, and redraws their periods
 *
 * The collectors that open events from user space share this file. Each adds its own
 * ring or BPF program to an event, which handles the samples.
 */
#ifndef CPI_DAEMON_COUNTERS_H
#define CPI_DAEMON_COUNTERS_H

#include "daemon/collect/collector.h"
#include "daemon/os/perfev.h"

struct counters_config {
	const struct event *events;
	const uint64_t *periods; /* by event; the stream's mean; the owner's */
	int nr_events;           /* may be 0 */
	struct perftarget target;
	/* Sets the contents of a sample, and when the collector is woken; or NULL. */
	void (*set_attr)(void *ctx, int event, struct perf_event_attr *attr);
	/* Called when an event is open but does not count yet. An error closes it. */
	int (*opened)(void *ctx, int cpu, int event, int fd);
	/*
	 * Calls opened() for each thread of the target; else the ring of the first
	 * thread gets the samples of all.
	 */
	bool each_thread;
	/* The events do not start before counters_release(). */
	bool held;
	/* Called before a CPU's events are closed; or NULL. */
	void (*closing)(void *ctx, int cpu);
	void *ctx;
};

struct counters;

/*
 * Opens the events on the CPUs and starts them. Returns 0, or -errno; *event is
 * then the index of the one that failed, or -1.
 */
int counters_open(const struct counters_config *cfg, const struct cpus *cpus,
		  struct counters **out, int *event);
void counters_close(struct counters *cs); /* accepts NULL */

/*
 * Starts events that are held, also those that the target's children have inherited
 * meanwhile. 0 or the last -errno.
 */
int counters_release(struct counters *cs);

/*
 * Draws new periods around the mean for events that had enough samples since the last
 * draw. received has the number of samples so far, by event.
 */
void counters_randomise(struct counters *cs, const uint64_t *received);

/* Returns the time in ns until new periods are due. */
uint64_t counters_random_ns(const struct counters *cs);

/*
 * If settled, periods are drawn so rarely from now on that rates need no correction for
 * restarts. When that begins, the period of each clock is drawn once more.
 */
void counters_draw_rarely(struct counters *cs, bool settled);

/* Whether this CPU has events. */
bool counters_has(const struct counters *cs, int cpu);

/* Returns the index of the event whose perf id on a CPU is id. */
int counters_event_of_id(const struct counters *cs, int cpu, uint64_t id);

/*
 * Sets event_count, enabled_ns, running_ns and throttled_ns in out from the kernel's
 * counts, and ring_lost if the kernel reports it; then it returns true.
 *
 * An event that the kernel throttles stands still until the next tick, and its count
 * with it, but its running time goes on. For cpu-clock both are in ns: the difference
 * is the time for which it was throttled. event_count includes that time, and so gives
 * the number of samples that there should have been.
 */
bool counters_read(const struct counters *cs, int event, struct collector_counts *out);

/* Like the collector's ops. set_cpus opens and closes events; 0 or the last -errno. */
int counters_set_cpus(struct counters *cs, const struct cpus *cpus);
void counters_stop(struct counters *cs);
int counters_restart(struct counters *cs);

#endif
