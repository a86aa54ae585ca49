/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lockholder.h - which process holds a lock on a file
 *
 * For messages. The file is not opened: closing it again would drop the locks that this
 * process has on it. Files of other processes below /proc are read, so a process that
 * must not wait has a worker look (daemon/os/timed_child.h).
 */
#ifndef CPI_DB_LOCKHOLDER_H
#define CPI_DB_LOCKHOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The lock that is looked for. */
struct lockholder_query {
	ino_t inode;
	char kinds[24];  /* of "FLOCK POSIX OFDLCK", as /proc/locks names them */
	int64_t byte;    /* that it covers; of a FLOCK: 0 */
	bool write_only; /* no shared ones */
	pid_t except;    /* a process that is not meant; 0: none */
	uint64_t max_ns; /* for the search */
};

/*
 * A living process that holds such a lock, or 0 where none can be told: it is in
 * another PID namespace, or of another user.
 */
pid_t lockholder_find(const struct lockholder_query *q);

/* The command's name of a process, or "" in name, which it returns. */
#define LOCKHOLDER_NAME_SIZE 32
const char *lockholder_name(pid_t pid, char name[LOCKHOLDER_NAME_SIZE]);

#endif
