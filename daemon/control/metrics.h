/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics.h - writes the status to a file for the text file collector of node_exporter
 *
 * The file is replaced as a whole, four times a minute. cpid removes it when it ends
 * normally. If cpid was killed, the file stays, and its age shows this.
 */
#ifndef CPI_DAEMON_METRICS_H
#define CPI_DAEMON_METRICS_H

#include "daemon/session/session.h"

struct metrics;

/*
 * Opens the directory of path, through no symlink. The cause of a failure is
 * logged. Returns 0 or -errno.
 */
int metrics_open(const char *path, struct metrics **out);

/*
 * Writes the file. Logs once that it cannot be written, and once when it can be written
 * again. Returns 0 or -errno.
 */
int metrics_write(struct metrics *m, struct session *s);

/*
 * Writes the file if it is time. Returns after how many milliseconds to call it again.
 */
int metrics_run(struct metrics *m, struct session *s);

void metrics_close(struct metrics *m); /* removes the file; accepts NULL */

#endif
