/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * anchorsums.h - what visits of a breakpoint at one instruction say together
 */
#ifndef CPI_DB_ANCHORSUMS_H
#define CPI_DB_ANCHORSUMS_H

#include <stdint.h>

struct anchor_sums {
	uint64_t visits, hits;
	uint64_t enabled_ns; /* how long there was a breakpoint */
	uint64_t running_ns; /* CPU time of the thread in that time */
	uint64_t hit_ns;     /* ... which the breakpoint took itself */
	double rate;         /* Σ over visits: hits per second of the rest */
	double squares;      /* Σ of that, squared */
};

/* Adds from's numbers to to's. */
void anchor_sums_add(struct anchor_sums *to, const struct anchor_sums *from);

#endif
