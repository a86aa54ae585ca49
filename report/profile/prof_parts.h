/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_parts.h - rows that are made of totals instead of counts by offset
 *
 * Rows by image, command or machine are sums of totals, which the database has for each
 * epoch. The totals are read once for all intervals of prof_time.h and, with --by=host,
 * for all machines.
 */
#ifndef CPI_REPORT_PROF_PARTS_H
#define CPI_REPORT_PROF_PARTS_H

#include "report/profile/prof.h"

/*
 * Reads p->parts if its rows are made of totals; else leaves it NULL. Also makes
 * p->bucket. Returns 0, or the error of a query, which is logged.
 */
int prof_read_parts(struct prof *p);

/*
 * Adds rows from p->parts: if p->whole is set, only those of p->slot. Returns 0 or
 * -ENOMEM.
 */
int prof_gather_parts(struct prof *p);

void prof_free_parts(struct prof *p); /* call it only if p->whole is NULL */

#endif
