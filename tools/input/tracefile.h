/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracefile.h - pipeline traces in files, plain or packed
 */
#ifndef CPI_TOOLS_TRACEFILE_H
#define CPI_TOOLS_TRACEFILE_H

#include "analysis/trace/trace.h"

/*
 * Tells t of the file's cycles, and watch, unless it is NULL, of its operations. Errors
 * are logged: 0, -CPI_EFORMAT, -ENOTSUP (no operations in it), or what reading gives.
 */
int trace_file_read(const char *path, struct tip *t, const struct trace_watch *watch);

#endif
