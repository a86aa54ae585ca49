/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * passing.h - descriptors that go from one process to another
 *
 * Each message of a SOCK_SEQPACKET socket has some bytes, and may have descriptors.
 */
#ifndef CPI_BASE_PASSING_H
#define CPI_BASE_PASSING_H

#include <stdbool.h>
#include <stddef.h>

#define PASSING_MAX 4 /* descriptors of a message */

/* Sends bytes, and nr descriptors, which stay the caller's; never waits. 0 or -errno.
 */
int passing_send(int socket, const void *data, size_t size, const int *fd, int nr);

/*
 * Waits for a message of exactly size bytes, with nr descriptors or none. Returns how
 * many they are, the caller's from now on; -EPROTO for another message, -EPIPE at the
 * socket's end, or -errno.
 */
int passing_take(int socket, void *data, size_t size, int *fd, int nr);

/* Whether fd is such a socket. */
bool passing_is_socket(int fd);

#endif
