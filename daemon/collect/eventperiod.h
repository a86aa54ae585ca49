/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * eventperiod.h - parses the period of EVENT@PERIOD
 *
 * Commands also use this file, to check periods before they look up any event.
 */
#ifndef CPI_DAEMON_EVENTPERIOD_H
#define CPI_DAEMON_EVENTPERIOD_H

#include <stdint.h>

/*
 * The longest period: 104 days of a clock in ns. Sums and multiples of periods then fit
 * in 64 bits.
 */
#define EVENT_MAX_PERIOD (1ULL << 53)

/*
 * Sets *out to the number after spec's '@', or to 0 if there is no '@'. Returns 0 or
 * -EINVAL (logged).
 */
int eventperiod_read(const char *spec, uint64_t *out);

#endif
