/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * startweights.h - how often what a window shows counts, so that it is fair
 *
 * Windows begin where time is spent. So those that begin behind a mispredicted branch
 * are too many, and what they show is seen too often: not executions are counted, but
 * time. Where a window begins is told by the first jump that it takes. Windows that
 * began before it pass that jump as often as it is executed. So a window counts as
 *
 *   passes of its first jump / windows that have it as the first one
 *
 * relative to all windows (Horvitz and Thompson, "A generalization of sampling without
 * replacement from a finite universe", JASA 47, 1952). Weights come from the windows
 * before, so the first ones count once.
 */
#ifndef CPI_DAEMON_STARTWEIGHTS_H
#define CPI_DAEMON_STARTWEIGHTS_H

#include <stdint.h>

/* A window counts at most so often. */
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
