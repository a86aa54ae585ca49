/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control.h - the daemon's end of the control socket (abi/control.h)
 *
 * A separate thread accepts clients, reads requests and sends replies; it never uses
 * the session. The main thread carries out requests, in control_run(), and publishes
 * the text of the status. So a status is answered even while the main thread is busy:
 * after 300 ms with the last text, preceded by lines that say how old it is and what
 * the main thread is doing.
 *
 * I1  No client can block either thread: a client has one second for its request; a
 *     reply that does not fit into the socket is lost; and the threads never close
 *     descriptors that a client has attached (foreignfds.h).
 * I2  At most 64 clients are served at a time: of users other than root and the
 *     daemon's own, at most 48, and 16 of each. askers.h limits the cost of their
 *     requests. If there is no room for a client, the one that has been silent for
 *     longest is closed.
 * I3  Every user who can connect may read the status; only root and the daemon's own
 *     user may change anything.
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
 * Listens on path. Only the daemon's user and group may open the socket (mode 0660),
 * with group -1 only its user (mode 0600). Starts the thread, which has no privileges
 * and receives no signals. Creates the last directory of path if it is missing, and
 * replaces a socket on which no process listens. The caller still owns heartbeat, which
 * may be NULL. The cause of a failure is logged. Returns 0, -EADDRINUSE if another
 * process listens there, or another -errno.
 */
int control_open(const char *path, gid_t group, struct heartbeat *heartbeat,
		 struct control **out);

/* Readable when control_run() has something to do; owned by c. */
int control_fd(const struct control *c);

/*
 * Carries out the requests. Sets *quit to true if a client asked the daemon to end.
 */
void control_run(struct control *c, struct session *s, bool *quit);

/*
 * Publishes the status if the last one is a second old, or ten seconds if none was
 * asked for in the last minute. Call it before a step that may take long.
 */
void control_publish(struct control *c, struct session *s);

/* Sets lines that every status has at its end; takes over the contents of text. */
void control_describe(struct control *c, struct buf *text);

/* The session ends: from now on only the last status is answered. Accepts NULL. */
void control_end(struct control *c);

/*
 * Replies to waiting clients, ends the thread, removes the socket, frees c. Accepts
 * NULL.
 */
void control_close(struct control *c);

#endif
