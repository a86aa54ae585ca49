/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control.h - the daemon's end of the control socket (abi/control.h)
 *
 * A thread of its own accepts, reads and replies; it never touches the session. What is
 * asked for is done by the main thread in control_run(), and the status is the text
 * that the main thread publishes there. So a status is answered even while the main
 * thread waits: after 300 ms by the last text, with lines in front that say
 * how old it is and what the main thread is doing.
 *
 * I1  Nothing that a client sends or omits makes either thread wait: a client has a
 *     second for its request, its reply fits into the socket or is lost, and
 *     descriptors that come along are never released by them (foreignfds.h).
 * I2  64 clients are served at a time. Of users other than root and the daemon's own,
 *     48 together and 16 each, and their requests cost what askers.h says at most;
 *     where a client finds no room, the one that has been silent for longest goes.
 * I3  Whoever may connect learns the status; only root and the daemon's own user
 *     change anything.
 */
#ifndef CPI_DAEMON_CONTROL_H
#define CPI_DAEMON_CONTROL_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "daemon/os/heartbeat.h"
#include "daemon/session/session.h"

struct control;

/*
 * Listens on path, which only the daemon's user and group (mode 0660), or with
 * group -1 only its user (mode 0600), may open, and starts the thread, which has no
 * privileges and takes no signals. Makes the last directory of path if it is missing,
 * and replaces a socket that nobody listens on. heartbeat stays the caller's, and may
 * be NULL. The cause of a failure is logged. Returns 0, -EADDRINUSE when another
 * process listens there, or another -errno.
 */
int control_open(const char *path, gid_t group, struct heartbeat *heartbeat,
		 struct control **out);

/* Readable when control_run() has something to do; owned by c. */
int control_fd(const struct control *c);

/*
 * Does with s what was asked for; *quit becomes true when someone asked for the end.
 */
void control_run(struct control *c, struct session *s, bool *quit);

/* Publishes the status, if the last one is a second old: due before what may wait. */
void control_publish(struct control *c, struct session *s);

/* The status has these lines at its end from now on; takes what text has. */
void control_describe(struct control *c, struct buf *text);

/* The session ends: from now on only the last status is answered. Accepts NULL. */
void control_end(struct control *c);

/* Replies to who waits, ends the thread, removes the socket, frees c. Accepts NULL. */
void control_close(struct control *c);

#endif
