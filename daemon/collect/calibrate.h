/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calibrate.h - measures the cost of a sampling interrupt, and chooses a rate
 */
#ifndef CPI_DAEMON_CALIBRATE_H
#define CPI_DAEMON_CALIBRATE_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

/* The cost if it cannot be measured: that of an interrupt in a virtual machine. */
#define CALIBRATE_ASSUMED_NS 12000.0

#define CALIBRATE_MIN_HZ 19.0
#define CALIBRATE_MAX_HZ 10000.0

#define CALIBRATE_PAIRS 4

/* Two intervals of equal length, one with the event, one without. */
struct calibrate_pair {
	uint64_t stolen_on_ns; /* time taken by whatever interrupted the spinning */
	uint64_t stolen_off_ns;
	uint64_t nr_samples; /* in the interval with the event */
};

/*
 * Measures on the current CPU how much time one sample of attr takes from the
 * interrupted program. Takes some 25 ms, so this is a first guess; sessions measure
 * again while they sample. Costs after the interrupt, such as refilling caches, are not
 * measured. Of attr only type, config, config1, config2, sample_type and
 * sample_regs_intr are used; NULL means cpu-clock. Returns 0, -errno of perf_event_open
 * (-EACCES: not allowed), or -ENODATA if the noise was greater than the cost.
 */
int calibrate_interrupt(const struct perf_event_attr *attr, double *cost_ns);

/* Tells calibrate_sample() when a sample was taken. */
struct calibrate_samples {
	/*
	 * Returns a number that changes with each sample on the CPU, such as the
	 * number of samples so far.
	 */
	uint64_t (*nr)(void *ctx, int cpu);
	void *ctx;
};

/*
 * Spins until the next sample on the current CPU, for at most max_ns, and measures the
 * time that the sample took. Returns 0, -ENODATA if there was no sample, or another
 * -errno.
 */
int calibrate_sample(const struct calibrate_samples *samples, uint64_t max_ns,
		     double *cost_ns);

/*
 * Computes the median cost of a sample over the pairs that have samples. nr is at most
 * CALIBRATE_PAIRS. Returns 0, or -ENODATA if fewer than half of the pairs have samples,
 * or if the median is not positive.
 */
int calibrate_cost(const struct calibrate_pair *pairs, size_t nr, double *cost_ns);

/*
 * Returns how many samples per second cost the share `budget` (0.005: 0.5 %) of a
 * CPU's time, limited to between CALIBRATE_MIN_HZ and CALIBRATE_MAX_HZ.
 */
double calibrate_rate(double budget, double cost_ns);

#endif
