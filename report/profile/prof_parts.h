/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_parts.h - rows that need no counts by offset, and all of their intervals, from
 * one reading of the totals
 *
 * Rows by image, command or machine are sums of totals, which the database has for each
 * epoch. They are read once, apart by the intervals of prof_time.h, and with --by=host
 * by machine.
 */
#ifndef CPI_REPORT_PROF_PARTS_H
#define CPI_REPORT_PROF_PARTS_H

#include "report/profile/prof.h"

/*
 * Reads p->parts if its rows are made of totals, else leaves it NULL. Makes p->bucket,
 * too. 0, or a query's error, which is logged.
 */
int prof_read_parts(struct prof *p);

/* Adds the rows of p->parts, of one slot if p is a part of a whole. 0 or -ENOMEM. */
int prof_gather_parts(struct prof *p);

void prof_free_parts(struct prof *p); /* those of the whole */

#endif
