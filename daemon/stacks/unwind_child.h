/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_child.h - the connection to cpi-unwind: sends messages, receives chains
 *
 * cpi-unwind is a server, which forks a worker. The worker unwinds; if it ends, the
 * server can fork another one. No function blocks: messages are queued until the
 * worker reads them.
 */
#ifndef CPI_DAEMON_UNWIND_CHILD_H
#define CPI_DAEMON_UNWIND_CHILD_H

#include <stdint.h>
#include <sys/types.h>

#include "abi/unwind.h"

#define UNWIND_CHILD_NAME "cpi-unwind"

struct unwind_message;

struct unwind_child {
	pid_t pid;   /* of the server; 0: none */
	int control; /* socket for jobs */
	int epoll_fd;
	int fd[CPI_UNWIND_NR_FDS]; /* sockets to the worker; -1: no worker */
	struct unwind_message *first, **last;
	size_t bytes; /* of queued messages */
	bool waits;   /* waits until the worker can take messages */
};

/*
 * Starts the server with helper_start(); c->epoll_fd must be set. Returns 0 or -errno.
 */
int unwind_child_start(struct unwind_child *c);

/* Ends worker and server, if there are any. */
void unwind_child_stop(struct unwind_child *c);

/*
 * Lets the server start a new worker and end the previous one. Returns 0; -EPIPE if
 * there is no server; or -errno.
 */
int unwind_child_begin(struct unwind_child *c);

/* Closes the connection to the worker, and drops all messages. */
void unwind_child_end(struct unwind_child *c);

/*
 * Appends a message of size bytes to the queue. The caller fills it in before
 * unwind_child_send(). NULL: out of memory.
 */
void *unwind_child_put(struct unwind_child *c, size_t size);

/*
 * Sends messages as far as the worker takes them. Returns 0, or -errno if the worker
 * has ended.
 */
int unwind_child_send(struct unwind_child *c);

/*
 * Receives the next chain. Returns its size; -EAGAIN if there is none yet; or -errno if
 * the worker has ended.
 */
ssize_t unwind_child_take(struct unwind_child *c, void *data, size_t size);

/* Receives the next request for an image. Returns 0, -EAGAIN or -errno, as above. */
int unwind_child_asked(struct unwind_child *c, uint32_t *image);

/*
 * Answers the request with a descriptor, which the caller still owns, or with -errno in
 * fd. wrapped: fd is a socket that contains the descriptor. Returns 0 or -errno.
 */
int unwind_child_answer(struct unwind_child *c, uint32_t image, int fd, bool wrapped);

#endif
