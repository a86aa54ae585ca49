/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracefile.h - reads pipeline traces from files, plain or compressed
 */
#ifndef CPI_TOOLS_TRACEFILE_H
#define CPI_TOOLS_TRACEFILE_H

#include "analysis/trace/trace.h"

/*
 * Feeds the file's cycles to t and, unless watch is NULL, its operations to watch.
 * Returns 0, -CPI_EFORMAT, -ENOTSUP (the file has no operations), or a read error.
 * Errors are logged.
 */
int trace_file_read(const char *path, struct tip *t, const struct trace_watch *watch);

#endif
