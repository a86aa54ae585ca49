/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fdpass.h - messages with file descriptors between processes
 *
 * A message on a SOCK_SEQPACKET socket has some bytes and up to FDPASS_MAX
 * descriptors.
 */
#ifndef CPI_BASE_FDPASS_H
#define CPI_BASE_FDPASS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define FDPASS_MAX 4 /* descriptors of a message */

/* Sends bytes and nr descriptors, which stay the caller's. Never waits. 0 or -errno. */
int fdpass_send(int socket, const void *data, size_t size, const int *fd, int nr);

/*
 * Waits for a message of exactly size bytes, with nr descriptors or none. Returns the
 * number of descriptors, which the caller then owns; -EPROTO for any other message,
 * -EPIPE when the peer has closed the socket, or -errno.
 */
int fdpass_take(int socket, void *data, size_t size, int *fd, int nr);

/* As fdpass_send(), but waits until the socket has room. */
int fdpass_send_waiting(int socket, const void *data, size_t size, const int *fd,
			int nr);

/*
 * Takes a message of at most size bytes, with one descriptor or none; flags may be
 * MSG_DONTWAIT. Returns the number of bytes. *fd becomes the descriptor, which the
 * caller then owns, or -1; with fd = NULL none is taken. Returns -EPROTO for a message
 * with more bytes or descriptors, -EPIPE if the peer has closed the socket, or another
 * -errno.
 */
ssize_t fdpass_take_some(int socket, void *data, size_t size, int *fd, int flags);

/*
 * A descriptor can travel inside a socket. Then a process in between forwards it
 * without holding it, and never has to close it. fdpass_wrap() makes such a socket;
 * send the descriptor into *other_end. fdpass_unwrap() closes the socket and returns
 * the descriptor in it. Both return a descriptor or -errno.
 */
int fdpass_wrap(int *other_end);
int fdpass_unwrap(int socket);

/* Returns a copy of the descriptor in the socket, and leaves the socket as it is. */
int fdpass_peek(int socket);

/* Whether fd is a socket of fdpass_wrap(). */
bool fdpass_is_socket(int fd);

#endif
