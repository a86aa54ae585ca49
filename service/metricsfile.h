/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metricsfile.h - a service's metrics in a file, for the text file collector of
 * node_exporter
 *
 * The file is replaced as a whole, and goes when the service ends in good order. Its
 * age tells of one that did not.
 */
#ifndef CPI_SERVICE_METRICSFILE_H
#define CPI_SERVICE_METRICSFILE_H

#include "base/buf.h"

struct metricsfile;

/*
 * Opens the directory of path, which stays the caller's, through no symlink. The cause
 * of a failure is logged. Returns 0 or -errno.
 */
int metricsfile_open(const char *path, struct metricsfile **out);

/*
 * Writes the file; logs once that it cannot be written, and when it can again. 0 or
 * -errno.
 */
int metricsfile_write(struct metricsfile *m, const struct buf *text);

void metricsfile_close(struct metricsfile *m); /* removes the file; accepts NULL */

#endif
