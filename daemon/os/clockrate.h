/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clockrate.h - at how many cycles a second this machine's CPUs run under load
 */
#ifndef CPI_DAEMON_CLOCKRATE_H
#define CPI_DAEMON_CLOCKRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rates that differ by less than this fraction count as equal. */
#define CLOCKRATE_SAME 0.1

/* The rate that the machine says it has; 0: none. cpuinfo: text of /proc/cpuinfo */
double clockrate_announced(const char *cpuinfo);

/*
 * Measures the clock rate. Returns it in Hz, 0 if it cannot be found. known_hz is the
 * rate that an earlier run found in this boot (0: none); it stays unless the rate is
 * clearly higher. Takes 2 to 100 ms of CPU time, 2 to 12 if a rate is known.
 */
uint64_t clockrate_read(double announced_hz, uint64_t known_hz);

/*
 * Returns whether enough measurements agree with the highest one. Then that one
 * is the CPU's rate: a measurement can be too low (if the thread lost the CPU),
 * but not too high.
 */
bool clockrate_enough_agree(const double *hz, size_t nr);

/*
 * Returns measured_hz, unless it is below two thirds of announced_hz; then
 * announced_hz. 0: none is announced.
 */
double clockrate_choose(double measured_hz, double announced_hz);

/*
 * Returns known_hz (0: none), unless measured_hz is clearly higher. So all runs of one
 * boot use the same rate.
 */
uint64_t clockrate_of_boot(uint64_t known_hz, uint64_t measured_hz);

#endif
