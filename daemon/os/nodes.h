/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nodes.h - which NUMA node each CPU belongs to
 */
#ifndef CPI_DAEMON_NODES_H
#define CPI_DAEMON_NODES_H

#include <stdint.h>

#include "daemon/os/cpus.h"

#define NODES_DIR "/sys/devices/system/node"
#define NODES_MAX 64

/*
 * NUMA nodes that have CPUs, in the kernel's order; at least one. Each CPU has a
 * node and an index within that node.
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
 * Reads from sysfs (dir) the nodes of the CPUs 0 to nr_cpus - 1 (at most
 * CPUS_MAX), including offline CPUs. CPUs without a node there, and CPUs of nodes
 * beyond NODES_MAX, are put into the first node. If sysfs shows no node, one node
 * with id -1 has all CPUs.
 */
void nodes_read(const char *dir, int nr_cpus, struct nodes *out);

#endif
