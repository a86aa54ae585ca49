/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nodes.h - which CPUs share memory that is near to them
 */
#ifndef CPI_DAEMON_NODES_H
#define CPI_DAEMON_NODES_H

#include <stdint.h>

#include "daemon/os/cpus.h"

#define NODES_DIR "/sys/devices/system/node"
#define NODES_MAX 64

/*
 * NUMA nodes that have CPUs, in the kernel's order; at least one. Each CPU has a
 * node, and a number among that node's: 0, 1, and so on.
 */
struct nodes {
	int nr;
	int id[NODES_MAX]; /* the kernel's number; -1: wherever there is memory */
	int nr_cpus[NODES_MAX];
	struct {
		uint16_t node; /* an index of id[] */
		uint16_t slot; /* the number among the node's */
	} cpu[CPUS_MAX];
};

/*
 * Reads what sysfs says in dir of the CPUs below nr_cpus (at most CPUS_MAX), also of
 * those that are offline. Those that it says nothing of, and those of nodes beyond
 * NODES_MAX, are the first node's. Where there is nothing to read, the only node is
 * -1, and has all.
 */
void nodes_read(const char *dir, int nr_cpus, struct nodes *out);

#endif
