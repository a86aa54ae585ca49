/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control.h - the daemon's end of the control socket (abi/control.h)
 *
 * I1  Nothing that a client sends or omits makes the daemon wait: a client has
 *     a second for its request, and its reply fits into the socket or is lost.
 * I2  At most 16 clients are served at a time; the others wait in the socket's
 *     backlog.
 * I3  Whoever may connect learns the status; only root and the daemon's own
 *     user change anything.
 */
#ifndef CPI_DAEMON_CONTROL_H
#define CPI_DAEMON_CONTROL_H

#include <stdbool.h>
#include <sys/types.h>

#include "daemon/session.h"

struct control;

/*
 * Listens on path, which only the daemon's user and group (mode 0660), or with
 * group -1 only its user (mode 0600), may open. Makes the last directory of
 * path if it is missing, and replaces a socket that nobody listens on. The
 * cause of a failure is logged. Returns 0, -EADDRINUSE when another process
 * listens there, or another -errno.
 */
int control_open(const char *path, gid_t group, struct control **out);

/* Readable when control_run() has something to do; owned by c. */
int control_fd(const struct control *c);

/*
 * Serves who is there, with s; *quit becomes true when someone asked for the
 * end. Returns the milliseconds after which it wants to run again, or -1.
 */
int control_run(struct control *c, struct session *s, bool *quit);

/* Drops the clients, removes the socket, frees c. Accepts NULL. */
void control_close(struct control *c);

#endif
