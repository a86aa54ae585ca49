/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server.h - the request loop that all helpers of a collector share
 *
 * A collector starts its helpers before it gives up its own privileges. Requests arrive
 * on standard input, a SOCK_SEQPACKET socket. The server parses nothing: it takes
 * descriptors and forks workers, which take messages.
 */
#ifndef CPI_HELPERS_SERVER_H
#define CPI_HELPERS_SERVER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Call first: gives up privileges like sandbox_give_up(), for the user called name,
 * which is also the name of the program and its manual page. Returns 0, or an exit
 * status if a person started the program.
 */
int server_begin(int argc, char **argv, const char *name, bool keep_reading, int nice);

/*
 * Calls job with the nr descriptors of each request and closes them afterwards. Returns
 * when the collector is gone or sends another kind of message.
 */
void server_jobs(int nr, void (*job)(void *ctx, const int *fd), void *ctx);

/*
 * A worker's answer to a message. Returns 0 and the answer, which belongs to the worker
 * and is valid until the next call; its size is 0 if there is none. Returns -EPROTO for
 * an invalid message; then no more messages come.
 */
typedef int (*server_take_fn)(void *worker, const void *message, size_t size,
			      const void **answer, size_t *answer_size);

/*
 * For the worker: answers messages of at most size bytes on fd until its other end is
 * closed. message is the caller's buffer, and keeps its alignment. Returns an exit
 * status.
 */
int server_work(int fd, void *message, size_t size, server_take_fn take, void *worker);

#endif
