/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * labels.h - the daemon's end of cpi-label(1) (abi/label.h)
 *
 * Whatever is believed is what a process says of itself. A process with another label
 * than its parent's is nobody else's business: it has the children that it has.
 */
#ifndef CPI_DAEMON_LABELS_H
#define CPI_DAEMON_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/label.h"
#include "daemon/os/timed_child.h"
#include "daemon/procmap/procmap.h"

/* The label that the name of a mapping says. Whether there is one. */
bool labels_parse_mapping(const char *name, char label[CPI_LABEL_MAX + 1]);

/* The label in size bytes of an environment, strings with a NUL behind each. */
bool labels_parse_environment(const char *data, size_t size,
			      char label[CPI_LABEL_MAX + 1]);

/*
 * Looks for labels in the environments of living processes that have none, and of those
 * that are new to the process map since since_ns, whose label may be another process's.
 * Where processes keep their environments from being read, timed_child_ask()'s shares
 * bound how long that takes.
 */
void labels_scan(struct procmap *pm, struct timed_child *a, uint64_t since_ns);

#endif
