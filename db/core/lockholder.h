/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lockholder.h - finds the process that holds a lock on a file
 *
 * This is for messages. The file itself is not opened, because closing it again would
 * drop this process's locks on it. Files of other processes below /proc are read, which
 * may block; so a process that must not block calls this in a worker
 * (daemon/os/timed_child.h).
 */
#ifndef CPI_DB_LOCKHOLDER_H
#define CPI_DB_LOCKHOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The lock that is looked for. */
struct lockholder_query {
	ino_t inode;
	char kinds[24];  /* some of "FLOCK POSIX OFDLCK", as in /proc/locks */
	int64_t byte;    /* a byte that the lock covers; 0 for FLOCK */
	bool write_only; /* ignore shared locks */
	pid_t except;    /* a process to ignore; 0: none */
	uint64_t max_ns; /* time limit of the search */
};

/*
 * Returns a living process that holds such a lock. Returns 0 if none is found, for
 * example because it is in another PID namespace or belongs to another user.
 */
pid_t lockholder_find(const struct lockholder_query *q);

/* Writes the command name of a process to name, or "", and returns name. */
#define LOCKHOLDER_NAME_SIZE 32
const char *lockholder_name(pid_t pid, char name[LOCKHOLDER_NAME_SIZE]);

#endif
