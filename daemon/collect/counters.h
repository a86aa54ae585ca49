/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters.h - opens perf events, one per CPU and configured event, and redraws their
 * periods
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
	/* mean period of each event; the owner may change them */
	const uint64_t *periods;
	int nr_events; /* may be 0 */
	struct perftarget target;
	/* Sets the contents of a sample, and when the collector is woken; or NULL. */
	void (*set_attr)(void *ctx, int event, struct perf_event_attr *attr);
	/* Called when an event is open but does not count yet. An error closes it. */
	int (*opened)(void *ctx, int cpu, int event, int fd);
	/*
	 * true: calls opened() for each thread of the target. false: the ring of the
	 * first thread gets the samples of all threads.
	 */
	bool each_thread;
	/* The events do not start before counters_release(). */
	bool held;
	/* Called when a CPU's events have stopped, before they are closed; or NULL. */
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
 * Starts events that are held, and those that the target's children have inherited in
 * the meantime. Returns 0 or the last -errno.
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
 * Each new period restarts the timer, and loses half a sample on average. So clock
 * events usually run a little faster than the wanted rate (counters.c). If rarely is
 * true, periods are drawn so rarely from now on that the loss does not matter. When
 * rarely becomes true, the periods of clock events are drawn once more.
 */
void counters_draw_rarely(struct counters *cs, bool rarely);

/* Whether this CPU has events. */
bool counters_has(const struct counters *cs, int cpu);

/* Returns the index of the event whose perf id on a CPU is id; if there is none, 0. */
int counters_event_of_id(const struct counters *cs, int cpu, uint64_t id);

/*
 * Sets event_count, enabled_ns, running_ns and throttled_ns in out from the
 * kernel's counts, and returns false. If the kernel reports lost samples (Linux
 * 6.0), also sets ring_lost, and returns true.
 *
 * While the kernel throttles an event, until the next tick, its count stands still, but
 * its running time grows. For cpu-clock both are in ns, so the difference is the
 * throttled time. event_count includes this time, so that event_count / period is the
 * number of samples that should have been taken.
 */
bool counters_read(const struct counters *cs, int event, struct collector_counts *out);

/*
 * These are as in struct source_ops and struct collector_ops. counters_set_cpus() opens
 * and closes events, and returns 0 or the last -errno.
 */
int counters_set_cpus(struct counters *cs, const struct cpus *cpus);
void counters_stop(struct counters *cs);
int counters_restart(struct counters *cs);

#endif
