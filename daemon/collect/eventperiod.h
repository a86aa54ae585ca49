/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * eventperiod.h - the period that EVENT@PERIOD asks for
 *
 * Also for command lines, which say what is wrong with it before any event is looked
 * up.
 */
#ifndef CPI_DAEMON_EVENTPERIOD_H
#define CPI_DAEMON_EVENTPERIOD_H

#include <stdint.h>

/*
 * No period is longer: 104 days of a clock. Added up and multiplied it stays in 64
 * bits.
 */
#define EVENT_MAX_PERIOD (1ULL << 53)

/* What is behind spec's '@', or 0 where there is none. 0 or -EINVAL (logged). */
int eventperiod_read(const char *spec, uint64_t *out);

#endif
