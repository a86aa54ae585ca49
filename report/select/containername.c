/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containername.c - finds the container of a cgroup, and its name
 *
 * The path of a cgroup has only the id. cpi-containers asked the runtime for the name
 * while the container existed.
 */
#include "config.h"

#include "report/select/containername.h"

#include "db/query/containers.h"

bool containername_find(struct db *db, const char *path, struct cgroup_container *out)
{
	if (!cgroupname_container(path, out))
		return false;
	if (db && *out->whole_id)
		query_container_name(db, out->whole_id, out->name, sizeof(out->name));
	return true;
}
