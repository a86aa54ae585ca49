/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroupname.h - what the path of a cgroup says: the container, the unit
 *
 * Pure functions of the path, by how container managers and systemd name their cgroups
 * today. A path that says nothing they know is in no container, and of no unit.
 */
#ifndef CPI_REPORT_CGROUPNAME_H
#define CPI_REPORT_CGROUPNAME_H

#include <stdbool.h>

#define CGROUPNAME_MAX 256 /* with the NUL; what is longer is cut */

struct cgroup_container {
	char id[CGROUPNAME_MAX]; /* 12 digits of a hexadecimal one, or a name */
	char runtime[32]; /* docker, podman, containerd, cri-o, lxc, nspawn, … */
	char pod[37];     /* Kubernetes' uid of the pod, or "" */
	const char *qos;  /* its guaranteed, burstable, besteffort; or NULL */
};

/* The innermost container of a path. Whether there is one; *out is zeroed otherwise. */
bool cgroupname_container(const char *path, struct cgroup_container *out);

/* A copy, which the caller frees, or NULL of NULL. 0 or -ENOMEM. */
int cgroupname_copy(const struct cgroup_container *from, struct cgroup_container **to);

/*
 * The innermost unit of systemd, unescaped: "ssh.service", "session-3.scope"; of a
 * user's manager "user@1000.service: emacs.service". Whether there is one.
 */
bool cgroupname_unit(const char *path, char out[CGROUPNAME_MAX]);

#endif
