/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroupname.h - finds the container and the unit in the path of a cgroup
 *
 * The functions only read the path. They know how container managers and systemd name
 * their cgroups. A path that fits none of these patterns has no container and no unit.
 */
#ifndef CPI_REPORT_CGROUPNAME_H
#define CPI_REPORT_CGROUPNAME_H

#include <stdbool.h>

#define CGROUPNAME_MAX  256 /* with the NUL; a longer name is truncated */
#define CGROUPNAME_ID   65
#define CGROUPNAME_NAME 448

struct cgroup_container {
	char id[CGROUPNAME_MAX];      /* the first 12 hexadecimal digits, or a name */
	char whole_id[CGROUPNAME_ID]; /* all 64 digits, or "" if id is a name */
	char name[CGROUPNAME_NAME];   /* the runtime's: containername.h; else "" */
	char runtime[32]; /* docker, podman, containerd, cri-o, lxc, nspawn, … */
	char pod[37];     /* the uid of the Kubernetes pod, or "" */
	const char *qos;  /* the pod's: guaranteed, burstable, besteffort; or NULL */
};

/* Finds the innermost container of a path. Without one, returns false, zeroes *out. */
bool cgroupname_container(const char *path, struct cgroup_container *out);

/*
 * Sets *to to a copy of *from, or to NULL if from is NULL. The caller frees the
 * copy. Returns 0 or -ENOMEM.
 */
int cgroupname_copy(const struct cgroup_container *from, struct cgroup_container **to);

/*
 * Finds the innermost systemd unit, and unescapes its name: "ssh.service",
 * "session-3.scope". A unit of a user's manager is "user@1000.service: emacs.service".
 * Returns whether there is a unit.
 */
bool cgroupname_unit(const char *path, char out[CGROUPNAME_MAX]);

#endif
