/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpus.h - which CPUs are online
 */
#ifndef CPI_DAEMON_CPUS_H
#define CPI_DAEMON_CPUS_H

#include <stdbool.h>

#define CPUS_MAX    4096
#define CPUS_ONLINE "/sys/devices/system/cpu/online"

struct cpus {
	bool online[CPUS_MAX];
	int nr;      /* online ones */
	int highest; /* the highest number that is online */
};

/* Reads a list such as "0-3,8,10-11". 0 or -EINVAL; then *out is untouched. */
int cpus_parse(const char *list, struct cpus *out);

/* What sysfs says now. 0, -errno or -EINVAL. */
int cpus_online(struct cpus *out);

#endif
