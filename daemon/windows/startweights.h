/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * startweights.h - weights of windows, so that they count executions and not time
 *
 * Windows begin where time is spent. So too many of them begin behind a slow place,
 * such as a mispredicted branch. The first jump of a window identifies the place where
 * it began. Windows that began earlier pass that jump as often as it is executed. So
 * the weight of a window is
 *
 *   passes of its first jump / windows that have it as the first one
 *
 * relative to all windows (Horvitz and Thompson, "A generalization of sampling without
 * replacement from a finite universe", JASA 47, 1952). A weight is computed from the
 * earlier windows, so the first ones count once.
 */
#ifndef CPI_DAEMON_STARTWEIGHTS_H
#define CPI_DAEMON_STARTWEIGHTS_H

#include <stdint.h>

/* The largest number of times that a window counts. */
#define STARTWEIGHTS_MOST 4

struct startweights; /* 32 KiB */

struct startweights *startweights_new(void);    /* NULL when out of memory */
void startweights_free(struct startweights *s); /* accepts NULL */

/*
 * Learns a window with these jumps (a number for each from and to), in their order.
 * Returns how often it counts: a number, 0 to STARTWEIGHTS_MOST, that is drawn so that
 * its mean is the weight. A window without a jump counts once.
 */
unsigned int startweights_add(struct startweights *s, const uint64_t *jump,
			      uint32_t nr);

#endif
