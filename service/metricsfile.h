/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metricsfile.h - a service's metrics in a file, for the text file collector of
 * node_exporter
 *
 * The file is replaced as a whole, and is removed when the service ends normally. If
 * the service was killed, the file stays, and its age shows this.
 */
#ifndef CPI_SERVICE_METRICSFILE_H
#define CPI_SERVICE_METRICSFILE_H

#include "base/buf.h"

struct metricsfile;

/*
 * Opens the directory of path, and follows no symlink. The caller still owns path. The
 * cause of a failure is logged. Returns 0 or -errno.
 */
int metricsfile_open(const char *path, struct metricsfile **out);

/*
 * Writes the file. Logs once that it cannot be written, and once when it can be written
 * again. Returns 0 or -errno.
 */
int metricsfile_write(struct metricsfile *m, const struct buf *text);

void metricsfile_close(struct metricsfile *m); /* removes the file; accepts NULL */

#endif
