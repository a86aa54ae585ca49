/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * listener.h - a unix socket in the file system that others talk to
 */
#ifndef CPI_DAEMON_LISTENER_H
#define CPI_DAEMON_LISTENER_H

#include <stdbool.h>
#include <sys/types.h>

struct listener;

/*
 * Listens on path with SOCK_SEQPACKET. Permissions are those that control_open()
 * (control.h) documents. The cause of a failure is logged. Returns 0 or -errno.
 */
int listener_open(const char *path, gid_t group, struct listener **out);

/* The same with SOCK_DGRAM, which everybody may write to. */
int listener_open_datagrams(const char *path, struct listener **out);

int listener_fd(const struct listener *l);

/* Whether the kernel refuses descriptors that are sent to it (foreignfds.h). */
bool listener_refuses_fds(const struct listener *l);

/* Removes the socket, unless another one has taken its place. Accepts NULL. */
void listener_close(struct listener *l);

#endif
