/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_child.h - cpi-unwind, as its parent sees it: messages go in, chains come out
 *
 * Nothing here waits: messages are queued until the worker takes them.
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
	int control; /* jobs go there */
	int epoll_fd;
	int fd[CPI_UNWIND_NR_FDS]; /* to the worker; -1: there is none */
	struct unwind_message *first, **last;
	size_t bytes; /* of messages that wait */
	bool waits;   /* for the worker to take some */
};

/* Starts the server, as helper_start(); c->epoll_fd is set. 0 or -errno. */
int unwind_child_start(struct unwind_child *c);

/* Ends worker and server; harmless where there are none. */
void unwind_child_stop(struct unwind_child *c);

/* Has the server start a worker, and end the one before. 0; -EPIPE: there is no server;
 * or -errno. */
int unwind_child_begin(struct unwind_child *c);

/* There is no worker from now on, and no message. */
void unwind_child_end(struct unwind_child *c);

/*
 * Room for a message of size bytes, to be filled before unwind_child_send(); NULL: no
 * memory. It comes behind those that wait.
 */
void *unwind_child_put(struct unwind_child *c, size_t size);

/* Sends what the worker takes. 0, or -errno: it is gone. */
int unwind_child_send(struct unwind_child *c);

/* The next chain, as it comes: its size; -EAGAIN: none yet; or -errno: it is gone. */
ssize_t unwind_child_take(struct unwind_child *c, void *data, size_t size);

/* The next image that is asked for. 0, -EAGAIN or -errno, as above. */
int unwind_child_asked(struct unwind_child *c, uint32_t *image);

/*
 * Answers that with a file, which stays the caller's, or -errno; wrapped: with a socket
 * that it is in. 0 or -errno.
 */
int unwind_child_answer(struct unwind_child *c, uint32_t image, int fd, bool wrapped);

#endif
