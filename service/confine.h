/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confine.h - what a process that reads what others wrote may still do
 *
 * It writes no file but those of SQLite, gains no privilege, cannot look into other
 * processes, and has bounded memory. It has no network and little time, unless they are
 * granted.
 */
#ifndef CPI_CONFINE_H
#define CPI_CONFINE_H

#include <stdbool.h>

#include <stdint.h>

#include "base/textlist.h"

struct confine_limits {
	bool with_parent;      /* ends when the process that started it ends */
	bool network;          /* may connect to servers */
	uint64_t memory_bytes; /* of addresses */
	unsigned int cpu_s;    /* 0: any */
	const char *folder[2]; /* to write to, as SQLite's temporary files; or NULL */
	/* Where SQLite has to make its -wal and -shm files first, it may write beside.
	 */
	const struct text_list *dbs; /* or NULL */
};

/*
 * For a child, before exec: the limits hold for what it executes as well. Kernels
 * without Landlock (before 5.13) allow files to be written as the user's rights have
 * it. 0 or -errno.
 */
int confine_self(const struct confine_limits *limits);

#endif
