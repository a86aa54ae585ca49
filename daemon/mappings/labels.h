/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * labels.h - the daemon's end of cpi-label(1) (abi/label.h)
 *
 * A process can only choose its own label and, by inheritance, that of its children. So
 * whatever it says about itself is believed.
 */
#ifndef CPI_DAEMON_LABELS_H
#define CPI_DAEMON_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/label.h"
#include "daemon/os/timed_child.h"
#include "daemon/procmap/procmap.h"

/* Parses the label in the name of a mapping. Returns whether there is one. */
bool labels_parse_mapping(const char *name, char label[CPI_LABEL_MAX + 1]);

/* Parses the label in an environment of size bytes, strings with a NUL after each. */
bool labels_parse_environment(const char *data, size_t size,
			      char label[CPI_LABEL_MAX + 1]);

/*
 * Reads the environments of living processes that have no label, and of processes that
 * entered the process map since since_ns, whose label may be of an earlier process with
 * the same id. A process may block such a read; the shares of timed_child_ask() bound
 * the time that this takes.
 */
void labels_scan(struct procmap *pm, struct timed_child *a, uint64_t since_ns);

#endif
