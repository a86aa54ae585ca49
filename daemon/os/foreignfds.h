/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * foreignfds.h - descriptors that others attach to what they send
 *
 * Whoever sends to a unix socket may attach any descriptor. If the receiver does
 * not take the descriptor, the kernel closes it in the receiver. That close can
 * block for as long as the sender wants: for example for a TCP socket with
 * SO_LINGER whose peer reads nothing, or for a file on a file system that does
 * not answer. So they are refused where the kernel can do that (SO_PASSRIGHTS,
 * Linux 6.16). On older kernels each message is inspected with MSG_PEEK first. A
 * message with descriptors is received by a short-lived child process (not
 * timed_child.h), and so is the rest of a connection that is closed with unread
 * messages.
 *
 * I1  The calling process never does the last close of an attached descriptor, and
 *     never blocks on one.
 * I2  At most FOREIGNFDS_MAX of these child processes exist at a time.
 */
#ifndef CPI_DAEMON_FOREIGNFDS_H
#define CPI_DAEMON_FOREIGNFDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOREIGNFDS_MAX 8

/* After this time a child is killed, if it can be killed. */
#define FOREIGNFDS_PATIENCE_MS 200

/* Zero it first, and set refused to the result of foreignfds_refuse(). */
struct foreignfds {
	bool refused; /* the kernel refuses them */
	struct {
		int fd; /* + 1; 0: none */
		uint64_t until_ns;
	} apart[FOREIGNFDS_MAX];
};

/*
 * Makes the kernel refuse descriptors that are sent to this socket and to
 * connections that it accepts. Call it before anyone can send. Returns whether
 * the kernel can do that.
 */
bool foreignfds_refuse(int socket);

/*
 * Whether descriptors are attached to the first message. expected: the size of
 * the control data (msg_controllen) of a message without descriptors.
 */
bool foreignfds_came(const struct foreignfds *f, int socket, size_t expected);

/*
 * Lets a child process receive that message. Nothing may be received until
 * foreignfds_is_dropping() is false. 0, -EBUSY while there are too many, or
 * -errno.
 */
int foreignfds_drop(struct foreignfds *f, int socket);
bool foreignfds_is_dropping(struct foreignfds *f);

/*
 * Closes the socket of a connection. On failure returns the same errors as
 * foreignfds_drop(); then the socket stays open, but peers can no longer send to
 * it.
 */
int foreignfds_close(struct foreignfds *f, int socket);

#endif
