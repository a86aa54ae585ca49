/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calibrate.h - what a sampling interrupt costs here, and the rate to afford
 */
#ifndef CPI_DAEMON_CALIBRATE_H
#define CPI_DAEMON_CALIBRATE_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

/* Assumed where it cannot be measured: an interrupt in a virtual machine. */
#define CALIBRATE_ASSUMED_NS 12000.0

#define CALIBRATE_MIN_HZ 19.0
#define CALIBRATE_MAX_HZ 10000.0

#define CALIBRATE_PAIRS 8

/* Two windows of equal length, one with the event, one without. */
struct calibrate_pair {
	uint64_t stolen_on_ns; /* by whatever interrupted the spinning */
	uint64_t stolen_off_ns;
	uint64_t nr_samples; /* in the window with the event */
};

/*
 * Measures on the CPU where it runs, in less than half a second, what one
 * sample of attr costs the interrupted program: time between two readings of
 * the clock, not what refilling caches costs later. Of attr, type, config,
 * sample_type and register masks count; NULL means cpu-clock. Returns 0,
 * -errno of perf_event_open (-EACCES: not allowed), or -ENODATA when the
 * noise was greater than the cost.
 */
int calibrate_interrupt(const struct perf_event_attr *attr, double *cost_ns);

/* What tells of samples that are being taken. */
struct calibrate_samples {
	/* How many a CPU has taken, or another number that each of them changes. */
	uint64_t (*nr)(void *ctx, int cpu);
	void *ctx;
};

/*
 * Waits, spinning, for the next sample on the CPU where it runs, for max_ns at
 * most: what it cost whatever it interrupted. Returns 0, -ENODATA when none came,
 * or another -errno.
 */
int calibrate_sample(const struct calibrate_samples *samples, uint64_t max_ns,
		     double *cost_ns);

/*
 * The median cost of a sample over the pairs (at most CALIBRATE_PAIRS) that
 * have any. Returns 0, or -ENODATA when fewer than half of them have, or nothing was
 * stolen.
 */
int calibrate_cost(const struct calibrate_pair *pairs, size_t nr, double *cost_ns);

/*
 * Samples per second and CPU that cost the share budget (0.005: 0.5 %) of its
 * time, but no less than CALIBRATE_MIN_HZ and no more than CALIBRATE_MAX_HZ.
 */
double calibrate_rate(double budget, double cost_ns);

#endif
