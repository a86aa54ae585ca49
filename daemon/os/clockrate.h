/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clockrate.h - at how many cycles a second this machine's CPUs run under load
 */
#ifndef CPI_DAEMON_CLOCKRATE_H
#define CPI_DAEMON_CLOCKRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two rates that differ by less are one. */
#define CLOCKRATE_SAME 0.1

/*
 * The clock rate in Hz, 0 where it cannot be found. Takes 2 to 100 ms of CPU time;
 * cpuinfo is the text of /proc/cpuinfo.
 */
uint64_t clockrate_read(const char *cpuinfo);

/*
 * Whether the highest of nr measured rates was met by enough of the others to be the
 * CPU's own: a measurement is only ever too low, when something takes the CPU away.
 */
bool clockrate_is_settled(const double *hz, size_t nr);

/*
 * Of the rate that was measured and the one that the machine announces (0: none) the
 * one to go by: the announced one where the measured one is below two thirds of it.
 */
double clockrate_choose(double measured_hz, double announced_hz);

/*
 * Of the rate that an earlier run found in the same boot (0: none) and today's: the
 * earlier one, unless today's is clearly higher. So one boot is one machine.
 */
uint64_t clockrate_of_boot(uint64_t known_hz, uint64_t measured_hz);

#endif
