/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timed_child_private.h - between timed_child.c, which asks, and timed_child_serve.c,
 * which answers
 *
 * Questions and answers are messages of a SOCK_SEQPACKET socket. A question is its head
 * and its bytes, with or without a descriptor. An answer begins with struct
 * timed_child_reply; what does not fit into that message follows in others.
 *
 * A message without a function is not answered. The worker keeps its descriptor, and
 * closes it when the next message has come.
 */
#ifndef CPI_DAEMON_TIMED_CHILD_PRIVATE_H
#define CPI_DAEMON_TIMED_CHILD_PRIVATE_H

#include "daemon/os/timed_child.h"

#define TIMED_CHILD_CHUNK 32768u /* bytes of a message */

struct timed_child_head {
	timed_child_fn fn; /* NULL: the descriptor is to be kept */
};

struct timed_child_reply {
	int32_t err;
	uint32_t size; /* of the answer */
	uint64_t cpu_ns;
};

/* What the server does with the previous worker. */
enum timed_child_before {
	TIMED_CHILD_KILL = 'k',
	TIMED_CHILD_LINGER =
		'l', /* it may go on, within TIMED_CHILD_LINGER_MS and _CPU_MS */
};

/*
 * The server, after the fork: takes over the process. It sends one byte when it has
 * given up its privileges, and ends if it cannot. Each message of the socket is an
 * enum timed_child_before as a byte, and has the end of another socket, on which a new
 * worker is to listen.
 */
_Noreturn void timed_child_serve(int socket);

#endif
