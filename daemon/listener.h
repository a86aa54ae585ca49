/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * listener.h - a listening unix socket in the file system
 */
#ifndef CPI_DAEMON_LISTENER_H
#define CPI_DAEMON_LISTENER_H

#include <sys/types.h>

struct listener;

/*
 * Listens on path with SOCK_SEQPACKET; as control_open() in control.h. The
 * cause of a failure is logged. Returns 0 or -errno.
 */
int listener_open(const char *path, gid_t group, struct listener **out);

int listener_fd(const struct listener *l);

/* Removes the socket, unless another one has taken its place. Accepts NULL. */
void listener_close(struct listener *l);

#endif
