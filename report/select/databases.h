/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * databases.h - several databases, given with --db again and again
 */
#ifndef CPI_REPORT_DATABASES_H
#define CPI_REPORT_DATABASES_H

#include "db/core/db.h"

struct select_request;

/*
 * Joins what spec names in each database. A database without such epochs gives
 * none; it is an error, and logged as others, when none gives any, or when an id of
 * a list is nowhere. Returns 0, -errno or -CPI_E….
 */
int databases_open(const struct select_request *req, const char *spec, struct db **out);

/*
 * The part of spec that is for database nr: of "2:last" and "1:3,2:4,2:5" what
 * names 2, else all of it. A new string; NULL in *out where it names others only.
 * 0, -EINVAL for a number that is not within 1 to nr_dbs, or -ENOMEM.
 */
int databases_spec(const char *spec, unsigned int nr, unsigned int nr_dbs, char **out);

#endif
