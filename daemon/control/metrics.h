/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics.h - the status in a file, for the text file collector of node_exporter
 *
 * The file is replaced as a whole, four times a minute, and goes when cpid ends in
 * good order. Its age tells of one that did not.
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
 * Writes the file; logs once that it cannot be written, and when it can again. 0 or
 * -errno.
 */
int metrics_write(struct metrics *m, struct session *s);

/* Writes it if it is time to. In how many milliseconds it wants to run again. */
int metrics_run(struct metrics *m, struct session *s);

void metrics_close(struct metrics *m); /* removes the file; accepts NULL */

#endif
