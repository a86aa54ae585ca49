/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containername.h - finds the container of a cgroup, and its name
 */
#ifndef CPI_REPORT_CONTAINERNAME_H
#define CPI_REPORT_CONTAINERNAME_H

#include "db/core/db.h"
#include "report/select/cgroupname.h"

/*
 * As cgroupname_container(), and sets the name if db has it. db may be NULL. Without a
 * name, or if the database is damaged (logged), the name is "".
 */
bool containername_find(struct db *db, const char *path, struct cgroup_container *out);

#endif
