/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * foreignfds.h - descriptors that others attach to what they send
 *
 * Whoever sends to a unix socket may attach any descriptor. The receiver that has no
 * room for it releases it, and that can wait for as long as the sender chose: a TCP
 * socket with SO_LINGER and a peer that reads nothing, a file of a file system that
 * does not answer. So they are refused where the kernel can do that (SO_PASSRIGHTS,
 * Linux 6.16). Elsewhere each message is looked at before it is taken, and one with
 * descriptors is released by a timed child, as is a connection that is closed with
 * something unread.
 *
 * I1  Whoever calls these functions never releases a descriptor that came along, and
 *     waits for nothing.
 * I2  No more than FOREIGNFDS_MAX of these processes are there at a time.
 */
#ifndef CPI_DAEMON_FOREIGNFDS_H
#define CPI_DAEMON_FOREIGNFDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOREIGNFDS_MAX 8

/* Then a timed child ends, if anything can end it. */
#define FOREIGNFDS_PATIENCE_MS 200

/* Zeroed at first, but for what foreignfds_refuse() returned. */
struct foreignfds {
	bool refused; /* the kernel refuses them */
	struct {
		int fd; /* + 1; 0: none */
		uint64_t until_ns;
	} apart[FOREIGNFDS_MAX];
};

/*
 * Before anything can be sent to this socket; what it accepts is like it. Whether the
 * kernel can do that.
 */
bool foreignfds_refuse(int socket);

/*
 * Whether descriptors are attached to the first message. expected: bytes of control
 * data that messages have otherwise, as in msg_controllen.
 */
bool foreignfds_came(const struct foreignfds *f, int socket, size_t expected);

/*
 * Has that message taken by a timed child. Nothing may be received until
 * foreignfds_is_dropping() is false. 0, -EBUSY while there are too many, or -errno.
 */
int foreignfds_drop(struct foreignfds *f, int socket);
bool foreignfds_is_dropping(struct foreignfds *f);

/*
 * Closes the socket of a connection. On failure, which is as that of
 * foreignfds_drop(), it stays open, and nothing can be sent to it any more.
 */
int foreignfds_close(struct foreignfds *f, int socket);

#endif
