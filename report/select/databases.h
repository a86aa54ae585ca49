/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * databases.h - several databases, each given with its own --db
 */
#ifndef CPI_REPORT_DATABASES_H
#define CPI_REPORT_DATABASES_H

#include "db/core/db.h"

struct select_request;

/*
 * Joins the epochs that spec selects in each database. A database may have none
 * of them. It is an error if no database has any, or if spec is a list of epoch
 * ids and one of them is in no database. Errors are logged. Returns 0, -errno or
 * -CPI_E….
 */
int databases_open(const struct select_request *req, const char *spec, struct db **out);

/*
 * Returns in *out, as a new string, the part of spec for database nr: "last" of
 * "2:last" and "4,5" of "1:3,2:4,2:5" for database 2. A spec without numbers is for
 * every database. *out is NULL if spec names only other databases. Returns 0, -EINVAL
 * for a number outside 1 to nr_dbs, or -ENOMEM.
 */
int databases_spec(const char *spec, unsigned int nr, unsigned int nr_dbs, char **out);

#endif
