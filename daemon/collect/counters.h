/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters.h - perf events, one per CPU and kind, with periods drawn anew
 *
 * What the collectors share that open events from user space. What becomes of a
 * sample is theirs: they hang a ring or a program on each event.
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
	/* Adds to the attributes what a sample has, and how it is told of; or NULL. */
	void (*set_attr)(void *ctx, int event, struct perf_event_attr *attr);
	/* An event is open, and does not count yet. 0 or -errno, which closes it. */
	int (*opened)(void *ctx, int cpu, int event, int fd);
	/* The same for each thread of the target; else the first one's ring gets the
	   samples of all of them. */
	bool each_thread;
	/* They do not start before counters_release(). */
	bool held;
	/* A CPU's events are about to be closed; or NULL. */
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
 * Chooses new periods around the mean, where there were samples enough since the
 * last time: received has how many by now, by event.
 */
void counters_randomise(struct counters *cs, const uint64_t *received);

/* In how many ns new ones are to be chosen. */
uint64_t counters_random_ns(const struct counters *cs);

/*
 * Whether periods are drawn so rarely from now on that rates make up for no restarts.
 * As it begins, each clock has its period drawn once more.
 */
void counters_draw_rarely(struct counters *cs, bool settled);

/* Whether this CPU has events. */
bool counters_has(const struct counters *cs, int cpu);

/* The event that perf calls id on a CPU. */
int counters_event_of_id(const struct counters *cs, int cpu, uint64_t id);

/*
 * What the kernel counted: event_count, enabled_ns, running_ns, throttled_ns, and where
 * it tells (it returns whether) ring_lost; nothing else of out is touched.
 *
 * An event that the kernel throttles stands still until the next tick, and its count
 * with it, but its running time goes on. Of cpu-clock both are ns: what the count lacks
 * is the time that it was throttled, and event_count has it all the same, so that it
 * tells how many samples there should have been.
 */
bool counters_read(const struct counters *cs, int event, struct collector_counts *out);

/* As the collector's ops: opens and closes what is missing; 0 or the last -errno. */
int counters_set_cpus(struct counters *cs, const struct cpus *cpus);
void counters_stop(struct counters *cs);
int counters_restart(struct counters *cs);

#endif
