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
	int out, err; /* pipes from it; read without waiting */
	int pidfd;    /* or -errno: then nothing tells of its end */
};

/*
 * Has a child execute config->cpi with args, which end with NULL. It gets no descriptor
 * but the pipes, and no environment but what reports need. It leads a process group of
 * its own. 0 or -errno; then there is no child.
 */
int spawn_report(const struct jobs_config *config, char *const *args,
		 struct spawned *out);

#endif
