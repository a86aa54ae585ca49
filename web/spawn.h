/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spawn.h - starts the child that makes a report
 */
#ifndef CPI_WEB_SPAWN_H
#define CPI_WEB_SPAWN_H

#include <sys/types.h>

struct jobs_config;

#define SPAWN_FAILED 126 /* the exit status of a child that could not execute cpi */

struct spawned {
	pid_t pid;
	int out, err; /* pipes from the child, not blocking */
	int pidfd;    /* or -errno; then the child's end is not reported */
};

/*
 * Starts a child that executes config->cpi with args, which end with NULL. The child
 * gets only the pipes as descriptors, and only the environment that reports need. It
 * leads its own process group. nicer is added to its nice value. Returns 0 or -errno;
 * then there is no child.
 */
int spawn_report(const struct jobs_config *config, char *const *args, int nicer,
		 struct spawned *out);

#endif
