/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress.h - a line on stderr that shows the progress of slow work
 */
#ifndef CPI_BASE_PROGRESS_H
#define CPI_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
	const char *what; /* "reading profiles" */
	uint64_t start_ns, shown_ns;
	bool terminal;
};

struct progress progress_begin(const char *what);
void progress_update(struct progress *p, size_t done, size_t all);
void progress_end(struct progress *p); /* erases the line */

#endif
