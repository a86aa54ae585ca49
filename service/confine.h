/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confine.h - confines a process that reads hostile data
 *
 * The process can write files only in the folders that it is given and, if a database
 * has no -wal or -shm file, in the database's folder. It gains no privileges, cannot
 * read the memory of other processes, and has bounded memory. It has a network and
 * unlimited time only if these are granted.
 */
#ifndef CPI_SERVICE_CONFINE_H
#define CPI_SERVICE_CONFINE_H

#include <stdbool.h>

#include <stdint.h>

#include "base/textlist.h"

struct confine_limits {
	bool with_parent;      /* ends when the process that started it ends */
	bool network;          /* it may connect to servers */
	uint64_t memory_bytes; /* limit of its address space */
	unsigned int cpu_s;    /* limit of CPU time; 0: none */
	const char *folder[2]; /* folders that it may write to, such as for SQLite's
				  temporary files; or NULL */
	/*
	 * Databases. If the -wal or -shm file of one is missing, the process may write
	 * in its folder, so that SQLite can create the file. NULL: none.
	 */
	const struct text_list *dbs;
};

/*
 * Call it in a child before exec; the limits stay after exec. Without Landlock (before
 * Linux 5.13, or where a container's filter refuses it) the child can write files as
 * its user's rights allow. Returns 0 or -errno.
 */
int confine_self(const struct confine_limits *limits);

#endif
