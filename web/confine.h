/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confine.h - what a process that makes a report may still do: read
 *
 * The report reads a database, images and debug files, which others wrote. So its
 * process writes no file but those of SQLite, has no network, gains no privilege,
 * cannot look into other processes, and has little time and memory.
 */
#ifndef CPI_WEB_CONFINE_H
#define CPI_WEB_CONFINE_H

#include <stdint.h>

#include "base/textlist.h"

struct confine_limits {
	uint64_t memory_bytes; /* of addresses */
	unsigned int cpu_s;
	const char *folder; /* for SQLite's temporary files, to write to; or NULL */
	/* Where SQLite has to make its -wal and -shm files first, it may write beside.
	 */
	const struct text_list *dbs;
};

/*
 * For a child, before exec: the limits hold for what it executes as well. Kernels
 * without Landlock (before 5.13) allow files to be written as the user's rights have
 * it. 0 or -errno.
 */
int confine_self(const struct confine_limits *limits);

#endif
